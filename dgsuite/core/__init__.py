"""What runs a kernel on a graph: the engine, the exchange, workers, styles, and the results."""
