"""The graph: its constructors, views, checks and conversions."""
