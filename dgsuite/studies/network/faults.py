"""What happens to nodes and messages: functions of the seed, the phase, the sender and the receiver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.mixing import Domain, key, keyed, unit
from dgsuite.base.pairs import pair_key
from dgsuite.core.engine.network import Target
from dgsuite.kernels.events.channel import NEVER
from dgsuite.studies.network.adversary import Attack, Campaign, struck
from dgsuite.studies.network.chances import CODES, FALLING, PLAIN, Chances, halved, limit
from dgsuite.studies.network.lies import Fields, Lies, luck_of

if TYPE_CHECKING:
    from dgsuite.core.engine.program import Fault
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.clusters.halo import Halo
    from dgsuite.studies.network.disturbed import Disturbed
    from dgsuite.studies.network.parts import Byzantine, Crash, Partition

LOSS, CRASH, CHURN, LIARS, DROPS, PARTITIONS, ADVERSARY, CAPACITY = range(PLAIN, CODES)
"""Codes that say why messages are lost."""

KINDS = ("loss", "crashes", "churn", "byzantine", "drops", "partitions", "adversary", "capacity")
"""The parameters of a network that cause them, in the same order."""

REWRITTEN = ("byzantine", "corruption", "duplicates")
"""The parameters that cause messages which arrive to be rewritten, or to arrive twice."""

STRUCK = ("", *KINDS, *REWRITTEN)
"""The columns of what struck messages: nothing, by the codes, and by `REWRITTEN`."""


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
        Probability that any node crashes in a round, if none is listed.
    liars
        Which nodes lie, if any, by node ids.
    attack
        What strikes by what it sees of the run, if anything.
    by_weight
        Whether the weight of an edge is the probability that a message along it is lost.
    splits
        Partitions; ``nodes`` says of each node whether it is one of the group.
    duplicates, corruption
        Probabilities that a message arrives twice, and that it arrives with other values.
    by_phase
        Whether `rate` is the probability that a node crashes in a phase.
    """

    seed: int | None
    loss: NDArray[np.float64]
    by_receiver: bool
    drops: NDArray[np.int64]
    churn: NDArray[np.int64]
    crashes: Sequence[Crash]
    rate: float
    liars: Byzantine | None
    attack: Attack | None = None
    by_weight: bool = False
    splits: Sequence[Partition] = ()
    duplicates: float = 0.0
    corruption: float = 0.0
    by_phase: bool = False

    def of_run(self, seed: int) -> Faults:
        """The faults of a run with a seed."""
        return self if self.seed is not None else replace(self, seed=seed)

    def at_site(self, kernel: Kernel, clusters: Sequence[Cluster], fault: Fault) -> Disturbed:
        """The faults at a site."""
        from dgsuite.studies.network.disturbed import Disturbed

        return Disturbed(self, kernel, clusters, fault)

    def campaign(self, seed: int) -> Campaign | None:
        """What the adversary strikes in each round, if there is one."""
        return None if self.attack is None else Campaign(self.attack, self.of_run(seed).seed or 0)

    @property
    def spares(self) -> bool:
        """Whether there are none: an adversary has messages take longer, which changes no output."""
        return self.attack is not None and self.attack.adversary.delays

    def dropped(self, round: int) -> list[tuple[int, NDArray[np.int64]]]:
        """Why messages of a round are lost, and their senders and receivers: shape (2, pairs)."""
        first, end, node, other = self.churn
        away = (first <= round) & (round < end) & (other >= 0)
        both = np.stack([node[away], other[away]])
        listed = self.drops[1:, self.drops[0] == round]
        found = (DROPS, listed), (CHURN, both), (CHURN, both[::-1])
        return [(why, ends) for why, ends in found if ends.size]

    def away(self, round: int) -> NDArray[np.int64]:
        """Nodes that are away in a round."""
        first, end, node, other = self.churn
        return node[(first <= round) & (round < end) & (other < 0)]

    def lying(self, n: int) -> NDArray[np.bool_]:
        """Whether each of n nodes lies."""
        nodes: Any = [] if self.liars is None else self.liars.nodes
        if isinstance(nodes, float):
            words = keyed(key(self.seed or 0, 0, Domain.LIARS), np.arange(n))
            return (words >> np.uint64(11)) < limit(nodes)
        found = np.zeros(n, bool)
        found[nodes] = True
        return found

    def crash_rounds(self, n: int, rounds: ArrayLike | None = None) -> NDArray[np.int64]:
        """By node, the round in which it crashes, `NEVER` for none: shape (n,).

        Parameters
        ----------
        rounds
            The round of each phase of the run. Without them, a rate that is `by_phase` gives the phase in
            place of the round, counted from the first of the run.
        """
        found = np.full(n, NEVER)
        if self.rate:
            luck = unit(keyed(key(self.seed or 0, 0, Domain.CRASHES), np.arange(n)))
            with np.errstate(divide="ignore", over="ignore"):
                waits = np.log1p(-luck) / np.log1p(-self.rate)
            found = np.minimum(waits, NEVER).astype(np.int64)
        if self.by_phase and rounds is not None:
            found = np.append(rounds, NEVER)[np.minimum(found, np.size(rounds))]
        found[[crash.node for crash in self.crashes]] = [crash.round for crash in self.crashes]
        return found

    def crashed(
        self, n: int, turns: Iterable[tuple[int, Iterable[Target]]], rounds: ArrayLike
    ) -> NDArray[np.int64]:
        """By node, the round of a run in which it crashed last, `NEVER` for none: shape (n,).

        Parameters
        ----------
        turns
            See `dgsuite.studies.network.adversary.struck`.
        rounds
            The round of each phase of the run.
        """
        found = self.crash_rounds(n, rounds)
        if self.attack is None or not self.attack.adversary.crashes:
            return found
        back = np.full(n, NEVER)
        for crash in self.crashes:
            back[crash.node] = crash.until or NEVER
        for round_, strikes in struck(self.attack, turns, self.seed or 0).items():
            for node, _ in strikes:
                if not found[node] <= round_ < back[node]:
                    found[node] = round_
                    back[node] = NEVER
        return found

    def limits(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Limits below which a message is lost, by sender and by receiver: shape (1,) or (n,) each."""
        own, none = np.atleast_1d(limit(self.loss)), np.zeros(1, np.uint64)
        return (none, own) if self.by_receiver else (own, none)

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
    mute
        uint8, by node: why nothing that it sends arrives, or 0. None if there are none.
    falling
        By node, whether it crashes while it sends: then half of the messages that the network would not lose
        are lost. None if there are none.
    lies
        What rewrites messages, if anything.
    drops
        Why messages between some pairs are lost, and their senders and receivers: shape (2, pairs).
    chances
        What is lost by edge, if anything.
    splits
        Partitions.
    last
        Of each node that crashes once it has sent to some neighbours: the node, and these neighbours.
    twice
        The key of duplicates, and the limit below which a message is one; None if there are none.
    bounded
        Whether channels have a capacity: a message whose field "due" is 0 has found its channel full.
    """

    key: NDArray[np.uint64]
    source: NDArray[np.uint64]
    target: NDArray[np.uint64]
    dead: NDArray[np.bool_]
    mute: NDArray[np.uint8] | None
    falling: NDArray[np.bool_] | None
    lies: Lies | None
    drops: Sequence[tuple[int, NDArray[np.int64]]]
    chances: Chances | None = None
    splits: Sequence[Partition] = ()
    last: Sequence[tuple[int, NDArray[np.int64]]] = ()
    twice: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None
    bounded: bool = False

    @property
    def away(self) -> NDArray[np.bool_]:
        """By node, whether it is cut off for the phase."""
        none = np.zeros_like(self.dead)
        return none if self.mute is None else np.isin(self.mute, (CHURN, ADVERSARY))

    @property
    def by_message(self) -> bool:
        """Whether messages have to be looked at one by one."""
        some = (self.lies, self.chances, self.twice)
        return any(one is not None for one in some) or any((self.drops, self.splits, self.last))

    def arrives(
        self, src: NDArray, dst: NDArray, number: NDArray | None = None, fields: Any = None
    ) -> tuple[NDArray, NDArray[np.int64]]:
        """Which messages arrive, as a mask, or as indices with those that arrive twice listed twice; and how
        many messages to living nodes were struck, by code and then by `REWRITTEN`. Parameters as of `lost`.
        """
        lost, struck = self.lost(src, dst, number, fields), np.zeros(len(STRUCK), np.int64)
        which = lost == 0
        gone = np.flatnonzero(~which)
        if self.dead.any():
            reached = ~self.dead[dst]
            which &= reached
            gone = gone[reached[gone]]
        struck[:CODES] = np.bincount(lost[gone], minlength=CODES)
        if self.lies is None and self.twice is None:
            return which, struck
        which = np.flatnonzero(which)
        src, dst, number = src[which], dst[which], None if number is None else number[which]
        if self.lies is not None:
            struck[CODES:-1] = [*map(np.count_nonzero, self.lies.false(src, dst, number))]
        if self.twice is not None:
            key, limit = self.twice
            again = which[luck_of(key, src, dst, number) < limit]
            which = np.sort(np.append(which, again))
            struck[-1] = len(again)
        return which, struck

    def comes(self, src: NDArray, dst: NDArray) -> NDArray[np.bool_]:
        """Which messages arrive."""
        return ~self.dead[dst] & (self.lost(src, dst) == 0)

    def told(
        self, fields: Fields, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> dict[str, NDArray]:
        """The fields of messages as they arrive; empty if nobody lies. Parameters as of `lost`."""
        return {} if self.lies is None else self.lies.told(fields, src, dst, number)

    def sieve(self, halo: Halo, sent: NDArray, starts: NDArray, kept: NDArray) -> NDArray[np.int64]:
        """Put the entries of a halo along which messages arrive into rows, by a compiled loop.

        Parameters
        ----------
        sent
            bool, by slot: which nodes sent.
        starts, kept
            Where the rows are put, as `indptr` and `indices`.

        Returns
        -------
        What struck messages, as of `arrives`.
        """
        from dgsuite.studies.network._sieve import sieve

        codes = sent.view(np.uint8)
        falling = None if self.falling is None else self.falling * np.uint8(FALLING)
        for why in (falling, self.mute):
            if why is not None:
                why = why if halo.ids is None else why[halo.ids]
                codes = codes.copy()
                here = sent[: halo.slots] & (why > 0)
                codes[: halo.slots][here] = why[here]
        along = halo.indptr, halo.indices, halo.names, halo.first, codes
        fates = self.key[0], self.source, self.target, self.dead
        return np.append(sieve(*along, *fates, starts, kept), np.zeros(len(REWRITTEN), np.int64))

    def lost(
        self, src: NDArray, dst: NDArray, number: NDArray | None = None, fields: Any = None
    ) -> NDArray[np.uint8]:
        """Why each message is lost on its way; 0 of those that are not.

        Parameters
        ----------
        src, dst
            Node ids of sender and receiver of each.
        number
            Of each, how many the sender has sent the receiver before in this phase; by default none.
        fields
            What the messages say, where channels have a capacity.
        """
        limits = np.maximum(_at(self.source, src), _at(self.target, dst))
        if self.chances is not None:
            limits = np.maximum(limits, self.chances.of(src, dst))
        luck = luck_of(self.key, src, dst, number)
        found = np.where(luck < limits, np.uint8(LOSS), np.uint8(0))
        if self.falling is not None:
            found[self.falling[src] & (luck >= limits) & (luck < halved(limits))] = CRASH
        for node, receivers in self.last:
            mine, told = src == node, np.isin(dst, receivers)
            found[mine & told & (found == CRASH)] = 0
            found[mine & ~told] = CRASH
        for split in self.splits:
            inside: Any = split.nodes
            out, into = inside[src], inside[dst]
            found[out & ~into if split.one_way else out != into] = PARTITIONS
        if self.mute is not None:
            found = np.where(self.mute[src] > 0, self.mute[src], found)
        n = len(self.dead)
        for why, (one, other) in self.drops:
            found[np.isin(pair_key(src, dst, n), pair_key(one, other, n))] = why
        if self.bounded and fields is not None:
            found[fields["due"] == 0] = CAPACITY
        return found


def _at(values: NDArray[np.uint64], nodes: NDArray) -> NDArray[np.uint64]:
    return values if len(values) == 1 else values[nodes]
