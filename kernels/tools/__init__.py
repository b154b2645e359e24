"""Helpers of several kernels: random numbers, exact sums, bitmaps, heaps, trees."""
