"""Labels of nodes, in this process or on the workers."""
