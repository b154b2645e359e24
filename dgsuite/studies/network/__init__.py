"""Networks that lose messages, and nodes that crash or lie: what a run takes as ``network=``."""
