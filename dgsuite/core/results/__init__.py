"""Results: the dataset of a run, its outputs, its file, what it can do, and its pictures."""
