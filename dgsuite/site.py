"""A site: clusters that live together (in a worker, in a task, in the serial process).

A site runs a phase on each of its clusters, counts what they send, hands its own messages over by
reference and packs one parcel for each other site. The styles differ only in who calls this and how
parcels travel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.exchange import Letters, Megaphone, Parcel, Post, concatenate
from dgsuite.inbox import Board, Crates, Echoes, Mail, Sealed, worst
from dgsuite.program import Step, Tally, reduce_votes
from dgsuite.window import Window
from dgsuite.workload import Porter, Workload, unlade
from kernels.base import (
    Announcement,
    Broadcast,
    Extra,
    Kernel,
    Note,
    Shipment,
    State,
    Unicast,
    Vote,
)
from partition.cluster import Cluster
from partition.errors import InputError, RunError
from partition.halo import Halo, make_halo
from partition.segments import COMPILE_FROM, expand, group, tally, total


class Said(NamedTuple):
    """A broadcast, for who records what is sent: the slots that spoke, and bytes a message."""

    slots: NDArray
    itemsize: int


Sent = Said | Letters | Board | Crates


class Site:
    """The clusters of one site, with their state and what they have received.

    Parameters
    ----------
    kernel
        The kernel to run.
    clusters
        This site's clusters, ascending; at least one.
    bounds
        Shape (sites + 1,): site s holds clusters ``bounds[s]`` to ``bounds[s + 1]``.
    me
        Which site this is.
    workload
        Work besides the kernel's, if any.

    Attributes
    ----------
    recorder
        Called with what each phase sends, if set.

    Raises
    ------
    InputError
        The kernel cannot run on such a graph.
    """

    where = "round"
    """What the program counts."""

    def __init__(
        self,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        workload: Workload | None = None,
    ) -> None:
        for cluster in clusters:
            if (problem := kernel.check(cluster)) is not None:
                raise InputError(f"kernel {kernel.name!r}: {problem}")
        self.kernel = kernel
        self.clusters = clusters
        self.bounds = np.asarray(bounds)
        self.me = me
        self.starts = [0, *np.cumsum([c.size for c in clusters]).tolist()]
        self.post = Post(clusters[0].partition, self.bounds, me)
        widths = kernel.widths(clusters[0].n)
        self.dtypes = {
            name: np.dtype((dtype, (widths[name],))) if name in widths else np.dtype(dtype)
            for name, dtype in kernel.fields.items()
        }
        self.states: list[State] = [kernel.start(c) for c in clusters]
        self.compute = np.zeros(len(clusters))
        self.cpu = np.zeros(len(clusters))
        self.busy = 0.0
        self.porter = None if workload is None else Porter(workload, clusters, self.bounds, me)
        self.loads = np.zeros(len(clusters), np.int64)
        self.toil = np.zeros(len(clusters))
        self.tally = Tally()
        self.recorder: Callable[[Step, Sent], None] | None = None
        self._kept: list[Letters] = []
        self._spoke = False
        self._board: Board | None = None
        self._crates: Crates | None = None
        self._messages: Mail | Echoes | Board | Crates | None = None

    @property
    def _key(self) -> tuple[int, bytes]:
        """What the halo is kept under."""
        return self.me, self.bounds.tobytes()

    @property
    def has_halo(self) -> bool:
        """Whether the halo is made already."""
        return self._key in self.clusters[0].cache

    @cached_property
    def halo(self) -> Halo:
        """The site's halo, kept with its first cluster so that later runs find it."""
        cache = self.clusters[0].cache
        if not self.has_halo:
            cache.clear()
            cache[self._key] = make_halo(self.clusters, self.bounds, self.me)
        halo: Halo = cache[self._key]
        return halo

    @cached_property
    def megaphone(self) -> Megaphone:
        """What broadcasts go through."""
        return Megaphone(self.halo)

    def warm(self) -> None:
        """Do before the clock starts what would otherwise fall into the first rounds."""
        if self.clusters[0].directed:
            return
        halo = self.halo
        if len(halo.indices) > COMPILE_FROM:
            from partition import _compiled

            none, one = np.empty(0, np.int64), np.zeros(1, bool)
            pull = (halo.indptr, halo.indices, 0, none, np.zeros(1, np.uint8))
            push = (*halo.out(np.array([halo.first])), none)
            counts = np.empty(0, np.int32)
            _compiled.tally(counts, none)
            _compiled.reach(halo.indptr, none)
            _compiled.mark(one, none)
            _compiled.remove(one, none)
            _compiled.keep(one, none, 0)
            _compiled.pull_any(*pull)
            _compiled.pull_count(*pull, 0, 0)
            _compiled.push_first(*push, halo.names, one, halo.names[:0])
            if self.kernel.looks_for_first:
                _compiled.pull_first(*pull[:2], halo.heads, *pull[2:], halo.names)
            _compiled.push_any(*push, one)
            _compiled.push_count(*push, halo.first, halo.starts, counts, counts)
            self.megaphone.prepare(self.dtypes)
            for name in (name for name, dtype in self.dtypes.items() if dtype.ndim == 0):
                values = self.megaphone.slots[name][:0]
                _compiled.pull(*pull, values, worst(values.dtype, False), False)
                _compiled.pull_minima(*pull, values, values)
                _compiled.pick(values, none, one, 0)
                _compiled.lay(values, one[:0], values)
                _compiled.push_least(*push, values, values, one, False)

    def step(self, step: Step, pool: Executor | None = None) -> dict[int, Parcel]:
        """Run a phase on every cluster.

        Parameters
        ----------
        pool
            Where to run clusters side by side, if anywhere.

        Returns
        -------
        A parcel for each other site that gets one. `tally` is what was counted, `compute` the seconds
        and `cpu` the processor time of each cluster, `busy` those of all.
        """
        numbers = range(len(self.clusters))
        begin = perf_counter()
        if pool is None:
            results = [self._run(step, k) for k in numbers]
        else:
            results = list(pool.map(lambda k: self._run(step, k), numbers))
        self.busy = perf_counter() - begin
        self._messages = None
        self._kept = []
        self._board = self._crates = None
        if self._spoke:
            self.megaphone.hush()
            self._spoke = False
        votes: list[Vote] = []
        unicasts: list[tuple[int, Unicast]] = []
        broadcasts: list[tuple[int, Broadcast]] = []
        announcements: list[tuple[int, Announcement]] = []
        shipments: list[tuple[int, Shipment]] = []
        self.tally = Tally()
        for k, result in enumerate(results):
            for item in result if type(result) is tuple else (result,):
                if isinstance(item, Vote):
                    votes.append(item)
                elif isinstance(item, Unicast):
                    unicasts.append((k, item))
                elif isinstance(item, Broadcast):
                    broadcasts.append((k, item))
                elif isinstance(item, Announcement):
                    announcements.append((k, item))
                elif isinstance(item, Shipment):
                    shipments.append((k, item))
                elif isinstance(item, Extra):
                    self.tally.add(item)
                elif isinstance(item, Note):
                    self.tally.note(item.values)
                elif item is not None:
                    raise self._error(step, k, f"returned {item!r}, which is nothing to send")
        self.tally.vote = reduce_votes(votes)
        if self.porter is not None:
            self.tally.loads, self.tally.toil = int(self.loads.sum()), float(self.toil.sum())
        if sum(map(bool, (unicasts, broadcasts, announcements, shipments))) > 1:
            raise self._error(step, 0, "sends messages of more than one kind")
        parcels: dict[int, Parcel] = {}
        if broadcasts and self.clusters[0].directed:
            unicasts = [(k, self._along_edges(k, b)) for k, b in broadcasts]
        if shipments:
            parcels = self._ship(step, shipments)
        elif announcements:
            parcels = self._post_up(step, announcements)
        elif unicasts:
            parcels = self._write(step, unicasts)
        elif broadcasts:
            parcels = self._speak(step, broadcasts)
        return parcels if self.porter is None else self.porter.lade(step.round, parcels)

    def deliver(self, parcels: Mapping[int, Parcel]) -> None:
        """Take in the parcels of other sites, and what this site kept: the next phase's inboxes."""
        if self.porter is not None:
            parcels = unlade(parcels)
        letters = list(self._kept)
        crates = {} if self._crates is None else {self.me: self._crates}
        boards = {} if self._board is None else {self.me: self._board}
        for peer, parcel in parcels.items():
            if isinstance(parcel, Letters):
                letters.append(parcel)
            elif isinstance(parcel, Board):
                boards[peer] = parcel
            elif isinstance(parcel, Sealed):
                crates[peer] = parcel.open()
            else:
                self._spoke = True
                self.megaphone.hear(peer, parcel, self.dtypes)
        if bool(letters) + bool(boards) + bool(crates) + self._spoke > 1:
            raise RunError(
                f"kernel {self.kernel.name!r}: one cluster sends another kind of message than another in "
                f"the same phase; a phase sends one kind"
            )
        if letters:
            self._messages = self.post.mail(letters)
        elif self._spoke:
            self._messages = self.megaphone.echoes()
        elif crates:
            # a site's items stand by sender already
            joined = _piled([crates[site] for site in sorted(crates)])
            if len(self.clusters) > 1:
                first = self.clusters[0].index
                joined = joined.take(group(joined.to - first, len(self.clusters))[2])
            self._messages = joined
        elif boards:
            ordered = [board for _, board in sorted(boards.items())]
            self._messages = _joined(ordered)

    def outputs(self) -> dict[str, NDArray]:
        """The kernel's results for the nodes of this site."""
        held = {name: [getattr(s, name) for s in self.states] for name in self.kernel.outputs}
        return {
            n: found[0] if len(found) == 1 else np.concatenate(found) for n, found in held.items()
        }

    def _run(self, step: Step, k: int) -> Any:
        cluster = self.clusters[k]
        inbox = Window(step.round, cluster, self.starts[k], self._messages, self.dtypes)
        return self.call(step, k, inbox)

    def call(self, step: Step, k: int, inbox: Window, tasks: int | None = None) -> Any:
        """Run a phase, or so many tasks, on one cluster, and the workload of each; takes its time."""
        cluster = self.clusters[k]
        begin, cpu = perf_counter(), thread_time()
        try:
            result = getattr(self.kernel, step.phase)(cluster, self.states[k], inbox)
        except Exception as error:
            raise self._error(step, k, f"{type(error).__name__}: {error}") from error
        if self.porter is not None:
            self.loads[k] = cluster.size if tasks is None else tasks
            self.toil[k] = self.porter.toil(int(self.loads[k]))
        self.compute[k], self.cpu[k] = perf_counter() - begin, thread_time() - cpu
        return result

    def _error(self, step: Step, k: int, what: str) -> RunError:
        return RunError(
            f"kernel {self.kernel.name!r}, {self.where} {step.round}, phase {step.phase!r}, "
            f"cluster {self.clusters[k].index}: {what}"
        )

    def _columns(
        self, step: Step, k: int, fields: Mapping[str, Any], length: int
    ) -> dict[str, NDArray]:
        """Message fields as arrays of the declared dtypes."""
        columns = {}
        for name, value in fields.items():
            if name not in self.dtypes:
                raise self._error(
                    step, k, f"sends {name!r}, which is not among the kernel's fields"
                )
            base, width = self.dtypes[name].base, self.dtypes[name].shape
            column = np.asarray(value, base)
            columns[name] = column if column.ndim else np.full((length, *width), column)
            if columns[name].shape != (length, *width):
                raise self._error(step, k, f"sends {column.shape} {name!r} for {length} messages")
        return columns

    def _along_edges(self, k: int, b: Broadcast) -> Unicast:
        """A broadcast as messages along the out-edges of a directed graph."""
        cluster = self.clusters[k]
        nodes = np.arange(cluster.size) if b.nodes is None else b.nodes
        at, entry = expand(cluster.indptr, nodes)
        fields = {name: np.broadcast_to(v, len(nodes))[at] for name, v in b.fields.items()}
        return Unicast(cluster.indices[entry], nodes[at], None, fields)  # type: ignore[arg-type]

    def _post_up(self, step: Step, sends: list[tuple[int, Announcement]]) -> dict[int, Parcel]:
        boards = []
        for k, send in sends:
            cluster = self.clusters[k]
            length = max((np.size(v) for v in send.fields.values()), default=0)
            boards.append(Board(self._columns(step, k, send.fields, length)))
            self.tally.messages += len(send.nodes) * (cluster.n - 1)
            self.tally.remote += len(send.nodes) * (cluster.n - cluster.size)
            self.tally.active += len(send.nodes)
            self.tally.nbytes += boards[-1].nbytes * (cluster.n - 1)
        self._board = _joined(boards)
        self._record(step, self._board)
        peers = (site for site in range(len(self.bounds) - 1) if site != self.me)
        return dict.fromkeys(peers, self._board)

    def _ship(self, step: Step, sends: list[tuple[int, Shipment]]) -> dict[int, Parcel]:
        crates = []
        for k, send in sends:
            to = np.asarray(send.to, np.int32)
            if len(to) and (to.min() < 0 or to.max() >= self.bounds[-1]):
                raise self._error(step, k, "ships to a cluster that does not exist")
            columns = self._columns(step, k, send.fields, len(to))
            index = self.clusters[k].index
            crates.append(Crates(to, np.full(len(to), index, np.int32), columns))
            far = int(np.count_nonzero(to != index))
            self.tally.messages += len(to)
            self.tally.remote += far
            self.tally.nbytes += far * sum(v.itemsize for v in columns.values())
        if any(c.fields.keys() != crates[0].fields.keys() for c in crates):
            raise self._error(step, sends[0][0], "ships other fields than another cluster")
        whole = _piled(crates)
        self._record(step, whole)
        if len(self.bounds) == 2:
            self._crates = whole
            return {}
        site = np.searchsorted(self.bounds, whole.to, side="right") - 1
        parcels: dict[int, Parcel] = {}
        for peer in np.unique(site).tolist():
            part = whole.take(site == peer)
            if peer == self.me:
                self._crates = part
            else:
                parcels[peer] = part.seal()
        return parcels

    def _write(self, step: Step, sends: list[tuple[int, Unicast]]) -> dict[int, Parcel]:
        partition = self.post.partition
        parts, home, whole = [], [], True
        for k, send in sends:
            cluster, dst = self.clusters[k], np.asarray(send.dst)
            if len(dst) and (dst.min() < 0 or dst.max() >= partition.n):
                raise self._error(step, k, "sends to a node that does not exist")
            if send.src is None and len(dst) != cluster.size:
                raise self._error(step, k, "sends not one message a node without saying who sends")
            whole &= send.src is None
            src = cluster.ids if send.src is None else cluster.ids[send.src]
            columns = self._columns(step, k, send.fields, len(dst))
            parts.append(Letters(dst, src, send.combine, columns))
            home.append(cluster.index)
        if any(p.fields.keys() != parts[0].fields.keys() for p in parts):
            raise self._error(step, sends[0][0], "sends other fields than another cluster")
        letters = concatenate(parts)
        if not len(letters.dst):
            return {}
        senders = np.repeat(home, [len(p.dst) for p in parts])
        self.tally.messages = len(letters.dst)
        self.tally.remote = int(np.count_nonzero(partition.owner(letters.dst) != senders))
        self.tally.nbytes = sum(v.nbytes for v in letters.fields.values())
        self.tally.active = len(letters.dst) if whole else len(np.unique(letters.src))  # type: ignore[arg-type]
        self._record(step, letters)
        self._kept, parcels = self.post.sort(letters)
        return parcels

    def _speak(self, step: Step, sends: list[tuple[int, Broadcast]]) -> dict[int, Parcel]:
        speakers, senders, parts = [], [], []
        for k, send in sends:
            cluster = self.clusters[k]
            nodes = (
                np.arange(cluster.size) if send.nodes is None else np.asarray(send.nodes, np.int64)
            )
            if not len(nodes):
                continue
            speakers.append(k)
            messages, far = _weigh(cluster, nodes, send)
            self.tally.messages += messages
            self.tally.remote += far
            self.tally.active += len(nodes)
            parts.append(self._columns(step, k, send.fields, len(nodes)))
            self.tally.nbytes += messages * sum(self.dtypes[name].itemsize for name in parts[-1])
            senders.append(nodes)
        if not parts:
            return {}
        if any(p.keys() != parts[0].keys() for p in parts):
            raise self._error(step, speakers[0], "sends other fields than another cluster")
        for k, nodes, columns in zip(speakers, senders, parts, strict=True):
            start, size = self.halo.first + self.starts[k], self.clusters[k].size
            if len(nodes) == size:
                span = slice(start, start + size)
                self.megaphone.crowd(span, slice(None), size, columns, self.dtypes)
            else:
                self.megaphone.speak(nodes + start, columns, self.dtypes)
        self._spoke = True
        if self.recorder is not None:
            slots = np.concatenate(
                [n + self.starts[k] for k, n in zip(speakers, senders, strict=True)]
            )
            self._record(step, Said(slots, sum(self.dtypes[name].itemsize for name in parts[0])))
        return self.megaphone.parcels(list(parts[0]))

    def _record(self, step: Step, sent: Sent) -> None:
        if self.recorder is not None:
            self.recorder(step, sent)


def _weigh(cluster: Cluster, nodes: NDArray, send: Broadcast) -> tuple[int, int]:
    """Messages of a broadcast, and how many of them leave the cluster."""
    if send.to is not None:
        each, away = send.to
        return int(np.sum(each)), int(np.sum(away))
    links = send.links
    remote = cluster.remote_degree if links is None else links.remote
    if send.repeat is not None:
        degree = cluster.degree if links is None else links.degree
        return int((degree[nodes] * send.repeat).sum()), int((remote[nodes] * send.repeat).sum())
    messages = total(cluster.indptr, nodes) if links is None else tally(links.degree, nodes)
    return messages, tally(remote, nodes)


def _joined(boards: Sequence[Board]) -> Board:
    """Several announcements as one."""
    names = boards[0].fields
    return Board({name: np.concatenate([b.fields[name] for b in boards]) for name in names})


def _piled(crates: Sequence[Crates]) -> Crates:
    """Items of several senders as one."""
    return Crates(
        np.concatenate([c.to for c in crates]),
        np.concatenate([c.origin for c in crates]),
        {name: np.concatenate([c.fields[name] for c in crates]) for name in crates[0].fields},
    )
