"""Three colours for a tree, after Cole and Vishkin."""
