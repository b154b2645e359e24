"""How the tasks of a run reach each other: by comms, memory of one host or MPI, and one after the other."""
