"""What is sent to clusters, not to nodes: boards for all of them, crates for some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partition.segments import group


class Board(NamedTuple):
    """Announcements: columns that every site gets."""

    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return sum(v.nbytes for v in self.fields.values())


class Crates(NamedTuple):
    """Items on their way to clusters: by item, the cluster it goes to and the one it comes from."""

    to: NDArray
    origin: NDArray
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.to.nbytes + self.origin.nbytes + sum(v.nbytes for v in self.fields.values())

    def take(self, which: Any) -> Crates:
        """Some of them."""
        fields = {name: values[which] for name, values in self.fields.items()}
        return Crates(self.to[which], self.origin[which], fields)

    def seal(self) -> Sealed:
        """As it travels: who gets and who sent them in runs, where that is shorter."""
        return Sealed(_runs(self.to), _runs(self.origin), self.fields)


class Sealed(NamedTuple):
    """Crates between sites: `to` and `origin` as values and how often each repeats, or item by item."""

    to: tuple[NDArray, NDArray | None]
    origin: tuple[NDArray, NDArray | None]
    fields: dict[str, NDArray]

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        heads = sum(a.nbytes for runs in (self.to, self.origin) for a in runs if a is not None)
        return heads + sum(v.nbytes for v in self.fields.values())

    def open(self) -> Crates:
        """The crates."""
        return Crates(_unrolled(*self.to), _unrolled(*self.origin), self.fields)


def _runs(values: NDArray) -> tuple[NDArray, NDArray | None]:
    heads = np.flatnonzero(np.diff(values, prepend=-1))
    if 2 * len(heads) >= len(values):
        return values, None
    return values[heads], np.diff(heads, append=len(values)).astype(np.int32)


def _unrolled(values: NDArray, lengths: NDArray | None) -> NDArray:
    return values if lengths is None else np.repeat(values, lengths)


def dealt(crates: Crates, bounds: NDArray, me: int) -> tuple[Crates | None, dict[int, Sealed]]:
    """What of a site's crates stays there, and what each other site gets; site s holds clusters
    ``bounds[s]`` to ``bounds[s + 1]``.
    """
    if len(bounds) == 2:
        return crates, {}
    kept: Crates | None = None
    sealed: dict[int, Sealed] = {}
    site = np.searchsorted(bounds, crates.to, side="right") - 1
    for peer in np.unique(site).tolist():
        part = crates.take(site == peer)
        if peer == me:
            kept = part
        else:
            sealed[peer] = part.seal()
    return kept, sealed


def arranged(crates: Crates, first: int, count: int) -> Crates:
    """Crates that stand by sender, for `count` clusters from the first on: by receiver, then sender."""
    return crates if count == 1 else crates.take(group(crates.to - first, count)[2])


def joined(boards: Sequence[Board]) -> Board:
    """Several announcements as one."""
    names = boards[0].fields
    return Board({name: np.concatenate([b.fields[name] for b in boards]) for name in names})


def piled(crates: Sequence[Crates]) -> Crates:
    """Items of several senders as one."""
    return Crates(
        np.concatenate([c.to for c in crates]),
        np.concatenate([c.origin for c in crates]),
        {name: np.concatenate([c.fields[name] for c in crates]) for name in crates[0].fields},
    )
