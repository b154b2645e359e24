"""Input generators and output validators; no Dask needed."""
