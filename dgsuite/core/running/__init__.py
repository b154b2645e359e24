"""A call of `dgsuite.run`: its tries, and the checkpoints between them."""
