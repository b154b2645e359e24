"""The rules that a correct output obeys, by subject. Each is checked per cluster, where the cluster is."""
