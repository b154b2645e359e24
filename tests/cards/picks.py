"""Parameters that several cards pick for a network."""

from collections.abc import Callable
from typing import Any

BOTH = (False, True)

Pick = Callable[[Any], Any]
"""Takes one of some values: by chance for Hypothesis, by a number on all small graphs."""


def weighing(net):
    """Whether edges have weights."""
    return any("weight" in more for *_, more in net.edges(data=True))


def root(net, pick):
    """Any node as the root."""
    return {"root": pick(sorted(net))}


def weighted(net, pick):
    """With weights or without."""
    return {"weighted": pick(BOTH)}


def some(net, pick):
    """Some nodes, at least one."""
    return [v for v in net if pick(BOTH)] or [pick(sorted(net))]


def several(net, pick):
    """Sources: as many as by default, a number of them, or some."""
    return {"sources": pick([None, pick(range(1, len(net) + 1)), some(net, pick)])}
