"""Arrays in rows and tiles, and the loops over them."""
