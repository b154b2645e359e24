"""What a client asks of its Dask cluster, and how it waits."""
