"""Trials of faults on real processes: a worker, a link or the scheduler is struck amid a run.

`simulation` draws trials from seeds and makes them: `hooks` are passed in every process of `processes`, and
`board` counts them and strikes. ``python -m tests.faults --seed 35`` replays one.

`commands` and `trials` strike at phases of runs of all kernels on Dask's commands (`cluster`), on hosts of a
network where there may be some, so that links are cut, and workers and schedulers come back at their
addresses. `inject` is what they, and tests of single faults, arm a worker with.

`remnants` looks at what a run has left.
"""
