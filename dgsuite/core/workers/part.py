"""A worker's part of a run of style `finish_async`, and the tasks of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from distributed import get_worker
from numpy.typing import NDArray

from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import Step, reduce_votes
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.workers import plugin as worker
from dgsuite.core.workers.outputs import Outputs, ended
from dgsuite.core.workers.plugin import PeerLost
from dgsuite.core.workers.room import prepare
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


Sent = Bundle | list[Bundle]
"""What a worker sends, or relays."""


@dataclass
class Part:
    """What a run keeps on a worker."""

    site: Site
    epochs: Sequence[str]
    """Which process each of the run's workers is."""
    done: int = -1
    """The last phase that has begun."""
    started: float = field(default_factory=perf_counter)
    """When the first phase could begin."""
    packed: float = field(default_factory=perf_counter)
    """When the phase before was over."""
    relayed: int = 0
    """Bytes that the worker has relayed since."""

    def advance(self, number: int) -> None:
        """Refuse a task that is not of the phase after the last one.

        Dask repeats tasks whose results are lost; the state is past them.
        """
        if number != self.done + 1:
            raise PeerLost(
                f"worker {get_worker().address} was asked to repeat phase {number} after phase {self.done}"
            )
        self.done = number

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

    def votes(self, turn: int) -> Vote:
        """The votes of a turn, reduced over the worker's clusters."""
        return reduce_votes(self.site.log.votes_of(turn))


def open_part(
    run_id: str,
    kernel: Kernel,
    bounds: NDArray,
    epochs: Sequence[str],
    me: int,
    spec: RunSpec,
    clusters: Sequence[Cluster],
) -> None:
    """Task: make the run's site on worker number `me`, which must be the process that the run began with."""
    worker.fence(get_worker(), epochs[me])
    site = Site(kernel, clusters, bounds, me, spec, get_worker().state.nthreads)
    prepare(site)
    worker.plugin().keep(worker.task_key(), run_id, Part(site, epochs))


def relay(run_id: str, to: Sequence[int], others: int, bundles: Sequence[Sent]) -> list[Bundle]:
    """Task: what bundles have for some workers, together. It goes to so many other workers."""
    found = [
        bundle._replace(parcels={w: bundle.parcels[w] for w in to if w in bundle.parcels})
        for bundle in _each(bundles)
    ]
    worker.plugin().part(run_id).relayed += sum(bundle.nbytes for bundle in found) * others
    return found


def _each(bundles: Sequence[Sent]) -> list[Bundle]:
    """Bundles one by one."""
    return [one for some in bundles for one in ([some] if isinstance(some, Bundle) else some)]


def phase(run_id: str, step: Step, number: int, others: int, bundles: Sequence[Sent]) -> Bundle:
    """Task: take in what the workers sent in the phase before, compute, and pack what goes to others."""
    part: Part = worker.plugin().part(run_id)
    part.advance(number)
    part.deliver(number - 1, _each(bundles))
    site = part.site
    bundle = Bundle(number, site.me, part.epochs[site.me], site.step(step))
    site.tally.wire = bundle.nbytes * others + part.relayed  # it goes whole to each of them
    part.relayed = 0
    before, part.packed = part.packed, perf_counter()
    site.log.add(step, site.tally, site.compute, site.cpu, part.packed - before - site.busy)
    site.log.seconds = part.packed - part.started
    return bundle


def close_part(most: float, run_id: str) -> Outputs:
    """Task: this worker's results; see `dgsuite.core.workers.outputs.ended`."""
    site = worker.plugin().part(run_id).site
    return ended(site.clusters, [(site.outputs(), site.log)], most)
