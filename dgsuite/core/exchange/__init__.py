"""Exchanges between the tasks of a run: over comms, in memory of one host, over MPI, or one by one."""
