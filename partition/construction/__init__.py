"""Clusters made from edges, in this process or on workers."""
