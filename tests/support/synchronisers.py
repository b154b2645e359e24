"""Synchronisers event by event: one message after the other, by the tick at which it arrives."""

import heapq
from collections import Counter
from fractions import Fraction
from math import floor

import networkx as nx

MESSAGE, ACKNOWLEDGEMENT, SAFE, GO = range(4)

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
APART = 0xD1342543DE82EF95


def mixed(x):
    x = x % WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31


def first_word(seed, domain, number):
    """What the words of a seed begin with, of a use that has a number in a domain."""
    return mixed(mixed((seed ^ domain * APART % WORD) + GOLDEN) + number * GOLDEN)


def delays(net, seed=101, delay=1, low=1, high=10, p=0.5, late=()):
    """How long each message takes: a function of what is sent, the pulse, the sender and the receiver."""
    fails = Fraction(1 - p)

    def longer(what, pulse, source, target):
        about = [row[3] for row in late if row[:2] == (pulse, source) and row[2] in (target, -1)]
        return wait(what, pulse, source, target) + max(about, default=0)

    def wait(what, pulse, source, target):
        if delay == "weight":
            return int(net[source][target]["weight"])
        if not isinstance(delay, str):
            return delay
        number = {MESSAGE: 0, ACKNOWLEDGEMENT: 0, SAFE: 1, GO: 2}[what]
        word = first_word(seed, 6, 3 * pulse + number)
        for node in (source, target) if what == MESSAGE else (target, source):
            word = mixed(word + node * GOLDEN)
        luck = Fraction(word % 2**32 if what == ACKNOWLEDGEMENT else word >> 32, 2**32)
        if delay == "uniform":
            return low + floor(luck * (high - low + 1))
        ticks, left = 1, fails
        while left > 1 - luck:
            ticks += 1
            left *= fails
        return ticks

    return longer


class Events:
    """Messages on their way, and when each node begins which pulse."""

    def __init__(self, net, rounds, wait):
        self.net, self.rounds, self.wait = net, rounds, wait
        self.queue, self.sent = [], Counter()
        self.acknowledged, self.safe = Counter(), set()
        self.began = {v: [] for v in net}

    def run(self):
        """Ticks at which nodes begin the pulse after the last, and by pulse the greatest of these and the
        messages."""
        for v in self.net:
            self.begin(v, 0, 0)
        while self.queue:
            now, _, what, pulse, source, target = heapq.heappop(self.queue)
            self.take(what, pulse, source, target, now)
        ends = [max(began[r] for began in self.began.values()) for r in range(1, self.rounds + 1)]
        counts = [self.sent[r] for r in range(self.rounds)]
        return [began[self.rounds] for began in self.began.values()], ends, counts

    def send(self, what, pulse, source, target, now):
        at = now + self.wait(what, pulse, source, target)
        self.sent[pulse] += 1
        heapq.heappush(self.queue, (at, sum(self.sent.values()), what, pulse, source, target))

    def begin(self, v, pulse, now):
        assert len(self.began[v]) == pulse
        self.began[v].append(now)
        if pulse < self.rounds:
            for w in self.net[v]:
                self.send(MESSAGE, pulse, v, w, now)
            self.look(v, pulse, now)

    def take(self, what, pulse, source, target, now):
        if what == MESSAGE:
            self.send(ACKNOWLEDGEMENT, pulse, target, source, now)
        elif what == ACKNOWLEDGEMENT:
            self.acknowledged[target, pulse] += 1
            self.look(target, pulse, now)
        else:
            self.told(what, pulse, source, target, now)

    def look(self, v, pulse, now):
        """Whether all messages of the node have arrived."""
        if self.acknowledged[v, pulse] == len(self.net[v]):
            self.safe.add((v, pulse))
            self.is_safe(v, pulse, now)


class AlphaEvents(Events):
    def __init__(self, *how):
        super().__init__(*how)
        self.heard = Counter()

    def is_safe(self, v, pulse, now):
        for w in self.net[v]:
            self.send(SAFE, pulse, v, w, now)
        self.go(v, pulse, now)

    def told(self, what, pulse, source, target, now):
        assert what == SAFE
        self.heard[target, pulse] += 1
        self.go(target, pulse, now)

    def go(self, v, pulse, now):
        if (v, pulse) in self.safe and self.heard[v, pulse] == len(self.net[v]):
            self.begin(v, pulse + 1, now)


class BetaEvents(Events):
    def __init__(self, net, rounds, wait, root=0):
        super().__init__(net, rounds, wait)
        hops = nx.single_source_shortest_path_length(self.net, root)
        above = {v: [w for w in net[v] if hops[w] < hops[v]] for v in net}
        self.parent = {v: min(nodes) for v, nodes in above.items() if nodes}
        self.children = Counter(self.parent.values())
        self.reports = Counter()

    def is_safe(self, v, pulse, now):
        self.report(v, pulse, now)

    def report(self, v, pulse, now):
        if (v, pulse) in self.safe and self.reports[v, pulse] == self.children[v]:
            if v in self.parent:
                self.send(SAFE, pulse, v, self.parent[v], now)
            else:
                self.go(v, pulse, now)

    def told(self, what, pulse, source, target, now):
        if what == SAFE:
            self.reports[target, pulse] += 1
            self.report(target, pulse, now)
        else:
            self.go(target, pulse, now)

    def go(self, v, pulse, now):
        self.begin(v, pulse + 1, now)
        for w, parent in self.parent.items():
            if parent == v:
                self.send(GO, pulse, v, w, now)
