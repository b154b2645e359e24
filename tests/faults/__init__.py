"""Trials of faults on real processes: a worker, a link or the scheduler is struck amid a run.

`inject` strikes at a phase of a run, `cluster` has the processes, `remnants` looks at what a run has left,
and `trials` draws, makes and judges. ``python -m tests.faults --trials 300`` makes any number.
"""
