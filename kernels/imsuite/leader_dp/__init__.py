"""Leader election in any graph, after Peleg."""
