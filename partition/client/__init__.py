"""Requests of a client to its Dask cluster, and waiting for the answers."""
