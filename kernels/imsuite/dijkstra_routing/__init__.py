"""Routing tables, after Dijkstra."""
