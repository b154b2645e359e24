"""The mailbox of a site: takes what its clusters send in a phase, and unpacks what arrives.

All clusters of a phase send messages of one type. What stays at the site is handed over by reference;
every other site gets at most one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError
from dgsuite.core.engine.broadcast_store import Window
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.messages import held, places
from dgsuite.core.engine.network import Faults
from dgsuite.core.engine.pairs import Widths
from dgsuite.core.engine.program import Fault, Step, Tally
from dgsuite.core.engine.unicasts import Unicasts
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.halo import Halo, make_halo

Cut = tuple[int, bytes]
"""Which site it is, and the bounds of all sites."""


class Halos:
    """The halos of the last cut into sites. Runs on several threads of a worker may share them.

    Each is made once: that with slots for the nodes that are read, and that with slots for all nodes.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._cut: Cut | None = None
        self._made: dict[bool, Halo] = {}

    @classmethod
    def of(cls, clusters: Sequence[Cluster]) -> Halos:
        """Those of a site, which its first cluster keeps."""
        halos: Halos = clusters[0].cache.setdefault("halos", cls())
        return halos

    def there(self, bounds: NDArray, me: int) -> dict[bool, Halo]:
        """The halos of a cut that are made already, by whether they have slots for all nodes."""
        with self._lock:
            return dict(self._made) if self._cut == (me, bounds.tobytes()) else {}

    def get(self, clusters: Sequence[Cluster], bounds: NDArray, me: int, every: bool) -> Halo:
        """The halo of a cut, perhaps with slots for all nodes; that of another cut is forgotten."""
        cut = me, bounds.tobytes()
        with self._lock:
            if self._cut != cut:
                self._cut, self._made = cut, {}
            if every not in self._made:
                found = self._made.get(False)  # it may be the same as that for all nodes
                if found is None or found.slots < clusters[0].n or not found.sends_all:
                    self._made.clear()  # two would take twice the memory
                    found = make_halo(clusters, bounds, me, every)
                self._made[every] = found
            return self._made[every]


