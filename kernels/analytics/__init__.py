"""Searches, shortest paths, betweenness."""
