"""An adversary that sees the messages of a phase before it strikes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.executions import Execution, Moment
from dgsuite.studies.lab.searching import refuse_labels
from dgsuite.studies.network.network import Network
from dgsuite.studies.network.parts import Byzantine, Crash
from dgsuite.studies.network.strategies import Sent

Aim = Callable[[Moment], Iterable[Any]]
"""What an adversary strikes in a phase; see `rushing`."""


@dataclass(frozen=True)
class Script:
    """What liars say, message by message: a strategy of `dgsuite.Byzantine`.

    Attributes
    ----------
    lies
        Round and phase, sender and receiver, and values of fields. All else is the truth.
    """

    lies: tuple[tuple[int, str, int, int, Mapping[str, Any]], ...] = ()

    def __call__(self, sent: Sent) -> Mapping[str, Any]:
        said = {name: values.copy() for name, values in sent.fields.items()}
        for round_, phase, src, dst, fields in self.lies:
            if (round_, phase) == (sent.round, sent.phase):
                which = (sent.src == src) & (sent.dst == dst)
                for name, value in fields.items():
                    said[name][which] = value
        return said


def rushing(
    kernel: str | type[Kernel],
    graph: Graph,
    aim: Aim,
    *,
    budget: int = 1,
    liars: Iterable[int] = (),
    **how: Any,
) -> Network:
    """The faults of an adversary that sees a phase's messages, and all states, before it strikes.

    The execution is repeated up to the phase in which it strikes. So the network that results has only faults
    that are listed: a run with it is the same in any style, on any clusters and workers.

    Parameters
    ----------
    kernel, graph
        As of `Execution`; the graph without labels.
    aim
        Called after each phase with its `Moment`. It returns what it strikes in the phase, any number of:
        ``Crash(node, receivers=...)``, whose round and phase are filled in; a sender and a receiver, whose
        message is lost; and a liar, a receiver, and a mapping from fields to what the liar says instead.
    budget
        Crashes and lost messages at most; more are not struck. Lies have no bound.
    liars
        Nodes that lie. What one says may depend on what all nodes know and send.
    how
        As of `Execution`: parameters of the kernel, ``seed``, ``max_rounds``, and ``network``, whose faults
        strike as well.

    Raises
    ------
    InputError
        A triple names a sender that is no liar, or the graph has labels.

    Examples
    --------
    An adversary that hides the leader: the first message of the node with the largest identifier is lost.

    >>> import dgsuite
    >>> path = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> def hides(moment):
    ...     sent = moment.messages
    ...     return [(u, v) for u, v in zip(sent.sender, sent.receiver) if u == 3]
    >>> network = dgsuite.lab.rushing("floodmax", path, hides, budget=1, opt=True)
    >>> network.drops, dgsuite.run("floodmax", path, network=network, opt=True).leader.values
    (((0, 3, 2),), array([2, 2, 2, 3]))
    """
    refuse_labels(graph)
    nodes = [*liars]
    network: Network = Network.of(how.pop("network", None)) or Network()
    if nodes:
        network = replace(network, byzantine=Byzantine(nodes, Script()))
    seen = 0
    while True:
        execution = Execution(kernel, graph, network=network, **how)
        for number, moment in enumerate(execution.moments()):
            if number < seen:
                continue
            seen = number + 1
            struck = _struck(network, moment, aim(moment), budget)
            if struck is not None:
                network, spent = struck
                budget -= spent
                break
        else:
            return network


def _struck(
    network: Network, moment: Moment, wanted: Iterable[Any], budget: int
) -> tuple[Network, int] | None:
    """The network with what is struck in a phase, and how much of the budget that takes; None for nothing."""
    step, found, spent = moment.step, network, 0
    for one in wanted:
        if not isinstance(one, Crash) and len(one) == 3:
            src, dst, fields = int(one[0]), int(one[1]), one[2]
            liars: Any = found.byzantine
            if liars is None or src not in liars.nodes:
                raise InputError(f"aim of rushing: node {src} is no liar: name it in liars=")
            lie = step.round, step.phase, src, dst, fields
            script = Script((*liars.strategy.lies, lie))
            found = replace(found, byzantine=Byzantine(liars.nodes, script))
        elif spent < budget:
            spent += 1
            if isinstance(one, Crash):
                crash = replace(one, round=step.round, phase=step.phase)
                found = replace(found, crashes=(*found.crashes, crash))  # type: ignore[misc]
            else:
                drop = step.round, int(one[0]), int(one[1])
                found = replace(found, drops=(*found.drops, drop))
    return None if found is network else (found, spent)
