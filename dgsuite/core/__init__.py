"""The engine that runs kernels on graphs: styles, workers, exchanges between them, and results."""
