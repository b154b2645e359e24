"""What happens to nodes and messages: functions of the seed, the phase, the sender and the receiver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.base.mixing import Domain, key, keyed, unit
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.network import Target
from dgsuite.studies.network.adversary import Attack, Campaign, struck
from dgsuite.studies.network.chances import ALWAYS, Chances, halved, limit
from dgsuite.studies.network.strategies import STRATEGIES, Limits, Sent, Strategy, told

if TYPE_CHECKING:
    from dgsuite.core.engine.program import Fault
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.clusters.halo import Halo
    from dgsuite.studies.network.disturbed import Disturbed
    from dgsuite.studies.network.network import Crash

NEVER = 1 << 62
"""The round of a crash that does not happen."""

Fields = Mapping[str, NDArray]
"""What messages say, by field."""


@dataclass(frozen=True)
class Liars:
    """Which nodes lie, and how.

    Attributes
    ----------
    nodes
        Node ids, or the probability that a node is one of them.
    strategy
        Of `STRATEGIES`, "silent", or a function.
    """

    nodes: NDArray[np.int64] | float
    strategy: str | Strategy

    def mask(self, n: int, seed: int) -> NDArray[np.bool_]:
        """Whether each of n nodes lies."""
        if isinstance(self.nodes, float):
            words = keyed(key(seed, 0, Domain.LIARS), np.arange(n))
            return (words >> np.uint64(11)) < limit(self.nodes)
        found = np.zeros(n, bool)
        found[self.nodes] = True
        return found


@dataclass(frozen=True)
class Faults:
    """The faults of a run, on the node ids of its graph; `dgsuite.Network` makes them.

    Attributes
    ----------
    seed
        Key of all chance; None for that of the run.
    loss
        Probability that a message is lost: shape (), or (n,) by node.
    by_receiver
        Whether that is the receiver, and not the sender.
    drops
        Rounds, senders and receivers of messages that are lost for sure: int64, shape (3, drops).
    churn
        Of what is away: first round, end, node, and neighbour or -1 for all; int64, shape (4, absences).
    crashes
        Crashes one by one; their nodes are node ids.
    rate
        Probability that any other node crashes in a round.
    liars
        Which nodes lie, if any.
    attack
        What strikes by what it sees of the run, if anything.
    by_weight
        Whether the weight of an edge is the probability that a message along it is lost.
    """

    seed: int | None
    loss: NDArray[np.float64]
    by_receiver: bool
    drops: NDArray[np.int64]
    churn: NDArray[np.int64]
    crashes: Sequence[Crash]
    rate: float
    liars: Liars | None
    attack: Attack | None = None
    by_weight: bool = False

    def of_run(self, seed: int) -> Faults:
        """The faults of a run with a seed."""
        return self if self.seed is not None else replace(self, seed=seed)

    def at_site(self, kernel: Kernel, clusters: Sequence[Cluster], fault: Fault) -> Disturbed:
        """The faults at a site."""
        from dgsuite.studies.network.disturbed import Disturbed

        return Disturbed(self, kernel, clusters, fault)

    def campaign(self) -> Campaign | None:
        """What the adversary strikes in each round, if there is one."""
        return None if self.attack is None else Campaign(self.attack)

    @property
    def spares(self) -> bool:
        """Whether there are none: an adversary has messages take longer, which changes no output."""
        return self.attack is not None and self.attack.adversary.delays

    def dropped(self, round: int) -> NDArray[np.int64]:
        """Senders and receivers between which no message of a round arrives: shape (2, drops)."""
        first, end, node, other = self.churn
        away = (first <= round) & (round < end) & (other >= 0)
        both = np.stack([node[away], other[away]])
        return np.concatenate([self.drops[1:, self.drops[0] == round], both, both[::-1]], axis=1)

    def away(self, round: int) -> NDArray[np.int64]:
        """Nodes that are away in a round."""
        first, end, node, other = self.churn
        return node[(first <= round) & (round < end) & (other < 0)]

    def crash_rounds(self, n: int) -> NDArray[np.int64]:
        """By node, the round in which it crashes, `NEVER` for none: shape (n,)."""
        found = np.full(n, NEVER)
        if self.rate:
            luck = unit(keyed(key(self.seed or 0, 0, Domain.CRASHES), np.arange(n)))
            with np.errstate(divide="ignore", over="ignore"):
                waits = np.log1p(-luck) / np.log1p(-self.rate)
            found = np.minimum(waits, NEVER).astype(np.int64)
        found[[crash.node for crash in self.crashes]] = [crash.round for crash in self.crashes]
        return found

    def crashed(self, n: int, turns: Iterable[tuple[int, Iterable[Target]]]) -> NDArray[np.int64]:
        """By node, the round of a run in which it crashed last, `NEVER` for none: shape (n,).

        Parameters
        ----------
        turns
            See `dgsuite.studies.network.adversary.struck`.
        """
        found = self.crash_rounds(n)
        if self.attack is None or not self.attack.adversary.crashes:
            return found
        back = np.full(n, NEVER)
        for crash in self.crashes:
            back[crash.node] = crash.until or NEVER
        for round_, strikes in struck(self.attack, turns).items():
            for node, _ in strikes:
                if not found[node] <= round_ < back[node]:
                    found[node] = round_
                    back[node] = NEVER
        return found

    def limits(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Limits below which a message is lost, by sender and by receiver: shape (1,) or (n,) each."""
        own, none = np.atleast_1d(limit(self.loss)), np.zeros(1, np.uint64)
        source, target = (none, own) if self.by_receiver else (own, none)
        if self.liars is not None and self.liars.strategy == "silent":
            mask = self.liars.mask(n, self.seed or 0)
            source = np.where(mask, np.uint64(ALWAYS), source)
        return source, target

    def key(self, domain: Domain, turn: int, position: int) -> NDArray[np.uint64]:
        """The key of a phase, shape (1,)."""
        return keyed(key(self.seed or 0, turn, domain), np.array([position]))


