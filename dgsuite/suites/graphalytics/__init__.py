"""LDBC Graphalytics: its files, algorithms, rules of comparison and metrics (specification 1.0)."""
