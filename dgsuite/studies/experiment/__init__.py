"""Experiment files and their sweeps."""
