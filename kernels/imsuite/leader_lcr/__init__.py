"""Leader election in a ring, after LeLann, Chang and Roberts."""
