"""Byzantine agreement."""
