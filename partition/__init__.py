"""Graphs in clusters: how they are cut, built and checked."""

from partition.quality import describe

__all__ = ["describe"]
