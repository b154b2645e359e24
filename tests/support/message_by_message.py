"""A network message by message, with dictionaries and whole numbers of Python: none of them wraps."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tests.support.synchronisers import GOLDEN, first_word, mixed

LOSS, LIES, DUPLICATES, CORRUPTION = 2, 3, 8, 9
"""Domains of random words."""

ONE_WAY = 1 << 53


@dataclass
class Oracle:
    """What nodes hear that send each neighbour the same message in each round.

    Attributes
    ----------
    edges
        Neighbours of each node that has any, with the weight of the edge.
    loss
        Probability that a message is lost, of a sender, a receiver and a weight.
    drops
        Rounds, senders and receivers of messages that are lost for sure.
    gone
        Nodes that have crashed, and the round: they neither send in it nor get anything.
    falling
        The same of nodes that crash while they send.
    away
        Nodes that are cut off, and the rounds.
    lies
        Of a node that lies: what it says, of the value, the sender, the receiver and a word.
    told
        Nodes that crash after they have told some neighbours: the round, and these.
    split
        First round, end and nodes of a partition, and whether it is one way.
    twice, noise
        Probabilities that a message arrives twice, and that it says any of so many values.
    """

    edges: dict[int, dict[int, float]]
    seed: int = 101
    loss: object = lambda src, dst, weight: 0.0
    drops: set = field(default_factory=set)
    gone: dict = field(default_factory=dict)
    falling: dict = field(default_factory=dict)
    away: dict = field(default_factory=dict)
    lies: dict = field(default_factory=dict)
    told: dict = field(default_factory=dict)
    split: tuple = (0, 0, (), False)
    twice: float = 0.0
    noise: tuple = (0.0, 1)
    lost: int = 0
    firsts: dict = field(default_factory=dict)

    def struck(self, domain, round, src, dst, probability):
        return probability > 0 and self.word(domain, round, src, dst) >> 11 < int(
            probability * ONE_WAY
        )

    def word(self, domain, turn, src, dst, of=None):
        if (domain, turn) not in self.firsts:  # and the phase is number 0
            self.firsts[domain, turn] = mixed(first_word(self.seed, domain, turn))
        word = self.firsts[domain, turn]
        if of is not None:  # another word than that which decides
            word = of(word + GOLDEN)
        return mixed(mixed(word + dst * GOLDEN) + src * GOLDEN)

    def dead(self, node, round, sends=False):
        """Whether a node is cut off in a round, or `sends` no more."""
        if self.gone.get(node, round + 1) <= round or round in self.away.get(node, ()):
            return True
        if self.told.get(node, (round + 1,))[0] <= round - sends:
            return True
        return self.falling.get(node, round + 1) <= round - sends

    def arrives(self, round, src, dst, weight):
        if (round, src, dst) in self.drops:
            return False
        if self.told.get(src, (round + 1,))[0] == round and dst not in self.told[src][1]:
            return False
        first, end, side, one_way = self.split
        out, into = src in side, dst in side
        if first <= round < end and (out and not into if one_way else out != into):
            return False
        limit = int(self.loss(src, dst, weight) * ONE_WAY)
        if self.falling.get(src) == round:
            limit = ONE_WAY // 2 + limit // 2
        return self.word(LOSS, round, src, dst) >> 11 >= limit

    def heard(self, round, value):
        """By node that is there, senders and values of its messages of a round, by ascending sender."""
        found = defaultdict(list)
        for src in sorted(self.edges):
            for dst, weight in self.edges[src].items():
                if self.dead(dst, round) or self.gone.get(src, round + 1) <= round:
                    continue
                if self.dead(src, round, sends=True) and round not in self.away.get(src, ()):
                    continue
                if round in self.away.get(src, ()) or not self.arrives(round, src, dst, weight):
                    self.lost += 1
                    continue
                said = value(src, round)
                if src in self.lies:
                    said = self.lies[src](said, src, dst, self.word(LIES, round, src, dst))
                if self.struck(CORRUPTION, round, src, dst, self.noise[0]):
                    word = self.word(CORRUPTION, round, src, dst, mixed)
                    said = mixed(mixed(word + GOLDEN)) % self.noise[1]
                again = self.struck(DUPLICATES, round, src, dst, self.twice)
                found[dst] += [(src, said)] * (1 + again)
        return found
