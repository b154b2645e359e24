"""What the benchmark suites share: options, clusters to run on, trials, and their statistics."""
