"""Counts in the text of kernels."""
