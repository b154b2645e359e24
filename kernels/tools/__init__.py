"""What several kernels use: random numbers, exact sums, bitmaps, heaps, trees."""
