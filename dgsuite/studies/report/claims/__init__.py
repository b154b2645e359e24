"""What three papers say, as data (`paper/claims`), each beside ours with a verdict."""
