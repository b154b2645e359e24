"""Exchanges between the tasks of a run: over comms, and in memory of one host."""
