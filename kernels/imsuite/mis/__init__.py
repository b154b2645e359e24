"""A maximal independent set, after Luby."""
