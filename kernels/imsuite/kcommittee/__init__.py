"""Committees of at most k members."""
