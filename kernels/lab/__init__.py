"""Kernels to study under faults: textbook algorithms of the laboratory."""
