"""The graph and how it is cut: clusters, partitioners, halo."""
