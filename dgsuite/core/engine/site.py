"""A site: clusters that share a process (a worker, a task's worker, or the serial process).

A site runs a phase on each of its clusters and counts their messages, which go through its mailbox. The
styles differ only in what calls a site and how batches are transferred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError, Unfit
from dgsuite.base.kept_loops import tell
from dgsuite.core.engine import checks, registry
from dgsuite.core.engine.broadcast_type import warm
from dgsuite.core.engine.checks import CheckedInbox
from dgsuite.core.engine.inbox import ClusterInbox
from dgsuite.core.engine.log import Log
from dgsuite.core.engine.mailbox import Mailbox
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.pairs import EdgeBits, Pairs
from dgsuite.core.engine.program import Fault, Step, Tally, reduce_votes
from dgsuite.core.engine.progress import Progress
from dgsuite.core.engine.run_spec import PLAIN, RunSpec
from dgsuite.core.engine.workload import WorkloadRunner, without_packets
from dgsuite.kernels.bsp import Extra, Kernel, Known, Note, State, Vote
from dgsuite.partition.clusters.cluster import Cluster


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
    spec
        What all sites of the run get.
    threads
        How many do the work of a workload. Clusters run one after the other, in one thread.

    Attributes
    ----------
    mailbox
        Counts, packs and unpacks messages.
    fault
        Makes an error of what a phase did wrong.
    log
        What happened at the site so far.
    tally, compute, cpu, busy
        Of the last phase: what was counted, the seconds and the processor time of each cluster, and the
        seconds of all.

    quiet
        Whether the last phase needs no exchange.
    room
        Called with the phase and the bytes of what goes to other sites, if set; raises if there is no room.
    keeps, returned
        Whether to keep what the clusters returned from the last phase, for a checkpoint; and that.

    Raises
    ------
    InputError
        The kernel cannot run on such a graph.
    """

    where = "round"
    """What the program counts."""

    room: Callable[..., None] | None = None

    def __init__(
        self,
        kernel: Kernel,
        clusters: Sequence[Cluster],
        bounds: NDArray,
        me: int,
        spec: RunSpec = PLAIN,
        threads: int = 1,
    ) -> None:
        for cluster in clusters:
            if (problem := kernel.check(cluster)) is not None:
                raise InputError(f"kernel {kernel.name!r}: {problem}")
        self.kernel = kernel
        self.clusters = clusters
        self.bounds = np.asarray(bounds)
        self.me = me
        self.spec = spec
        self.fault = Fault(kernel.name, self.where, [c.index for c in clusters])
        self.log = Log(len(clusters))
        self.mailbox = Mailbox(
            kernel, clusters, self.bounds, me, self.fault, spec.check, spec.congest, spec.faults
        )
        self.disturbed = self.mailbox.disturbed
        self.make_inbox = CheckedInbox if spec.check else ClusterInbox
        self.states: list[State] = [kernel.first_state(c) for c in clusters]
        self.compute = [0.0] * len(clusters)
        self.cpu = [0.0] * len(clusters)
        self.busy = 0.0
        load = spec.workload
        where = clusters, self.bounds, me, threads
        self.workload = None if load is None else WorkloadRunner(load, *where)
        self.loads = np.zeros(len(clusters), np.int64)
        self.toil = np.zeros(len(clusters))
        self.tally = Tally()
        self.quiet = self.keeps = False
        self.returned: Sequence[Any] = ()
        self._messages: Any = None

    def warm(self) -> None:
        """Do before the clock starts what would otherwise fall into the first rounds."""
        warm(self.mailbox)

    def step(self, step: Step) -> dict[int, MessageBatch]:
        """Run a phase on every cluster; returns a batch for each other site that gets one."""
        begin = perf_counter()
        results = [self.run(step, k) for k in range(len(self.clusters))]
        self.busy = perf_counter() - begin
        return self.send(step, results)

    def send(self, step: Step, results: Sequence[Any]) -> dict[int, MessageBatch]:
        """Count and pack what the site's clusters returned from a phase; the end of `step`."""
        self._messages = None
        self.tally = tally = self.new_tally()
        sent: dict[type, list[tuple[int, Any]]] = {}
        votes: list[Vote] = []
        for k, result in enumerate(results):
            for item in result if type(result) is tuple else (result,):
                kind = type(item)
                if kind in registry.BY_SENT:
                    sent.setdefault(kind, []).append((k, item))
                elif kind is Vote:
                    votes.append(item)
                elif kind is Note:
                    tally.note(item.values)
                elif kind is Extra:
                    tally.add(item)
                elif item is not None:
                    raise self.fault(
                        step,
                        k,
                        f"returned {item!r}; a phase returns messages, such as bsp.broadcast(...), or votes, "
                        "bsp.vote(...), or several of them, or None",
                    )
        if self.keeps:
            self.returned = results
        tally.vote = reduce_votes(votes)
        self.quiet = Known in sent and not votes and self.workload is None
        if self.workload is not None:
            tally.loads, tally.toil = int(self.loads.sum()), float(self.toil.sum())
        batches = registry.send(self.mailbox, step, sent, tally)
        if batches and self.room is not None:
            self.room(step.phase, sum(batch.nbytes for batch in batches.values()))
        return batches if self.workload is None else self.workload.add_packets(step.round, batches)

    def logged(self, step: Step) -> Step:
        """A step as the log has it."""
        return step

    def timed(self, step: Step) -> Step:
        """A step as the network has it."""
        return step

    def progress(self) -> Progress:
        """How far the site is."""
        return self.log.progress()

    def new_tally(self) -> Tally:
        """Counts at zero."""
        return Tally(
            pairs=Pairs(int(self.bounds[-1])) if self.spec.trace else None,
            bits=None if self.spec.congest is None else EdgeBits(),
        )

    def deliver(self, batches: Mapping[int, MessageBatch]) -> None:
        """Take in the batches of other sites, and what this site kept: the next phase's inboxes."""
        if self.workload is not None:
            batches = without_packets(batches)
        self._messages = registry.deliver(self.mailbox, batches)

    def outputs(self) -> dict[str, NDArray]:
        """The kernel's results for the nodes of this site, or their rows of a table."""
        tell(self.kernel.name)
        if self.spec.check:
            try:
                checks.apart(self.states)
            except InputError as error:
                raise RunError(f"kernel {self.kernel.name!r}: {error}") from None
        if self.disturbed is not None and self.spec.channel is None:  # late tasks note theirs
            for name, values in self.disturbed.notes().items():
                self.log.note(name, values)
        held = {name: self._output(name) for name in self.kernel.outputs}
        return {
            n: found[0] if len(found) == 1 else np.concatenate(found) for n, found in held.items()
        }

    def _output(self, name: str) -> list[Any]:
        """A result of each cluster."""
        found = []
        for k, (cluster, state) in enumerate(zip(self.clusters, self.states, strict=True)):
            value = getattr(state, name, None)
            if self.disturbed is not None:
                value = self.disturbed.frozen(k, name, value)
            shape = value.shape if isinstance(value, np.ndarray) else ()
            if self.kernel.outputs[name].tabular and shape:
                found.append(value)
                continue
            if shape[:1] != (cluster.size,):
                raise RunError(
                    f"kernel {self.kernel.name!r}, cluster {cluster.index}: {name!r} is an output, so the "
                    f"state's must be an array with an entry for each of {cluster.size} nodes, not "
                    f"{type(value).__name__} of shape {shape}"
                )
            found.append(value)
        return found

    def run(
        self, step: Step, k: int, inbox: ClusterInbox | None = None, tasks: int | None = None
    ) -> Any:
        """Run a phase, or so many tasks, on the site's k-th cluster, and the workload of each, and time it.

        What the phase returns is for `send`.
        """
        cluster = self.clusters[k]
        if inbox is None:
            where = cluster, self.mailbox.starts[k]
            inbox = self.make_inbox(step.round, *where, self._messages, self.mailbox.dtypes)
            inbox.traced = self.spec.trace
        begin, cpu = perf_counter(), thread_time()
        network = self.disturbed if tasks is None else None  # tasks have that of their tick
        if network is not None:
            network.begin(self.timed(step))
            network.before(step, k, self.states[k])
        try:
            phase = getattr(self.kernel, step.phase)
            result = phase(cluster, self.states[k], inbox, **step.values)
        except Unfit as error:
            raise Unfit(str(self.fault(step, k, str(error)))) from None
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if "read-only" in said:
                said += ": copy arrays of a cluster or an inbox to change them"
            raise self.fault(step, k, said) from error
        if network is not None:
            result = network.after(step, k, self.states[k], result)
        if self.workload is not None:
            self.loads[k] = cluster.size if tasks is None else tasks
            spent = self.workload.work(int(self.loads[k]))
            self.toil[k] = sum(spent)
            cpu -= sum(spent[1:])
        self.compute[k], self.cpu[k] = perf_counter() - begin, thread_time() - cpu
        return result
