"""Leader election in a ring, after Hirschberg and Sinclair."""
