"""Digests of the outputs and counts of runs: a change of the engine changes none of them.

``python -m tests.goldens`` writes them anew, after a change that is meant.
"""
