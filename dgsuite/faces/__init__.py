"""Ways in: the command, and networkx's backend."""
