"""A breadth-first tree, after Bellman and Ford."""
