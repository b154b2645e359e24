"""All that touches Dask's workers: the plugin, the mesh, the placement of clusters."""
