"""What makes an output right, by subject. Each rule is checked cluster by cluster, where they are."""
