"""A breadth-first tree, after Dijkstra."""
