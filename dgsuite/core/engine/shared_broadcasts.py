"""Broadcasts of a site that are stored where the other sites of its host read them: none is sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.broadcasts import BroadcastBatch, Broadcasts
from dgsuite.core.engine.window import Head, Window
from dgsuite.partition.clusters.halo import Halo
from dgsuite.partition.clusters.subset import Subset, encoded_size


class SharedBroadcasts(Broadcasts):
    """`Broadcasts` whose slots are those of a window.

    Parameters
    ----------
    halo
        Of the site; it has slots for all nodes.
    dtypes, backwards
        As of `Broadcasts`.
    window
        What the sites share.

    Attributes
    ----------
    wire
        Bytes of the last phase's broadcasts, for each site that reads them.
    """

    def __init__(
        self,
        halo: Halo,
        dtypes: Mapping[str, DTypeLike],
        window: Window,
        backwards: bool = False,
    ) -> None:
        self.window = window
        super().__init__(halo, dtypes, backwards)
        self._coming = halo.turned.leaving
        self.slots.update(window.halves[0].slots)

    def _mask(self) -> NDArray[np.bool_]:
        return self.window.half.sent

    def _begin(self) -> None:
        super()._begin()
        self.wire = 0
        self._heads: Mapping[int, Head] = {}

    def clear(self) -> None:
        self._begin()

    def prepare(self, names: Sequence[str]) -> None:
        """Nothing: the memory is there."""

    def _look(self) -> None:
        """Store and read where the window stands in this phase."""
        self.sent = self.window.half.sent
        self.slots.update(self.window.half.slots)

    def expect(self, names: Collection[str], count: int) -> None:
        self._look()
        self.window.write(names, count == self.halo.own)
        super().expect(names, count)

    def put(self, *what: Any, **how: Any) -> tuple[int, int]:
        found = super().put(*what, **how)
        self.window.half.marks = self._own
        return found

    def add_ghost(self, slot: int) -> None:
        self._look()
        super().add_ghost(slot)
        self.window.half.marks = [part.members for part in self._heard]

    def pack(self, names: Sequence[str]) -> dict[int, BroadcastBatch]:
        """No batch: publishes what is stored."""
        own = self._own_senders().restrict(self._span)
        leaving = self._leaving, self._all_leaving
        self.window.publish(own, leaving, self.backwards, names)
        head = int(encoded_size(own.size, own.count))
        each = sum([self.slots[name][:1].nbytes for name in names])
        self.wire = len(self.halo.send) * (head + own.count * each)
        return {}

    def hear(self, heads: Mapping[int, Head]) -> bool:
        """Take in what other sites have published; returns whether this site has sent or reads any of it."""
        self._look()
        for peer, head in heads.items():
            if edges := self._coming.get(peer, 0):
                # a message goes along every edge that leaves; nodes without such edges need not have sent
                everyone = head.leaving == head.all_leaving
                share = head.leaving * edges // head.all_leaving
                self.reach += edges if everyone else min(share, edges - 1)
                self.count += head.sent
            for bit, name in enumerate(self.window.fields):
                if head.fields >> bit & 1:
                    self._store(name)
        self._heads = heads
        found = bool(self._own_count or self.senders)
        if not found:
            self._begin()
        return found

    def _find_senders(self) -> list[Subset]:
        if self._heads:
            self._heard = self.window.senders(self._heads, self.halo.is_read)
        return super()._find_senders()
