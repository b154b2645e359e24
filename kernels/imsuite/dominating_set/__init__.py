"""A small dominating set."""
