"""A site on a network with faults: which of its nodes have crashed, and what becomes of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import Unfit
from dgsuite.base.mixing import Domain
from dgsuite.base.once import Lock
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.program import Fault, Step
from dgsuite.kernels.bsp import (
    ANNOUNCES,
    SHARES_LISTS,
    Announcement,
    Broadcast,
    Kernel,
    Known,
    Share,
    Shipment,
    Unicast,
    Vote,
)
from dgsuite.kernels.bsp.kernel import SHIPS, UNDECLARED
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.halo import Halo
from dgsuite.studies.network.adversary import ABSENCES, CRASHES, DROPS, View
from dgsuite.studies.network.faults import Fate, Faults, Lies

if TYPE_CHECKING:
    from dgsuite.core.engine.site import Site
    from dgsuite.core.engine.unicasts import UnicastBatch

REFUSED = {Announcement: ANNOUNCES, Share: SHARES_LISTS, Shipment: SHIPS}
"""What a network with faults cannot transfer, and why."""

NOBODY = np.empty(0, np.int64)
"""No nodes."""


class Disturbed:
    """The faults of a run at one site.

    All sites know of all crashes, since these are functions of the node: nothing is exchanged for them. After
    each turn of the program each cluster votes the best targets of an adversary;
    `dgsuite.core.engine.program.steps` picks among those of all clusters, and the steps of the next turn say
    what is struck.

    Parameters
    ----------
    faults
        Of the run.
    kernel, clusters, fault
        Those of the site.

    Attributes
    ----------
    fate
        What becomes of the messages of the phase; set by `begin`.
    lost
        How many messages to this site's nodes were lost, by phase.
    """

    fate: Fate
    apart = frozenset({"lost", "_frozen", "_sent"})

    def __init__(
        self,
        faults: Faults,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        fault: Fault,
    ) -> None:
        n = clusters[0].n
        self.faults = faults = faults.of_run(kernel.seed)
        self.kernel = kernel
        self.clusters = clusters
        self.fault = fault
        self.lost: list[int] = []
        self._limits = faults.limits(n)
        self._dead = np.zeros(n, bool)
        self._crash_rounds, self._while_sending = faults.crash_rounds(n)
        self._falling = self._fallen = (
            NOBODY  # in this phase: nodes that crash while they send, or before
        )
        self._frozen: dict[int, list[tuple[NDArray, dict[str, NDArray]]]] = {}
        self._round = -1
        self._at: tuple[int, int] | None = None
        self._lock = Lock()
        self._adversary = faults.adversary
        self._left = 0 if self._adversary is None else self._adversary.budget
        self._sent = [c.zeros() for c in clusters if self._left]  # messages of the round, by node
        self._lies: Lies | None = None
        if faults.liars is not None and faults.liars.strategy != "silent":
            counts = {
                name: kernel.ranges[name](n) if name in kernel.ranges else 0
                for name in kernel.fields
            }
            strategy, key = faults.liars.strategy, faults.key(Domain.LIES, 0, 0)
            self._lies = Lies(faults.lying(n), strategy, counts, kernel.limits(n), key, 0, "")

    def warm(self, halo: Halo) -> None:
        """Load the compiled loop that takes lost messages out of a halo's rows."""
        from dgsuite.studies.network._sieve import sieve

        none = halo.indptr[:1], halo.indices[:0], halo.names[:0], 0, np.zeros(1, np.uint8)
        key = self.faults.key(Domain.LOSS, 0, 0)[0]
        starts = np.empty_like(halo.indptr[:1])
        sieve(*none, key, self._limits, self._dead, starts, halo.indices[:0].copy())

    def begin(self, step: Step) -> None:
        """Before a phase: which nodes crash in it, and what becomes of its messages. May be called again."""
        with self._lock:
            if (step.turn, step.position) == self._at:
                return
            self._at = step.turn, step.position
            struck = np.array(step.strikes, np.int64).reshape(-1, 2).T
            spends = "" if self._adversary is None else self._adversary.spends
            self._falling = self._fallen = NOBODY
            if step.round > self._round:
                self._round = step.round
                self._crash(struck[0] if spends == CRASHES else NOBODY)
                self._left -= len(step.strikes)
                for counts in self._sent:
                    counts[:] = 0
            self.lost.append(0)
            away, drops = self.faults.away(step.round), self.faults.dropped(step.round)
            if spends == ABSENCES:
                away = np.append(away, struck[0])
            elif spends == DROPS:
                drops = np.append(drops, struck, axis=1)
            absent, lies = self._mask(away), self._lies
            if lies is not None:
                key = self.faults.key(Domain.LIES, *self._at)
                lies = replace(lies, key=key, round=step.round, phase=step.phase)
            key = self.faults.key(Domain.LOSS, *self._at)
            dead = self._dead if absent is None else self._dead | absent
            falling = self._mask(self._falling)
            self.fate = Fate(key, self._limits, dead, absent, falling, lies, drops)

    def _mask(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """By node, whether it is one of some; None if there are none."""
        if not len(nodes):
            return None
        mask = np.zeros_like(self._dead)
        mask[nodes] = True
        return mask

    def _crash(self, struck: NDArray[np.int64]) -> None:
        """Let nodes crash whose round begins, and those that an adversary strikes."""
        due = np.flatnonzero((self._crash_rounds == self._round) & ~self._dead)
        sending = self._while_sending[due]
        self._falling = due[sending]
        self._fallen = np.setdiff1d(np.append(due[~sending], struck), self._falling)
        if len(due) or len(struck):
            self._dead = self._dead.copy()  # that of the phase before is still read
            self._dead[due] = self._dead[struck] = True

    def before(self, k: int, state: Any) -> None:
        """Keep what the nodes of the site's k-th cluster hold that crash before a phase."""
        self._freeze(k, state, self._fallen)

    def after(self, step: Step, k: int, state: Any, result: Any) -> Any:
        """What a cluster returned from a phase, without what crashed nodes would have sent."""
        self._freeze(k, state, self._falling)
        items = result if type(result) is tuple else (result,)
        for item in items:
            if type(item) in REFUSED:
                raise Unfit(str(self.fault(step, k, f"{REFUSED[type(item)]}: {UNDECLARED}")))
        if self._dead.any():
            result = items = tuple(self._without(self.clusters[k], item) for item in items)
        if self._left <= 0:
            return result
        for item in items:
            _count(self.clusters[k], item, self._sent[k])
        return (*items, self._targets(step, k, state)) if step.last else result

    def _targets(self, step: Step, k: int, state: Any) -> Vote:
        """The best targets of an adversary in the site's k-th cluster, as a vote."""
        assert self._adversary is not None
        view = View(self.clusters[k], step.round, self._sent[k].copy(), state, self.kernel)
        try:
            return Vote(targets=self._adversary.targets(view, self._dead))
        except Exception as error:
            raise self.fault(
                step, k, f"the adversary fails: {type(error).__name__}: {error}"
            ) from error

    def _alive(self, nodes: NDArray) -> NDArray[np.bool_]:
        """Which nodes had not crashed before this phase sent anything."""
        alive = ~self._dead[nodes]
        return alive if self.fate.falling is None else alive | self.fate.falling[nodes]

    def _freeze(self, k: int, state: Any, nodes: NDArray[np.int64]) -> None:
        """Keep the outputs of those nodes that are in the site's k-th cluster."""
        if not len(nodes):
            return
        cluster = self.clusters[k]
        at = cluster.partition.position(nodes) - cluster.first
        at = at[(at >= 0) & (at < cluster.size)]
        held = {}
        for name, output in self.kernel.outputs.items():
            value = getattr(state, name, None)
            if isinstance(value, np.ndarray) and not output.tabular:
                held[name] = value[at]
        self._frozen.setdefault(k, []).append((at, held))

    def frozen(self, k: int, name: str, value: Any) -> Any:
        """An output of the site's k-th cluster, in which crashed nodes have the values that they had then. Of
        nodes that lie there may be identifiers of no node; where identifiers are node ids, these are -1.
        """
        parts = [(at, held[name]) for at, held in self._frozen.get(k, ()) if name in held]
        if parts:
            value = value.copy()
            for at, held in parts:
                value[at] = held
        lied = self._lies is not None and self.kernel.outputs[name].identifiers
        if lied and self.clusters[k].identify is None:
            value = np.where((value >= 0) & (value < len(self._dead)), value, -1)
        return value

    def _without(self, cluster: Cluster, item: Any) -> Any:
        """What a cluster sends, but only by nodes that are alive."""
        if isinstance(item, Known):
            return (
                item if item.node is None or self._alive(np.array([item.node]))[0] else Known(None)
            )
        alive = self._alive(cluster.ids)
        if isinstance(item, Broadcast):
            nodes = np.arange(cluster.size) if item.nodes is None else np.asarray(item.nodes)
            keep = alive[nodes]
            some = _picker(nodes, keep)
            to = None if item.to is None else (some(item.to[0]), some(item.to[1]))
            fields = {name: some(value) for name, value in item.fields.items()}
            edges = None if item.edges is None else _edges_of(cluster, item.edges, alive)
            repeat = None if item.repeat is None else some(item.repeat)
            return item._replace(
                nodes=nodes[keep], repeat=repeat, to=to, edges=edges, fields=fields
            )
        if isinstance(item, Unicast):
            src = np.arange(cluster.size) if item.src is None else np.asarray(item.src)
            keep = alive[src]
            some = _picker(src, keep)
            fields = {name: some(value) for name, value in item.fields.items()}
            return item._replace(dst=np.asarray(item.dst)[keep], src=src[keep], fields=fields)
        return item

    def along(self, messages: UnicastBatch) -> UnicastBatch:
        """Which unicasts arrive, and what they say: before they are combined."""
        fate = self.fate
        assert messages.src is not None
        src, dst = messages.src.astype(np.int64), messages.dst.astype(np.int64)
        number = numbers(src, dst, len(self._dead))
        if told := fate.told(messages.fields, src, dst, number):
            messages = messages._replace(fields=told)
        arrives, lost = fate.arrives(src, dst, number)
        self.lost[-1] += lost
        return messages if arrives.all() else messages.take(np.flatnonzero(arrives))

    def hear(self, arriving: Broadcasts) -> None:
        """Say what becomes of broadcasts that arrive at the site; unicasts were filtered before."""
        arriving.fate = self.fate
        self.lost[-1] += arriving.sifted()

    def losses(self) -> list[int]:
        """Lost messages of each phase; 0 for the last, whose messages no phase reads."""
        return [*self.lost[:-1], 0]


def fate_at(site: Site) -> Fate | None:
    """What becomes of the messages of a site's phase; None if they all arrive."""
    return site.disturbed.fate if isinstance(site.disturbed, Disturbed) else None


def _picker(senders: NDArray, keep: NDArray[np.bool_]) -> Callable[[Any], Any]:
    """A function that picks the values of some senders, where there is one for each."""

    def some(value: Any) -> Any:
        values = np.asarray(value)
        return values[keep] if values.shape[:1] == senders.shape else value

    return some


def _edges_of(cluster: Cluster, edges: Any, alive: NDArray[np.bool_]) -> Callable[[], NDArray]:
    """Edges, as entries of the adjacency, of nodes that are alive."""

    def some() -> NDArray:
        entries = edges() if callable(edges) else edges
        rows = np.searchsorted(cluster.indptr, entries, side="right") - 1
        return entries[alive[rows]]

    return some


def numbers(src: NDArray, dst: NDArray, n: int) -> NDArray[np.int64] | None:
    """Of each message, how many of the same sender to the same receiver come before it; None if there are
    none.
    """
    pair = pair_key(src, dst, n)
    order = np.argsort(pair, kind="stable")
    new = np.diff(pair[order], prepend=-1) != 0
    if new.all():
        return None
    starts = np.flatnonzero(new)
    found = np.empty(len(pair), np.int64)
    found[order] = np.arange(len(pair)) - np.repeat(starts, np.diff(starts, append=len(pair)))
    return found


def _count(cluster: Cluster, item: Any, counts: NDArray[np.int64]) -> None:
    """Count the messages of each node of a cluster."""
    if isinstance(item, Known) and item.node is not None:
        row = int(cluster.partition.position(np.array([item.node]))[0]) - cluster.first
        if 0 <= row < cluster.size:
            counts[row] += cluster.degree[row]
    elif isinstance(item, Broadcast):
        nodes = np.arange(cluster.size) if item.nodes is None else np.asarray(item.nodes)
        degree = cluster.degree if item.links is None else item.links.degree
        each = degree[nodes] if item.to is None else item.to[0]
        counts[nodes] += each if item.repeat is None else each * np.asarray(item.repeat)
    elif isinstance(item, Unicast):
        src = np.arange(cluster.size) if item.src is None else np.asarray(item.src)
        counts += np.bincount(src, minlength=cluster.size)
