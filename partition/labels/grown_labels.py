"""Labels of a graph that has grown: those that it had, and after them those of its new nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown
from dgsuite.partition.labels.labels import Labels


class GrownLabels(Labels):
    """Labels in two parts, each of which is searched by itself: what is new is small.

    Parameters
    ----------
    first
        Labels of the first nodes.
    more
        Labels of the others, none of which is among the first.
    """

    def __init__(self, first: Labels, more: Labels) -> None:
        self.first, self.more = first, more
        self._array = np.concatenate([first.array, more.array])
        self.ascending = False
        self.none = self._none()

    def __reduce__(self) -> tuple[Any, ...]:
        return GrownLabels, (self.first, self.more)

    def extended(self, more: NDArray) -> Labels:
        """See `Labels.extended`."""
        new = np.concatenate([self.more.array, more])
        return GrownLabels(self.first, Labels(new, len(new)))

    def _search(self, labels: NDArray) -> NDArray[np.int64]:
        found = self.first.nodes(labels, missing=True)
        missing = found < 0
        new = self.more.nodes(labels[missing], missing=True)
        found[missing] = np.where(new < 0, -1, new + len(self.first))
        return found


def alike(labels: Labels, more: NDArray) -> NDArray:
    """New labels as an array of the kind that a graph's labels have.

    Raises
    ------
    InputError
        They are of another kind.
    """
    kind = labels[:1].dtype.kind
    if kind == more.dtype.kind:
        return more
    if kind == "U" and more.dtype == object and set(map(type, more.tolist())) == {str}:
        return more  # text that NumPy does not hold as it is
    if {kind, more.dtype.kind} == {"i", "u"}:
        dtype = np.int64 if kind == "i" else np.uint64
        if (more.astype(dtype) == more).all() and not (more < 0).any():
            return more.astype(dtype)
    if kind == "O":
        return more.astype(object)
    names = {"i": "integers", "u": "integers from 0 to 2^64 - 1", "U": "text", "O": "objects"}
    raise InputError(
        f"the graph's labels are {names[kind]}, such as {labels[0]!r}, so {shown(more[0])} cannot be one"
    )
