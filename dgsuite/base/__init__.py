"""The lowest layer: errors, files, compiled loops, and values that threads share. It has no graphs."""
