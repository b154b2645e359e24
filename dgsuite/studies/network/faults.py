"""What happens to nodes and messages: functions of the seed, the phase, the sender and the receiver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.base.mixing import Domain, key, keyed, unit
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.network import Target
from dgsuite.studies.network.adversary import CRASHES, Adversary, Campaign, struck
from dgsuite.studies.network.strategies import STRATEGIES, Limits, Sent, Strategy, told

if TYPE_CHECKING:
    from dgsuite.core.engine.program import Fault
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.clusters.halo import Halo
    from dgsuite.studies.network.disturbed import Disturbed

NEVER = 1 << 62
"""The round of a crash that does not happen."""

ALWAYS = 1 << 53
"""The limit below which all of the numbers lie that decide whether a message is lost."""

HALF = np.uint64(ALWAYS // 2)
ONE = np.uint64(1)


def limit(probability: Any) -> NDArray[np.uint64]:
    """The number below which that part of all numbers from 0 to `ALWAYS` lies."""
    return np.floor(np.asarray(probability, np.float64) * ALWAYS).astype(np.uint64)


def halved(limit: Any) -> Any:
    """The limit of messages of a node that crashes while it sends: they arrive half as often."""
    return HALF + (limit >> ONE)


class Liars(NamedTuple):
    """Which nodes lie, and how."""

    nodes: NDArray[np.int64] | float
    """Node ids, or the probability that a node is one of them."""
    strategy: str | Strategy
    """Of `STRATEGIES`, "silent", or a function."""


@dataclass(frozen=True)
class Faults:
    """The faults of a run, on the node ids of its graph; `dgsuite.Network` makes them.

    Attributes
    ----------
    seed
        Key of all chance; None for that of the run.
    loss
        Probability that a message is lost: shape (), or (n,) by sender.
    drops
        Rounds, senders and receivers of messages that are lost for sure: int64, shape (3, drops).
    churn
        Of what is away: first round, end, node, and neighbour or -1 for all; int64, shape (4, absences).
    crashes
        Probability that a node crashes in a round, while it sends; or nodes, rounds, and whether they crash
        while they send: int64, shape (3, crashes).
    liars
        Which nodes lie, if any.
    adversary
        What strikes by what it sees of the run, if anything; see `Adversary.on`.
    """

    seed: int | None
    loss: NDArray[np.float64]
    drops: NDArray[np.int64]
    churn: NDArray[np.int64]
    crashes: float | NDArray[np.int64]
    liars: Liars | None
    adversary: Adversary | None

    def of_run(self, seed: int) -> Faults:
        """The faults of a run with a seed."""
        return self if self.seed is not None else replace(self, seed=seed)

    def at_site(self, kernel: Kernel, clusters: Sequence[Cluster], fault: Fault) -> Disturbed:
        """The faults at a site."""
        from dgsuite.studies.network.disturbed import Disturbed

        return Disturbed(self, kernel, clusters, fault)

    def campaign(self) -> Campaign | None:
        """What the adversary strikes in each round, if there is one."""
        return None if self.adversary is None else Campaign(self.adversary)

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

    def crash_rounds(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """By node, the round in which it crashes, `NEVER` for none, and whether it crashes while it sends:
        shape (n,) each.
        """
        rounds, sending = np.full(n, NEVER), np.ones(n, bool)
        if isinstance(self.crashes, np.ndarray):
            nodes, when, how = self.crashes
            rounds[nodes], sending[nodes] = when, how
        elif self.crashes:
            luck = unit(keyed(key(self.seed or 0, 0, Domain.CRASHES), np.arange(n)))
            with np.errstate(divide="ignore", over="ignore"):
                waits = np.log1p(-luck) / np.log1p(-self.crashes)
            rounds = np.minimum(waits, NEVER).astype(np.int64)
        return rounds, sending

    def crashed(self, n: int, turns: Iterable[tuple[int, Iterable[Target]]]) -> NDArray[np.int64]:
        """By node, the round of a run in which it crashed, `NEVER` for none: shape (n,).

        Parameters
        ----------
        turns
            See `dgsuite.studies.network.adversary.struck`.
        """
        rounds, _ = self.crash_rounds(n)
        if self.adversary is not None and self.adversary.spends == CRASHES:
            for round_, strikes in struck(self.adversary, turns).items():
                for node, _ in strikes:
                    rounds[node] = min(rounds[node], round_)
        return rounds

    def lying(self, n: int) -> NDArray[np.bool_]:
        """By node, whether it lies: shape (n,)."""
        found = np.zeros(n, bool)
        if self.liars is None:
            return found
        if isinstance(self.liars.nodes, float):
            words = keyed(key(self.seed or 0, 0, Domain.LIARS), np.arange(n))
            return (words >> np.uint64(11)) < limit(self.liars.nodes)
        found[self.liars.nodes] = True
        return found

    def limits(self, n: int) -> NDArray[np.uint64]:
        """Limits below which a message is lost, by sender: shape (1,) or (n,)."""
        found = np.atleast_1d(limit(self.loss))
        if self.liars is not None and self.liars.strategy == "silent":
            found = np.where(self.lying(n), np.uint64(ALWAYS), found)
        return found

    def key(self, domain: Domain, turn: int, position: int) -> NDArray[np.uint64]:
        """The key of a phase, shape (1,)."""
        return keyed(key(self.seed or 0, turn, domain), np.array([position]))


@dataclass(frozen=True)
class Fate:
    """What becomes of the messages of one phase.

    Attributes
    ----------
    key
        Of the phase.
    limits
        Limits below which a message is lost, by sender: shape (1,) or (n,).
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
    """

    key: NDArray[np.uint64]
    limits: NDArray[np.uint64]
    dead: NDArray[np.bool_]
    away: NDArray[np.bool_] | None
    falling: NDArray[np.bool_] | None
    lies: Lies | None
    drops: NDArray[np.int64]

    @property
    def by_message(self) -> bool:
        """Whether messages have to be looked at one by one."""
        return self.lies is not None or self.drops.size > 0

    def arrives(
        self, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> tuple[NDArray[np.bool_], int]:
        """Which messages arrive, and how many of those to living nodes do not; parameters as of `lost`."""
        lost, reached = self.lost(src, dst, number), ~self.dead[dst]
        return reached & ~lost, int(np.count_nonzero(lost & reached))

    def told(
        self,
        fields: Mapping[str, NDArray],
        src: NDArray,
        dst: NDArray,
        number: NDArray | None = None,
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
        fates = self.key[0], self.limits, self.dead
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
        limits = self.limits if len(self.limits) == 1 else self.limits[src]
        if self.falling is not None:
            limits = np.where(self.falling[src], halved(limits), limits)
        found = (_hash(self.key, src, dst, number) >> np.uint64(11)) < limits
        if self.away is not None:
            found |= self.away[src]
        if self.drops.size:
            n = len(self.dead)
            found |= np.isin(pair_key(src, dst, n), pair_key(self.drops[0], self.drops[1], n))
        return found


@dataclass(frozen=True)
class Lies:
    """What rewrites the messages of nodes that lie, in one phase.

    Attributes
    ----------
    mask
        By node, whether it lies.
    strategy
        A name, or a function.
    counts
        By field, how many values it can have, or 0.
    limits
        By field, its least and greatest value: lies are held to them.
    key
        Of the phase.
    round, phase
        Of what is sent.
    """

    mask: NDArray[np.bool_]
    strategy: str | Strategy
    counts: Mapping[str, int]
    limits: Mapping[str, Limits]
    key: NDArray[np.uint64]
    round: int
    phase: str

    def told(
        self,
        fields: Mapping[str, NDArray],
        src: NDArray,
        dst: NDArray,
        number: NDArray | None = None,
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


def _hash(
    key: NDArray[np.uint64], src: NDArray, dst: NDArray, number: NDArray | None
) -> NDArray[np.uint64]:
    """Random bits of messages; `_sieve.sieve` has the same."""
    found = keyed(keyed(key, dst), src)
    if number is not None and number.any():
        found = np.where(number > 0, keyed(found, number), found)
    return found
