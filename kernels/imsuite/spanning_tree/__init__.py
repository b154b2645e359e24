"""A minimum spanning tree, by fragments that grow."""
