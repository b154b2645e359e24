"""A worker's part of a run of style `finish_async`, and the tasks of the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from distributed import get_worker
from numpy.typing import NDArray

from dgsuite.core.engine.checkpointed import Fresh, begun
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import Step, reduce_votes
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.plugin import PeerLost
from dgsuite.core.workers.results import Outputs, ended
from dgsuite.core.workers.room import hold_to_limit
from dgsuite.kernels.bsp import Kernel, Vote
from dgsuite.partition.clusters.cluster import Cluster


class Bundle(NamedTuple):
    """What a worker sends in a phase."""

    number: int
    """Of the phase."""
    sender: int
    """Number of the worker."""
    epoch: str
    """Which process sends it."""
    parcels: dict[int, MessageBatch]
    """By receiving worker."""

    @property
    def nbytes(self) -> int:
        """Bytes of all parcels."""
        return sum(parcel.nbytes for parcel in self.parcels.values())


@dataclass
class Part:
    """What a run keeps on a worker."""

    site: Site
    epochs: Sequence[str]
    """Which process each of the run's workers is."""
    results: list[Any]
    """What each cluster returned from the phase."""
    kept: Fresh
    """What the run goes on from, and its checkpoints."""
    done: dict[tuple[str, int], int] = field(default_factory=dict)
    """The last phase in which each task has begun: by what it does, and its thread."""
    waiting: deque[int] = field(default_factory=deque)
    """Clusters that have not begun the phase; each thread takes one after the other."""
    spans: list[tuple[float, float]] = field(default_factory=list)
    """When clusters computed in the phase: begin and end of each task."""
    started: float = 0.0
    """When the first phase began, as if the run had not been broken off since."""
    packed: float = field(default_factory=perf_counter)
    """When the phase before was over."""

    def advance(self, number: int, does: str, thread: int = 0, first: int = 0) -> None:
        """Refuse a task that is not of the phase after its last one; its first phase has the number `first`.

        Dask repeats tasks whose results are lost; the state is past them.
        """
        before = self.done.get((does, thread), first - 1)
        if number != before + 1:
            raise PeerLost(
                f"worker {get_worker().address} was asked to repeat phase {number} after phase {before}"
            )
        self.done[does, thread] = number

    def deliver(self, number: int, bundles: Sequence[Bundle]) -> None:
        """Take in what the bundles of a phase have for this worker."""
        for bundle in bundles:
            if bundle.number != number or bundle.epoch not in self.epochs:
                raise PeerLost(
                    f"worker {get_worker().address} got messages of phase {bundle.number} after phase "
                    f"{number}, or of a process that is not the run's"
                )
        me = self.site.me
        self.site.deliver({b.sender: b.parcels[me] for b in bundles if me in b.parcels})

    @property
    def first(self) -> int:
        """Number of the first phase: what a checkpoint has the site send once more comes before."""
        return len(self.kept.sends)

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over the worker's clusters."""
        return reduce_votes(self.site.log.votes_of(turn))


def open_part(
    run_id: str,
    kernel: Kernel,
    clusters: Sequence[Cluster],
    bounds: NDArray,
    epochs: Sequence[str],
    me: int,
    spec: RunSpec,
) -> None:
    """Task: make the run's site on worker number `me`, which must be the process that the run began with."""
    worker.fence(get_worker(), epochs[me])
    site = Site(kernel, clusters, bounds, me, spec)
    site.use_threads(get_worker().state.nthreads)
    site.warm()
    hold_to_limit(site)
    kept = begun(spec.checkpoints, site)
    part = Part(site, epochs, [None] * len(clusters), kept)
    part.started = part.packed - site.log.seconds
    worker.plugin().keep(worker.task_key(), run_id, part)


def _part(run_id: str) -> Part:
    try:
        part: Part = worker.plugin().runs[run_id]
    except KeyError:
        raise PeerLost(
            f"run {run_id} is not on worker {get_worker().address}: it is over, or was lost"
        ) from None
    return part


def deliver(run_id: str, number: int, bundles: Sequence[Bundle]) -> None:
    """Task: take in what the workers packed in the phase before."""
    part = _part(run_id)
    part.advance(number, "deliver", first=part.first)
    part.deliver(number - 1, bundles)
    part.waiting.extend(range(len(part.results)))


def compute(run_id: str, number: int, step: Step, thread: int, delivered: None) -> None:
    """Task: a phase of the worker's clusters that no other thread has begun."""
    part = _part(run_id)
    part.advance(number, "phase", thread, first=part.first)
    while True:
        try:
            k = part.waiting.popleft()
        except IndexError:  # other threads have taken the rest
            return
        begin = perf_counter()
        part.results[k] = part.site.run(step, k)
        part.spans.append((begin, perf_counter()))


def pack(run_id: str, number: int, step: Step, others: int, phases: Sequence[None]) -> Bundle:
    """Task: pack what the worker's clusters send to other workers, and record the phase."""
    part = _part(run_id)
    part.advance(number, "pack", first=part.first)
    site = part.site
    bundle = Bundle(number, site.me, part.epochs[site.me], site.send(step, part.results))
    part.results = [None] * len(part.results)
    site.tally.wire = bundle.nbytes * others  # it goes whole to each of them
    before, part.packed = part.packed, perf_counter()
    waited = part.packed - before - covered(part.spans)
    part.spans.clear()
    site.log.add(step, site.tally, site.compute, site.cpu, waited)
    site.log.seconds = part.packed - part.started
    return bundle


def whole(run_id: str, number: int, step: Step, others: int, bundles: Sequence[Bundle]) -> Bundle:
    """Task: a phase of a worker that computes in one thread."""
    deliver(run_id, number, bundles)
    compute(run_id, number, step, 0, None)
    return pack(run_id, number, step, others, ())


def again(run_id: str, number: int, others: int, bundles: Sequence[Bundle]) -> Bundle:
    """Task: send once more what a checkpoint has of the worker's clusters."""
    part = _part(run_id)
    part.advance(number, "again")
    site, me = part.site, part.site.me
    if number:
        part.deliver(number - 1, bundles)
    return Bundle(number, me, part.epochs[me], part.kept.resent(site, number))


def keep(run_id: str, number: int, bundle: Bundle) -> Bundle:
    """Task: write a checkpoint before the messages of a phase go on."""
    part = _part(run_id)
    if part.done["pack", 0] != number:
        raise PeerLost(f"worker {get_worker().address} is past phase {number}")
    part.kept.write()
    part.packed = perf_counter()
    return bundle


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of some spans."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total


def close_part(run_id: str, most: float) -> Outputs:
    """Task: this worker's results; see `dgsuite.core.workers.results.ended`."""
    site = _part(run_id).site
    return ended([(site.outputs(), site.log)], most)