@dataclass(frozen=True, eq=False)
class Fate:
    """What becomes of the messages of one phase.

    Attributes
    ----------
    key
        Of the phase.
    source, target
        Limits below which a message is lost, by sender and by receiver: shape (1,) or (n,).
    dead
        By node, whether nothing reaches it.
    away
        By node, whether nothing that it sends arrives; None if there are none.
    falling
        By node, whether it crashes while it sends: then half of the messages that the network would not lose
        are lost. None if there are none.
    lies
        What rewrites messages, if anything.
    drops
        Senders and receivers between which no message arrives: shape (2, drops).
    chances
        What is lost by edge, if anything.
    """

    key: NDArray[np.uint64]
    source: NDArray[np.uint64]
    target: NDArray[np.uint64]
    dead: NDArray[np.bool_]
    away: NDArray[np.bool_] | None
    falling: NDArray[np.bool_] | None
    lies: Lies | None
    drops: NDArray[np.int64]
    chances: Chances | None = None

    @property
    def by_message(self) -> bool:
        """Whether messages have to be looked at one by one."""
        return self.lies is not None or self.drops.size > 0 or self.chances is not None

    def arrives(
        self, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> tuple[NDArray[np.bool_], int]:
        """Which messages arrive, and how many of those to living nodes do not; parameters as of `lost`."""
        lost, reached = self.lost(src, dst, number), ~self.dead[dst]
        return reached & ~lost, int(np.count_nonzero(lost & reached))

    def told(
        self, fields: Fields, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> dict[str, NDArray]:
        """The fields of messages as they arrive; empty if nobody lies. Parameters as of `lost`."""
        return {} if self.lies is None else self.lies.told(fields, src, dst, number)

    def sieve(self, halo: Halo, sent: NDArray, starts: NDArray, kept: NDArray) -> int:
        """Put the entries of a halo along which messages arrive into rows, by a compiled loop.

        Parameters
        ----------
        sent
            bool, by slot: which nodes sent.
        starts, kept
            Where the rows are put, as `indptr` and `indices`.

        Returns
        -------
        How many messages are lost.
        """
        from dgsuite.studies.network._sieve import AWAY, FALLING, sieve

        codes = sent.view(np.uint8)
        for code, nodes in ((FALLING, self.falling), (AWAY, self.away)):
            if nodes is not None:
                which = nodes if halo.ids is None else nodes[halo.ids]
                codes = codes.copy()
                codes[: halo.slots][which & sent[: halo.slots]] = code
        along = halo.indptr, halo.indices, halo.names, halo.first, codes
        fates = self.key[0], self.source, self.target, self.dead
        return int(sieve(*along, *fates, starts, kept))

    def lost(self, src: NDArray, dst: NDArray, number: NDArray | None = None) -> NDArray[np.bool_]:
        """Which messages are lost on their way.

        Parameters
        ----------
        src, dst
            Node ids of sender and receiver of each.
        number
            Of each, how many the sender has sent the receiver before in this phase; by default none.
        """
        limits = np.maximum(_at(self.source, src), _at(self.target, dst))
        if self.chances is not None:
            limits = np.maximum(limits, self.chances.of(src, dst))
        if self.falling is not None:
            limits = np.where(self.falling[src], halved(limits), limits)
        found = (_hash(self.key, src, dst, number) >> np.uint64(11)) < limits
        if self.away is not None:
            found |= self.away[src]
        if self.drops.size:
            n = len(self.dead)
            found |= np.isin(pair_key(src, dst, n), pair_key(self.drops[0], self.drops[1], n))
        return found


@dataclass(frozen=True, eq=False)
class Lies:
    """What rewrites the messages of nodes that lie, in one phase.

    Attributes
    ----------
    key
        Of the phase.
    mask
        By node, whether it lies.
    strategy
        A name, or a function.
    counts
        By field, how many values it can have, or 0.
    limits
        By field, its least and greatest value: lies are held to them.
    round, phase
        Of what is sent.
    """

    key: NDArray[np.uint64]
    mask: NDArray[np.bool_]
    strategy: str | Strategy
    counts: Mapping[str, int]
    limits: Mapping[str, Limits]
    round: int
    phase: str

    def told(
        self, fields: Fields, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> dict[str, NDArray]:
        """The fields of messages, once those that lie have rewritten theirs."""
        which = np.flatnonzero(self.mask[src])
        if not len(which) or not fields:
            return dict(fields)
        some = {name: values[which] for name, values in fields.items()}
        ends = src[which].astype(np.int64), dst[which].astype(np.int64)
        luck = _hash(self.key, *ends, None if number is None else number[which])
        sent = Sent(some, *ends, luck, self.counts, self.round, self.phase)
        strategy = STRATEGIES[self.strategy] if isinstance(self.strategy, str) else self.strategy
        try:
            lies = told(strategy(sent), some, self.limits)
        except Exception as error:
            raise RunError(
                f"round {self.round}, phase {self.phase!r}: the strategy of byzantine fails: "
                f"{type(error).__name__}: {error}"
            ) from error
        found = {name: values.copy() for name, values in fields.items()}
        for name, values in lies.items():
            found[name][which] = values
        return found


def _hash(key: NDArray, src: NDArray, dst: NDArray, number: NDArray | None) -> NDArray[np.uint64]:
    """Random bits of messages; `_sieve.sieve` has the same."""
    found = keyed(keyed(key, dst), src)
    if number is not None and number.any():
        found = np.where(number > 0, keyed(found, number), found)
    return found


def _at(values: NDArray[np.uint64], nodes: NDArray) -> NDArray[np.uint64]:
    return values if len(values) == 1 else values[nodes]
