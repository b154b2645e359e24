"""A site on which tasks spawn tasks: a queue of what has arrived, and the finishes that wait for it.

Tasks of one name, depth and cluster are handled together, as one batch. Nothing is nested on a
stack: what a task spawns goes into the queue of its site or, at once, into a parcel for another. The
styles differ only in when a site runs its tasks, and when parcels travel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine import checks
from dgsuite.core.engine.inbox import ClusterInbox
from dgsuite.core.engine.log import Moment
from dgsuite.core.engine.messages import MessageList, concatenated, places
from dgsuite.core.engine.program import Step, Tally, reduce_votes
from dgsuite.core.engine.progress import Progress
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.engine.workload import ParcelWithPackets
from dgsuite.core.recursion.scopes import NONE, Scopes
from dgsuite.kernels.bsp import Extra, Note, Vote
from dgsuite.kernels.bsp.rounds import Spawn
from dgsuite.partition.arrays.segments import group

ENDED = ""
"""Name of the notice to a node that tasks under one of its finishes have ended."""

HOME, SLOT = "finish_node", "finish_slot"
"""Fields of tasks under the finish of another task: its node and slot."""


class Batch(NamedTuple):
    """Tasks of one name and depth, for one cluster, on their way or waiting."""

    depth: int
    task: str
    cluster: int
    letters: UnicastBatch


Key = tuple[int, str, int, bool]
"""Depth, task, cluster, and whether the tasks are under the finish of another task."""

Bundle = list[Batch]
"""What travels to one other site."""


def tasks_of(bundle: Any) -> Bundle:
    """What a bundle holds of tasks."""
    return bundle.parcel or [] if isinstance(bundle, ParcelWithPackets) else bundle


Under = tuple[NDArray, NDArray, NDArray]
"""Nodes of tasks, and for each the node and slot of the finish that it is under: `HOME` and `SLOT`."""


class RecursiveSite(Site):
    """A `Site` with a queue of tasks.

    Attributes
    ----------
    vote
        The votes of the current finish, reduced.
    deepest
        Depth that tasks have reached.
    busy
        Seconds in which tasks of the finish were computed.
    """

    where = "depth"

    combines_early = True
    """Whether tasks are combined where they are spawned."""

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self.first_cluster = self.clusters[0].index
        self.offsets = self.clusters[0].partition.offsets
        self.scopes = [Scopes() for _ in self.clusters]
        self.vote = Vote()
        self.turn = 0
        self.deepest = 0
        self.queue: list[Key] = []
        self.waiting: dict[Key, list[UnicastBatch]] = {}
        self._out: dict[int, Bundle] = {}

    def progress(self) -> Progress:
        """How far the site is; which of its nodes are active is not known between rounds."""
        return Progress(self.deepest, None, self.log.sent)

    # Arrivals.

    def put(self, batch: Batch) -> None:
        """Queue tasks of one of this site's clusters."""
        depth, task, cluster, letters = batch
        key = depth, task, cluster, SLOT in letters.fields
        if key in self.waiting:
            self.waiting[key].append(letters)
        else:
            self.waiting[key] = [letters]
            heappush(self.queue, key)

    def accept(self, bundles: Iterable[Bundle]) -> None:
        """Queue what came from other sites."""
        for bundle in bundles:
            for batch in tasks_of(bundle):
                self.arrive(batch)

    def arrive(self, batch: Batch) -> None:
        """Queue what was sent."""
        self.put(batch)

    # Running tasks.

    def launch(self, turn: int, name: str) -> dict[int, Bundle]:
        """Begin a finish; returns what goes to other sites."""
        self.turn, self.vote = turn, Vote()
        step, begin = Step(0, name, False, turn, launches=True), perf_counter()
        clusters = range(len(self.clusters))
        results = [self.run(step, k, self._make_inbox(step, k, None)) for k in clusters]
        self.busy = perf_counter() - begin
        for k, result in enumerate(results):
            self._take(step, k, result)
        return self._leave()

    def due(self, out: Mapping[int, Bundle]) -> float:
        """When there are tasks to run, here or in `out`: infinite if there are none."""
        return 0 if out or self.queue else inf

    def tick(self, due: float) -> dict[int, Bundle]:
        """Run all tasks that are there, and none that these spawn.

        Parameters
        ----------
        due
            The least tick that is `due` at any site.
        """
        queue, self.queue = self.queue, []
        taken, self.waiting = self.waiting, {}
        while queue:
            self._run(heappop(queue), taken)
        return self._leave()

    def next(self) -> dict[int, Bundle]:
        """Run the batches of tasks that come first: those of the least depth and one name."""
        first = self.queue[0][:2]
        while self.queue and self.queue[0][:2] == first:
            self._run(heappop(self.queue), self.waiting)
        return self._leave()

    def _leave(self) -> dict[int, Any]:
        out, self._out = self._out, {}
        if out and self.room is not None:
            batches = [batch for bundle in out.values() for batch in bundle]
            self.room(batches[0].task, sum(batch.letters.nbytes for batch in batches))
        return out if self.workload is None else self.workload.add_packets(self.deepest, out)

    def _run(self, key: Key, waiting: dict[Key, list[UnicastBatch]]) -> None:
        """Run a batch of tasks, and take what they spawn."""
        depth, task, index, nested = key
        k = index - self.first_cluster
        self.deepest = max(self.deepest, depth)
        parts = waiting.pop(key)
        letters = concatenated(parts) if len(parts) > 1 else parts[0]
        if task == ENDED:
            self._close(k, self.scopes[k].ended(letters.fields[SLOT]))
            return
        begin, cluster = perf_counter(), self.clusters[k]
        if not letters.combines_early:
            letters = letters.by_sender()
        whole = len(parts) == 1 and self.combines_early and letters.combines_early
        if letters.combine is not None and not whole:
            letters = letters.combined(cluster.n)
        at = cluster.partition.position(letters.dst) - self.offsets[index]
        if nested:
            # finishes are told apart by node: a node's second task waits for the next batch
            _, first = np.unique(at, return_index=True)
            if len(first) < len(at):
                left = np.ones(len(at), bool)
                left[first] = False
                self.put(Batch(depth, task, index, letters.take(left)))
                letters, at = letters.take(first), at[first]
        messages = MessageList(
            at, letters.src, lambda name, order: letters.fields[name][order], cluster.size
        )
        step = Step(depth, task, False, self.turn)
        if self.spec.max_rounds is not None and depth >= self.spec.max_rounds:
            raise self.fault(step, k, f"tasks go deeper than max_rounds={self.spec.max_rounds}")
        inbox = self._make_inbox(step, k, messages)
        result = self.run(step, k, inbox, len(inbox))
        self.busy += perf_counter() - begin
        self._take(step, k, result, (inbox.node, inbox[HOME], inbox[SLOT]) if nested else None)

    def _make_inbox(self, step: Step, k: int, messages: MessageList | None) -> ClusterInbox:
        return self.make_inbox(step.round, self.clusters[k], 0, messages, self.mailbox.dtypes)

    def moment(self, step: Step) -> Moment:
        """When a step is, as the log has it."""
        step = self.logged(step)
        return step.turn, step.position, step.round, step.phase

    def _take(self, step: Step, k: int, result: Any, under: Under | None = None) -> None:
        """Count what tasks returned, and send what they spawned."""
        entry = self.log.entry(self.moment(step), self.new_tally)
        entry.compute[k] += self.compute[k]
        entry.cpu[k] += self.cpu[k]
        entry.tally.loads += int(self.loads[k])
        entry.tally.toil += float(self.toil[k])
        spawned = []
        for item in result if type(result) is tuple else (result,):
            if isinstance(item, Spawn):
                spawned.append(item)
            elif isinstance(item, Vote):
                self.vote = reduce_votes((self.vote, item))
            elif isinstance(item, Extra):
                entry.tally.add(item)
            elif isinstance(item, Note):
                entry.tally.note(item.values)
            elif item is not None:
                raise self.fault(step, k, f"returned {item!r}, which is no task to spawn")
        if under is not None and len(spawned) > 1:
            raise self.fault(step, k, "spawns more than one kind of task under another's finish")
        for item in spawned:
            self._spawn(step, k, item, entry.tally, under)
        if under is not None and not spawned:
            self._tell(k, *under)

    def _spawn(self, step: Step, k: int, item: Spawn, tally: Tally, under: Under | None) -> None:
        cluster = self.clusters[k]
        try:
            to = places(item.to, cluster.n)
            by = places(item.by, cluster.size)
            at = places(item.at, len(by), "spawning node")
        except InputError as error:
            raise self.fault(step, k, f"spawns {item.task!r} at {error}") from None
        if self.spec.check:
            if len(np.unique(by)) < len(by):
                raise self.fault(step, k, f"spawns {item.task!r} twice by the same node")
            model = self.mailbox.model
            self.mailbox.checked(step, k, checks.unicasts_of, model, cluster, by[at], to)
        fields = self.mailbox.columns(step, k, item.fields, len(to))
        src = cluster.ids[by[at]]
        letters = UnicastBatch(to, src, item.combine, fields)
        if self.disturbed is not None:
            up = self.disturbed.alive(src)
            letters, to, at, src = letters.take(up), to[up], at[up], src[up]
            fields = letters.fields
        tally.nbytes += sum(v.nbytes for v in fields.values())
        tally.active += int(np.count_nonzero(np.bincount(at, minlength=len(by))))
        owner = cluster.partition.owner(to)
        away, own = owner != cluster.index, to == src
        if item.repeat is None:
            tally.messages += len(to)
            tally.remote += int(np.count_nonzero(away))
            tally.to_self += int(np.count_nonzero(own))
            tally.opened += len(by)
            times = 1
        else:
            times = item.repeat[at]
            tally.messages += int(times.sum())
            tally.remote += int(times[away].sum())
            tally.to_self += int(times[own].sum())
            tally.opened += int(item.repeat.sum())
        if tally.pairs is not None:
            size = sum(v.nbytes for v in fields.values()) // max(len(to), 1)
            tally.pairs.add(cluster.index, owner, times, size)
        if self.disturbed is not None:
            # what is lost now is under no finish, so none waits for it
            letters, arrives = self.disturbed.along(letters)
            at, owner, src = at[arrives], owner[arrives], src[arrives]
            tally.note(self.disturbed.strikes())
        if item.then is not None or under is not None:
            if item.combine is not None:
                raise self.fault(step, k, "combines tasks that a finish counts")
            slots = self._open(step, k, item._replace(at=at), under)
            letters.fields.update({HOME: src, SLOT: slots[at]})
        self._send(k, step.round + 1, item.task, letters, owner)

    def _open(self, step: Step, k: int, item: Spawn, under: Under | None) -> NDArray[np.int64]:
        """Open a finish at each node that spawns; tasks whose nodes do not have ended."""
        above = None
        if under is not None:
            node, home, slot = under
            which = np.minimum(np.searchsorted(node, item.by), len(node) - 1)
            if (node[which] != item.by).any():
                raise self.fault(
                    step, k, "has a node spawn, under another's finish, that has no task"
                )
            rest = np.ones(len(node), bool)
            rest[which] = False
            self._tell(k, node[rest], home[rest], slot[rest])
            above = home[which], slot[which]
        left = np.bincount(item.at, minlength=len(item.by))
        slots = self.scopes[k].open(item.by, left, item.then, step.round, above)
        self._close(k, slots[left == 0])
        return slots

    def _close(self, k: int, slots: NDArray) -> None:
        """Close finishes that are over: queue their `then` tasks, or notify the finishes above them."""
        if not len(slots):
            return
        scopes, cluster = self.scopes[k], self.clusters[k]
        rows = scopes.close(slots)
        kinds = np.stack([rows["then"], rows["depth"], rows["home"] != NONE], axis=1)
        for kind in np.unique(kinds, axis=0).tolist():
            some = rows[(kinds == kind).all(axis=1)]
            code, depth, nested = kind
            then = scopes.thens[code]
            if then is None:
                self._tell(k, some["node"], some["home"], some["slot"])
                continue
            fields = {HOME: some["home"], SLOT: some["slot"]} if nested else {}
            ids = cluster.ids[some["node"]]
            self.put(Batch(depth, then, cluster.index, UnicastBatch(ids, ids, None, fields)))

    def _tell(self, k: int, nodes: NDArray, homes: NDArray, slots: NDArray) -> None:
        """Report ended tasks to the nodes of their finishes."""
        known = homes != NONE
        nodes, homes, slots = nodes[known], homes[known], slots[known]
        if len(homes):
            cluster = self.clusters[k]
            letters = UnicastBatch(homes, cluster.ids[nodes], None, {SLOT: slots})
            self._send(k, 0, ENDED, letters, cluster.partition.owner(homes))

    def _send(self, k: int, depth: int, task: str, letters: UnicastBatch, owner: NDArray) -> None:
        """Hand tasks to the clusters that own their nodes; always copies, so that nothing aliases a state."""
        if not len(owner):
            return
        if (owner == owner[0]).all():
            groups = [(int(owner[0]), concatenated([letters]))]
        else:
            owners, starts, order = group(owner, int(self.bounds[-1]))
            ends = zip(owners.tolist(), pairwise(starts.tolist()), strict=True)
            groups = [(cluster, letters.take(order[a:b])) for cluster, (a, b) in ends]
        for cluster, part in groups:
            if self.combines_early and part.combines_early:
                part = part.combined(self.clusters[0].n)
            batch = Batch(depth, task, cluster, part)
            site = int(np.searchsorted(self.bounds, cluster, side="right")) - 1
            if site == self.me:
                self.arrive(batch)
            else:
                self._out.setdefault(site, []).append(batch)
