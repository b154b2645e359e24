"""A site on a network with faults: which of its nodes have crashed, and what becomes of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, Unfit
from dgsuite.base.mixing import Domain
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.program import Fault, Step
from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.kernel import SHIPS, UNDECLARED
from dgsuite.kernels.events.channel import NEVER
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.kernels.lab.delays import numbers
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.halo import Halo
from dgsuite.studies.network.adversary import ABSENCES
from dgsuite.studies.network.chances import CODES, Chances, limit
from dgsuite.studies.network.faults import ADVERSARY, CHURN, LIARS, STRUCK, Fate, Faults
from dgsuite.studies.network.lies import Lies
from dgsuite.studies.network.node_states import put, take
from dgsuite.studies.network.strategies import Adds
from dgsuite.studies.network.watch import Watch

if TYPE_CHECKING:
    from dgsuite.core.engine.site import Site
    from dgsuite.core.engine.unicasts import UnicastBatch

REFUSED = {bsp.Announcement: bsp.ANNOUNCES, bsp.Share: bsp.SHARES_LISTS, bsp.Shipment: SHIPS}
"""What a network with faults cannot transfer, and why."""


class Disturbed:
    """The faults of a run at one site.

    All sites know of all crashes, since these are functions of the node: nothing is exchanged for them.

    Parameters
    ----------
    faults
        Of the run.
    kernel, clusters, fault
        Those of the site.

    Attributes
    ----------
    fate
        What becomes of the messages of the phase; None if they all arrive.
    struck
        By phase, what struck messages to this site's nodes: see `faults.Fate.arrives`.

    Raises
    ------
    InputError
        A node is to come back, and the kernel's state is not one by node.
    """

    def __init__(
        self, faults: Faults, kernel: bsp.Kernel, clusters: Sequence[Cluster], fault: Fault
    ) -> None:
        n = clusters[0].n
        self.faults = faults = faults.of_run(kernel.seed)
        self.kernel = kernel
        self.clusters = clusters
        self.fault = fault
        self.struck: list[NDArray[np.int64]] = []
        self.fate: Fate | None = None
        self._limits = faults.limits()
        self._chances = Chances(clusters) if faults.by_weight else None
        self._dead, self._none_dead = np.zeros(n, bool), True
        self._falling = np.empty(0, np.int64)  # nodes that crash while they send
        self._fallen = np.empty(0, np.int64)  # nodes that crash before the phase
        self._frozen: dict[int, list[tuple[NDArray, dict[str, NDArray]]]] = {}
        self._at: tuple[int, int] | None = None
        rounds = faults.crash_rounds(n)
        self._due = np.argsort(rounds, kind="stable")[: np.count_nonzero(rounds < NEVER)]
        self._rounds = rounds[self._due]
        self._begun = 0
        self._waiting: list[int] = []
        self._listed = {crash.node: crash for crash in faults.crashes}
        self._down: dict[int, int] = {}  # nodes that are to come back, and when
        self._back = np.empty(0, np.int64)  # nodes that are back in this phase
        self._kept: dict[int, dict[str, NDArray]] = {}  # their states at the crash
        if any(crash.until is not None for crash in faults.crashes):
            for cluster in clusters:
                try:
                    take(kernel.first_state(cluster), self._back, cluster.size)
                except InputError as error:
                    raise InputError(
                        f"kernel {kernel.name!r}: a node cannot come back with until=, since {error}"
                    ) from None
        self._bounded = isinstance(kernel, EventKernel) and kernel.channel.capacity is not None
        self._watch = None
        if faults.attack is not None:
            self._watch = Watch(faults.attack, kernel, clusters)
        liars, mask = faults.liars, faults.lying(n)
        silent = liars is not None and liars.strategy == "silent"
        self._silent = np.flatnonzero(mask & silent)
        self._lies: Lies | None = None
        if faults.corruption or (liars is not None and not silent):
            ranges = kernel.ranges
            counts = {name: ranges[name](n) if name in ranges else 0 for name in kernel.fields}
            how = "random" if liars is None or silent else liars.strategy
            key, limits = faults.key(Domain.LIES, 0, 0), kernel.limits(n)
            lying, fixed = mask & (not silent), kernel.unforgeable
            self._lies = Lies(key, lying, how, counts, limits, 0, "", unforgeable=fixed)

    def warm(self, halo: Halo) -> None:
        """Load the compiled loop that takes lost messages out of a halo's rows."""
        from dgsuite.studies.network._sieve import sieve

        none = halo.indptr[:1], halo.indices[:0], halo.names[:0], 0, np.zeros(1, np.uint8)
        key = self.faults.key(Domain.LOSS, 0, 0)[0]
        starts = np.empty_like(halo.indptr[:1])
        sieve(*none, key, *self._limits, self._dead, starts, halo.indices[:0].copy())

    def begin(self, step: Step) -> None:
        """Before a phase: which nodes crash in it, and what becomes of its messages. May be called again."""
        if (step.turn, step.position) == self._at:
            return
        self._at = step.turn, step.position
        self._crash(step)
        self.struck.append(np.zeros(len(STRUCK), np.int64))
        away, drops = self.faults.away(step.round), self.faults.dropped(step.round)
        mute = [(LIARS, self._silent), (CHURN, away)]
        if self._watch is not None:
            struck, adversary = self._watch.begin(step), self._watch.attack.adversary
            if adversary.delays:
                return
            if adversary.crashes:
                nodes = struck[0][~self._dead[struck[0]]]
                self._fallen = np.append(self._fallen, nodes)
                self._die(nodes)
            elif adversary.spends == ABSENCES:
                mute.append((ADVERSARY, struck[0]))
                away = np.append(away, struck[0])
            elif struck.size:
                drops.append((ADVERSARY, struck))
        falling, absent, lies = self._mask(self._falling), self._mask(away), self._lies
        if lies is not None:
            key, noise = self.faults.key(Domain.LIES, *self._at), self._chance("corruption")
            lies = replace(lies, key=key, noise=noise, round=step.round, phase=step.phase)
        self.fate = Fate(
            key=self.faults.key(Domain.LOSS, *self._at),
            source=self._limits[0],
            target=self._limits[1],
            dead=self._dead if absent is None else self._dead | absent,
            mute=self._codes(mute),
            falling=falling,
            lies=lies,
            drops=drops,
            chances=self._chances,
            splits=[p for p in self.faults.splits if p.first <= step.round < (p.end or NEVER)],
            last=self._last(),
            twice=self._chance("duplicates"),
            bounded=self._bounded,
        )

    def _chance(self, kind: str) -> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
        """The key of a phase and a limit for what strikes messages with a probability."""
        probability = getattr(self.faults, kind)
        assert self._at is not None
        domain = Domain[kind.upper()]
        return (self.faults.key(domain, *self._at), limit(probability)) if probability else None

    def _codes(self, why: Iterable[tuple[int, NDArray]]) -> NDArray[np.uint8] | None:
        """By node, why nothing that it sends arrives."""
        codes = np.zeros(len(self._dead), np.uint8)
        for code, nodes in why:
            codes[nodes] = code
        return codes if codes.any() else None

    def _last(self) -> list[tuple[int, NDArray[np.int64]]]:
        """Of each node that crashes once it has sent to some neighbours: the node, and these neighbours."""
        crashes = (self._listed.get(node) for node in self._falling.tolist())
        return [(c.node, np.array(c.receivers, np.int64)) for c in crashes
                if c is not None and c.receivers is not None]  # fmt: skip

    def _mask(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """By node, whether it is one of some; None if there are none."""
        if not len(nodes):
            return None
        mask = np.zeros_like(self._dead)
        mask[nodes] = True
        return mask

    def _crash(self, step: Step) -> None:
        """Let nodes come back and crash whose time has come."""
        back = [node for node, until in self._down.items() if until <= step.round]
        self._back = np.array(back, np.int64)
        if back:
            self._dead = self._dead.copy()
            self._dead[self._back] = False
        for node in back:
            del self._down[node]
        now = len(self.struck) if self.faults.by_phase else step.round
        end = int(np.searchsorted(self._rounds, now, side="right"))
        due = self._due[self._begun : end]
        self._begun = max(self._begun, end)
        named = np.isin(due, [*self._listed])
        drawn = due[~named]
        self._waiting += due[named].tolist()
        late, falling, fallen = list[int](), list[int](), list[int]()
        for node in self._waiting:
            crash = self._listed[node]
            if crash.phase not in (None, step.phase) and crash.round == step.round:
                late.append(node)
            elif (crash.until or NEVER) > step.round and not self._dead[node]:
                (falling if crash.partial else fallen).append(node)
                if crash.until is not None:
                    self._down[node] = crash.until
        self._waiting = late
        self._falling = np.append(drawn[~self._dead[drawn]], np.array(falling, np.int64))
        self._fallen = np.array(fallen, np.int64)
        self._die(np.append(self._fallen, self._falling))

    def _die(self, nodes: NDArray[np.int64]) -> None:
        """Note that nodes have crashed."""
        if len(nodes):
            self._none_dead = False
            self._dead = self._dead.copy()  # that of the phase before is still read
            self._dead[nodes] = True

    def before(self, step: Step, k: int, state: Any) -> None:
        """Keep what the nodes of the site's k-th cluster hold that crash before a phase, and give it back to
        those that are back.
        """
        try:
            self._restore(k, state)
        except InputError as error:
            raise self.fault(step, k, str(error)) from None
        self._freeze(step, k, state, self._fallen)
        if self.faults.liars is not None and self.faults.liars.adds is not None:
            state.mail.added = self._added(self.clusters[k], self.faults.liars.adds)

    def _added(self, cluster: Cluster, adds: Adds) -> list[bsp.Unicast]:
        """What nodes of a cluster that lie send beside the messages of their program."""
        assert isinstance(self.kernel, EventKernel)
        lies: Any = None if self.fate is None else self.fate.lies
        rows = np.flatnonzero(lies.mask[cluster.ids] & self.alive(cluster.ids))
        at, dst = cluster.edges(rows)
        src, dtypes = rows[at], self.kernel.dtypes(cluster.n)
        if not len(src):
            return []
        none = {name: np.zeros(len(src), dtypes[name]) for name in self.kernel.said}
        turn, position = self._at or (0, 0)
        key = self.faults.key(Domain.LIES, turn, -1 - position)  # not that of other lies
        ends = cluster.ids[src].astype(np.int64), dst.astype(np.int64)
        which, fields = lies.added(adds, key, none, *ends)
        return [bsp.unicast(dst[which], src[which], **fields)]

    def after(self, step: Step, k: int, state: Any, result: Any) -> Any:
        """What a cluster returned from a phase, without what crashed nodes would have sent."""
        self._freeze(step, k, state, self._falling)
        items = result if type(result) is tuple else (result,)
        for item in items:
            if type(item) in REFUSED:
                raise Unfit(str(self.fault(step, k, f"{REFUSED[type(item)]}: {UNDECLARED}")))
        if not self._none_dead:
            result = items = tuple(self._without(self.clusters[k], item) for item in items)
        if self._watch is None or not self._watch.attack.adversary.watches:
            return result
        try:
            return (*items, self._watch.after(step, k, state, items, self._dead))
        except Exception as error:
            raise self.fault(
                step, k, f"the adversary fails: {type(error).__name__}: {error}"
            ) from error

    def alive(self, nodes: NDArray) -> NDArray[np.bool_]:
        """Which nodes had not crashed before this phase sent anything."""
        alive = ~self._dead[nodes]
        if self.fate is not None and self.fate.falling is not None:
            alive |= self.fate.falling[nodes]
        return alive

    def _freeze(self, step: Step, k: int, state: Any, nodes: NDArray[np.int64]) -> None:
        at = self._local(k, nodes)
        if not len(at):
            return
        back = at if self._down else at[:0]
        for row, node in zip(back.tolist(), self.clusters[k].ids[back].tolist(), strict=True):
            if node in self._down and (self._listed[node].memory or self.kernel.stable):
                try:
                    held = take(state, np.array([row]), self.clusters[k].size)
                except InputError as error:
                    raise self.fault(step, k, str(error)) from None
                on_disk = held if self._listed[node].memory else self.kernel.stable
                self._kept[node] = {name: held[name] for name in on_disk}
        held = {}
        for name, output in self.kernel.outputs.items():
            value = getattr(state, name, None)
            if isinstance(value, np.ndarray) and not output.tabular:
                held[name] = value[at]
        self._frozen.setdefault(k, []).append((at, held))
        self.kernel.crash(state, at)

    def _restore(self, k: int, state: Any) -> None:
        """Set the states of nodes of the site's k-th cluster that are back."""
        at = self._local(k, self._back)
        if not len(at):
            return
        cluster, first = self.clusters[k], None
        for row, node in zip(at.tolist(), cluster.ids[at].tolist(), strict=True):
            rows = np.array([row])
            held = self._kept.pop(node, {})
            if not self._listed[node].memory:
                first = self.kernel.first_state(cluster) if first is None else first
                held = take(first, rows, cluster.size) | held
            put(state, rows, cluster.size, held)
        self._frozen[k] = [
            (rows[keep], {name: values[keep] for name, values in held.items()})
            for rows, held in self._frozen.get(k, ())
            for keep in [~np.isin(rows, at)]
        ]

    def _local(self, k: int, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Local indices of those nodes that are in the site's k-th cluster."""
        if not len(nodes):
            return nodes
        cluster = self.clusters[k]
        at = cluster.partition.position(nodes) - cluster.first
        return at[(at >= 0) & (at < cluster.size)]

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
        if lied and self.clusters[k].identifiers is None:
            value = np.where((value >= 0) & (value < len(self._dead)), value, -1)
        return value

    def _without(self, cluster: Cluster, item: Any) -> Any:
        """What a cluster sends, but only by nodes that are alive."""
        if isinstance(item, bsp.Known):
            sends = item.node is None or self.alive(np.array([item.node]))[0]
            return item if sends else bsp.Known(None)
        if not isinstance(item, bsp.Broadcast | bsp.Unicast):
            return item
        alive = self.alive(cluster.ids)
        own = item.nodes if isinstance(item, bsp.Broadcast) else item.src
        nodes = np.arange(cluster.size) if own is None else np.asarray(own)
        keep = alive[nodes]

        def some(value: Any) -> Any:
            """The values of living senders, where there is one for each."""
            values = np.asarray(value)
            return values[keep] if values.shape[:1] == nodes.shape else value

        fields = {name: some(value) for name, value in item.fields.items()}
        if isinstance(item, bsp.Unicast):
            return item._replace(dst=np.asarray(item.dst)[keep], src=nodes[keep], fields=fields)
        to = None if item.to is None else (some(item.to[0]), some(item.to[1]))
        edges = None if item.edges is None else _edges_of(cluster, item.edges, alive)
        repeat = None if item.repeat is None else some(item.repeat)
        return item._replace(nodes=nodes[keep], repeat=repeat, to=to, edges=edges, fields=fields)

    def along(self, messages: UnicastBatch) -> tuple[UnicastBatch, Any]:
        """Unicasts as they arrive, and which these are: before they are combined."""
        fate = self.fate
        if fate is None:
            return messages, slice(None)
        assert messages.src is not None
        src, dst = messages.src, messages.dst
        number = numbers(src, dst, len(self._dead))
        if told := fate.told(messages.fields, src, dst, number):
            messages = messages._replace(fields=told)
        arrives, struck = fate.arrives(src, dst, number, messages.fields)
        self.struck[-1] += struck
        return messages.take(arrives), arrives

    def hear(self, arriving: Broadcasts) -> None:
        """Say what becomes of broadcasts that arrive at the site; unicasts were filtered before."""
        if self._watch is not None:
            self._watch.hear(arriving)
        if self.fate is not None:
            arriving.fate = self.fate
            self.struck[-1] += arriving.sifted()

    def strikes(self) -> dict[str, int]:
        """What has struck messages since the phase began, or since the last call, by name."""
        self.struck = [self.struck[-1], np.zeros(len(STRUCK), np.int64)]
        return {name: values[0] for name, values in self.notes().items()}

    def notes(self) -> dict[str, list[int]]:
        """What struck messages of each phase, by name; nothing of the last, whose messages no phase reads."""
        table = np.array([*self.struck[:-1], np.zeros(len(STRUCK), np.int64)])
        found = {"lost": table[:, 1:CODES].sum(axis=1)}
        for name, values in zip(STRUCK[1:], table.T[1:], strict=True):
            found[f"struck by {name}"] = values + found.get(f"struck by {name}", 0)
        return {name: values.tolist() for name, values in found.items()}


def fate_at(site: Site) -> Fate | None:
    """What becomes of the messages of a site's phase; None if they all arrive."""
    return site.disturbed.fate if isinstance(site.disturbed, Disturbed) else None


def _edges_of(cluster: Cluster, edges: Any, alive: NDArray[np.bool_]) -> Callable[[], NDArray]:
    """Edges, as entries of the adjacency, of nodes that are alive."""

    def some() -> NDArray:
        entries = edges() if callable(edges) else edges
        rows = np.searchsorted(cluster.indptr, entries, side="right") - 1
        return entries[alive[rows]]

    return some
