"""Comm backends for Dask, found by entry point: any Dask program can use them by their scheme."""
