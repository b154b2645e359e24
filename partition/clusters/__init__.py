"""Clusters: which owns which node, and what each reads of others."""
