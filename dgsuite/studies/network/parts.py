"""Faults of a network as users state them: nodes that crash or lie, and nodes that are apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from dgsuite.base.errors import InputError, one_of
from dgsuite.partition.labels.nodes import listed
from dgsuite.studies.network.names import is_whole, made, probability, whole
from dgsuite.studies.network.strategies import STRATEGIES, Adds, Strategy


@dataclass(frozen=True)
class Crash:
    """A node that crashes: from then on it neither computes nor sends.

    Parameters
    ----------
    node
        Its label; its node id where the graph has no labels.
    round
        Round in which it crashes, from 0.
    phase
        Name of the phase of the round in which it crashes; by default the first one.
    partial
        Whether it crashes while it sends what the phase has it send: each of these messages arrives with
        probability 1/2. Otherwise it crashes before the phase.
    receivers
        Those nodes to which it has sent its messages of the phase when it crashes, in place of chance.
    until
        The round before which it is back; by default it stays away. It misses what was sent before.
    memory
        Whether its state is then that of the crash, as where it is on disk, or else the first one of the run.

    Examples
    --------
    >>> import dgsuite
    >>> dgsuite.Crash(3, round=2, partial=True)
    Crash(node=3, round=2, phase=None, partial=True, until=None, memory=True, receivers=None)
    """

    node: Any
    round: int = 0
    phase: str | None = None
    partial: bool = False
    until: int | None = None
    memory: bool = True
    receivers: Iterable[Any] | None = None

    def __post_init__(self) -> None:
        whole("round of a crash", self.round, 0)
        if self.receivers is not None:
            told = listed(self.receivers, "receivers of a crash")
            object.__setattr__(self, "receivers", tuple(told))
            object.__setattr__(self, "partial", True)
        if self.phase is not None and not isinstance(self.phase, str):
            raise InputError(f"phase of a crash must be the name of one, got {self.phase!r}")
        if self.until is not None and not (is_whole(self.until) and self.until > self.round):
            raise InputError(
                f"until of a crash must be a round after {self.round}, that of the crash, got "
                f"{self.until!r}"
            )


@dataclass(frozen=True)
class Partition:
    """A group of nodes that is cut off from all other nodes for some rounds.

    Parameters
    ----------
    first
        Round from which on they are apart.
    end
        Round before which they are together again; by default they stay apart.
    nodes
        Labels, or node ids, of the group.
    one_way
        Whether the group still hears the others: only its messages to them are lost.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> network = dgsuite.Network(partitions=[dgsuite.Partition(0, nodes=[2, 3])])
    >>> ds = dgsuite.run("bfs", graph, network=network)
    >>> ds.level.values, ds.struck.sel(fault="partitions").values
    (array([ 0,  1, -1, -1], dtype=int32), array([1, 0]))
    """

    first: int
    end: int | None = None
    nodes: Iterable[Any] = ()
    one_way: bool = False

    def __post_init__(self) -> None:
        whole("first round of a partition", self.first, 0)
        if self.end is not None:
            whole("end of a partition, a round after its first,", self.end, self.first + 1)
        nodes = listed(self.nodes, "nodes of a partition")
        if not len(nodes):
            raise InputError("a partition needs nodes, those of one side")
        object.__setattr__(self, "nodes", nodes)


@dataclass(frozen=True)
class Byzantine:
    """Nodes that lie: what they send is rewritten before it arrives.

    Parameters
    ----------
    nodes
        Their labels, or node ids, in any collection; an array of truth values, one for each node; or, as a
        share from 0 to 1, how many nodes lie, drawn by the seed.
    strategy
        "silent": they send nothing. "constant": every field is 0. "random": every field has a random value of
        its range. "two-faced": half of the receivers get what the node would have sent, the others random
        values. "truth": what the node would have sent. Or a function of a
        `dgsuite.studies.network.strategies.Sent`, which returns the fields.
    adds
        Of event-driven kernels, what the nodes send beyond their program: a function of a `Sent` that has a
        possible message from each of the nodes to each neighbour, whose fields are 0. It returns which of
        them are sent, an array of truth values, and a mapping from fields to values. The strategy then
        rewrites these messages, too.

    Examples
    --------
    >>> import dgsuite
    >>> dgsuite.Byzantine([0, 4], "random")
    Byzantine(nodes=[0, 4], strategy='random', adds=None)

    Node 0 says in tick 1 that it is ready to deliver 1, though nothing has made it so:

    >>> import numpy as np
    >>> def claims(sent):
    ...     return np.full(len(sent.src), sent.round == 1), {"kind": 2, "value": 1}
    >>> network = dgsuite.Network(byzantine=dgsuite.Byzantine([0], "truth", claims))
    >>> four = dgsuite.Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    >>> ds = dgsuite.run("bracha", four, sender=1, value=0, network=network)
    >>> ds.messages.values, ds.delivered.values
    (array([ 6, 12, 12,  0]), array([0, 0, 0, 0]))
    """

    nodes: Iterable[Any] | float
    strategy: str | Strategy = "random"
    adds: Adds | None = None

    def __post_init__(self) -> None:
        if isinstance(self.nodes, Real):
            object.__setattr__(self, "nodes", probability("nodes of byzantine", self.nodes))
        else:
            object.__setattr__(self, "nodes", listed(self.nodes, "nodes of byzantine"))
        if not callable(self.strategy):
            one_of("strategy of byzantine", self.strategy, (*STRATEGIES, "silent"))
        if self.adds is not None and (not callable(self.adds) or self.strategy == "silent"):
            raise InputError(
                f"adds must be a function, of liars that are not 'silent', got {self!r}"
            )


def crashes_of(given: Any) -> float | tuple[Crash, ...]:
    """Crashes as a probability, or one by one."""
    if isinstance(given, Real):
        return probability("crashes", given)
    if isinstance(given, Mapping):
        return tuple(Crash(node, when) for node, when in given.items())
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InputError(
            "crashes must be a probability from 0 to 1, a mapping from nodes to rounds, or a sequence of "
            f"dgsuite.Crash, got {given!r}"
        )
    return tuple(made(Crash, one, "crashes") for one in given)


def drop_of(given: Any) -> tuple[int, Any, Any]:
    """A message that is lost."""
    if isinstance(given, Sequence) and len(given) == 3 and is_whole(given[0]) and given[0] >= 0:
        return (int(given[0]), given[1], given[2])
    raise InputError(f"drops must be triples of round (from 0), sender and receiver, got {given!r}")


def absence_of(given: Any) -> tuple[Any, ...]:
    """What is away for some rounds."""
    if isinstance(given, Sequence) and len(given) in (3, 4) and all(map(is_whole, given[:2])):
        first, end, *nodes = given
        if 0 <= first < end:
            return (int(first), int(end), *nodes)
    raise InputError(
        f"churn must be triples of first round, end (after the last) and node, or these and a neighbour, got "
        f"{given!r}"
    )


def partition_of(given: Any) -> Partition:
    """Nodes that are apart from all others."""
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) in (3, 4):
        given = dict(zip(("first", "end", "nodes", "one_way"), given, strict=False))
    found: Partition = made(Partition, given, "partitions")
    return found


READERS = {"drops": drop_of, "churn": absence_of, "partitions": partition_of}
"""What an item of a list of faults is read by."""