class Mailbox:
    """The mailbox of a site.

    Parameters
    ----------
    kernel, clusters, bounds, me, fault
        Those of the site.
    check
        Whether to check what takes as long as the work itself.
    congest
        If edges are counted by the bits that they carry: how many times ceil(log2 n) bits at most.
    faults
        What happens to nodes and messages, on a network with faults.

    Attributes
    ----------
    dtypes
        Dtype of each message field, vectors included.
    starts
        Row at which each cluster's nodes begin.
    recorder
        Called with what each phase sends, if set.
    kept
        What stays at the site (see `MessageType.part`), but for broadcasts.
    stored
        Bytes of the phase's broadcasts that this site has stored for others to read.
    stores
        What is broadcast along edges, and against them (True), once there was any.
    arriving
        That of the phase, if there is any.
    window
        Where broadcasts are stored; None before there are any, unless sites share memory.
    limits
        By message field, its least and greatest value, if they are checked; None for all of its dtype.
    model
        What phases may send, which a check refuses otherwise.
    disturbed
        The faults at this site, if there are any.
    """

    def __init__(
        self,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        fault: Fault,
        check: bool = False,
        congest: float | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.check = check
        self.kernel = kernel
        self.clusters = clusters
        self.bounds = bounds
        self.me = me
        self.fault = fault
        self.starts = [0, *np.cumsum([c.size for c in clusters]).tolist()]
        self.unicasts = Unicasts(clusters[0].partition, bounds, me, kernel.sorts)
        self.dtypes = kernel.dtypes(clusters[0].n)
        self.widths = None if congest is None else Widths(kernel, clusters[0].n, congest)
        looks = check or congest is not None
        # with faults, what honest nodes send may follow from what liars told them
        self.limits = kernel.limits(clusters[0].n) if looks and faults is None else {}
        self.model = kernel.obeys
        if faults is not None:  # nodes may then be at several phases at once
            self.model = kernel.obeys._replace(messages=None)
        self.disturbed = None if faults is None else faults.at_site(kernel, clusters, fault)
        self.recorder: Callable[[Step, Any], None] | None = None
        self.phase = ""
        self.kept: Any = None
        self.stored = 0
        self.stores: dict[bool, Broadcasts] = {}
        self.arriving: Broadcasts | None = None
        self.window: Window | None = None
        self._halos = Halos.of(clusters)
        self._owners: dict[tuple[int, bool], NDArray[np.int32]] = {}
        self._every: dict[int, NDArray[np.int64]] = {}

    @property
    def has_halo(self) -> bool:
        """Whether a halo is there already."""
        return bool(self._halos.there(self.bounds, self.me))

    @property
    def slots(self) -> int:
        """Slots of the halo that is there, or else of that for nodes that are read."""
        all_nodes = True in self._halos.there(self.bounds, self.me)
        return self.clusters[0].n if all_nodes else self._halo(False).slots

    def _halo(self, every: bool) -> Halo:
        """A halo of the site, perhaps with slots for all nodes."""
        return self._halos.get(self.clusters, self.bounds, self.me, every)

    @cached_property
    def halo(self) -> Halo:
        """The site's halo."""
        return self._halo(self.window is not None)

    def share(self, memory: NDArray[np.uint8]) -> None:
        """Store broadcasts in memory that all sites share: `Window.size` bytes; before anything is sent."""
        halo = self._halo(True)
        offsets = self.clusters[0].partition.offsets[self.bounds]
        assert halo.slots == offsets[-1]
        assert not self.stores
        self.window = Window(self.dtypes, offsets.tolist(), self.me, memory)

    def along(self, backwards: bool = False) -> Broadcasts:
        """What is broadcast in a direction; an undirected graph has but one."""
        backwards = backwards and self.clusters[0].directed
        if backwards not in self.stores:
            halo = self.halo.turned if backwards else self.halo
            if self.window is None:
                self.window = Window(self.dtypes, [0, halo.slots])
            self.stores[backwards] = Broadcasts(halo, self.window, backwards)
        return self.stores[backwards]

    def arrive(self, backwards: bool) -> Broadcasts:
        """Where broadcasts are stored that arrive from elsewhere."""
        broadcasts = self.along(backwards)
        if self.arriving is None:
            self.arriving = broadcasts
            broadcasts.begin()
        elif self.arriving is not broadcasts:
            raise RunError(
                f"kernel {self.kernel.name!r}, phase {self.phase!r}: clusters broadcast forwards "
                f"and backwards; a phase does one"
            )
        return broadcasts

    def columns(
        self, step: Step, k: int, fields: Mapping[str, Any], length: int, senders: Any = ()
    ) -> dict[str, NDArray]:
        """Message fields as arrays of the declared dtypes. Senders are local indices, None for all nodes."""
        columns: dict[str, NDArray] = {}
        for name, value in fields.items():
            if name not in self.dtypes:
                raise self.fault(step, k, f"sends {name!r}, which is not among the kernel's fields")
            base, width = self.dtypes[name].base, self.dtypes[name].shape
            try:
                column = held(np.asarray(value), base)
            except InputError as error:
                raise self.fault(step, k, f"sends {name!r}: {error}") from None
            columns[name] = column if column.ndim else np.full((length, *width), column)
            if columns[name].shape != (length, *width):
                raise self.fault(step, k, f"sends {column.shape} {name!r} for {length} messages")
            if self.limits.get(name) and base.kind in "iu":
                self._see_limits(step, k, name, columns[name], senders)
        return columns

    def _see_limits(self, step: Step, k: int, name: str, values: NDArray, senders: Any) -> None:
        """See that the values of a field are those that the kernel declares."""
        least, most = self.limits[name] or (0, 0)
        wrong = np.argwhere((values < least) | (values > most))
        if len(wrong):
            at = tuple(wrong[0])
            ids = self.clusters[k].ids
            from_ = ids if senders is None else ids[np.asarray(senders, np.int64)]
            node = f" of node {from_[at[0]]}" if len(from_) == len(values) else ""
            raise self.fault(
                step, k, f"sends {name!r} = {values[at]}{node}; declared are {least} to {most}"
            )

    def payload(self, names: Iterable[str]) -> int:
        """Bytes of a message of some fields."""
        return sum([self.dtypes[name].itemsize for name in names])

    def carry(
        self,
        step: Step,
        k: int,
        fields: Mapping[str, Any],
        items: NDArray,
        edges: NDArray,
        edge: Callable[[int], tuple[int, int]],
        counts: Tally,
    ) -> None:
        """Count the bits that edges carry, and see that they are not too many.

        Parameters
        ----------
        fields
            Of a message.
        items
            How many messages an edge carries in a direction, or items of a list.
        edges
            How many edges carry so many; same length.
        edge
            Called with an index of `items` for one of its edges: node ids of sender and receiver.

        Raises
        ------
        RunError
            They are too many.
        """
        if self.widths is None or counts.bits is None:
            return
        bits = self.widths.of(fields) * np.maximum(items, 1)
        counts.bits.add(bits, edges)
        over = np.flatnonzero((bits > self.widths.most) & (edges > 0))
        if len(over):
            u, v = edge(int(over[0]))
            raise self.fault(
                step,
                k,
                f"sends {bits[over[0]]} bits along the edge from node {u} to node {v}, "
                f"{self.widths.widest(fields)}; congest={self.widths.congest:g} allows "
                f"{self.widths.most:g} in a phase",
            )

    def record(self, step: Step, sent: Any) -> None:
        """Pass on what a phase sends to the recorder, if there is one."""
        if self.recorder is not None:
            self.recorder(step, sent)

    def indices(
        self, step: Step, k: int, values: Any, size: int, does: str, kind: str = "node"
    ) -> NDArray:
        """Indices that a phase names, as an array."""
        try:
            return places(values, size, kind)
        except InputError as error:
            raise self.fault(step, k, f"{does} {error}") from None

    def checked(self, step: Step, k: int, look: Callable[..., None], *what: Any) -> None:
        """Look at what a phase sends."""
        try:
            look(*what)
        except InputError as error:
            raise self.fault(step, k, str(error)) from None

    def senders(self, step: Step, k: int, nodes: Any) -> NDArray[np.int64]:
        """Local indices that a broadcast names, of None all; `Broadcasts.put` checks range and order."""
        if nodes is None:
            if k not in self._every:
                self._every[k] = np.arange(self.clusters[k].size)
            return self._every[k]
        found = np.asarray(nodes)
        if found.dtype.kind in "iu" and found.ndim == 1:
            return found.astype(np.int64, copy=False)
        return self.indices(step, k, found, self.clusters[k].size, "broadcasts from").astype(
            np.int64
        )

    def owner(self, k: int, backwards: bool = False) -> NDArray[np.int32]:
        """Cluster of each neighbour of a cluster's nodes, by entry of the adjacency, or of `senders`."""
        if (k, backwards) not in self._owners:
            cluster = self.clusters[k]
            nodes = np.asarray(cluster.senders[1] if backwards else cluster.indices)
            self._owners[k, backwards] = cluster.partition.owner(nodes).astype(np.int32)
        return self._owners[k, backwards]
