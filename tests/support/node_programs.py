"""Programs of nodes as textbooks have them, each a class: see `tests.support.node_by_node`."""

from __future__ import annotations

import numpy as np

from dgsuite.kernels.lab.consensus import INPUT
from dgsuite.kernels.tools.rng import uniform


def luck(kernel, node, draw):
    """A random number of a node."""
    return float(uniform("counter", kernel.seed, np.array([node.id]), draw)[0])


class BF:
    states = ("distance",)

    def start(self, v):
        v.distance = -1

    def wake(self, v):
        if v.id == self.root:
            v.distance = 0
            return v.to_all(distance=1)

    def relax(self, v):
        if v.inbox and v.distance < 0:
            v.distance = min(v.said("distance"))
            return v.to_all(distance=v.distance + 1)


class MIS:
    states = ("in_mis", "number", "beaten")

    def start(self, v):
        v.live = {*v.neighbours} - {v.id}
        v.plays, v.in_mis, v.beaten, v.number = bool(v.live), False, False, 0.0

    def draw(self, v):
        if v.plays:
            v.number = luck(self, v, v.round)
            return {key: {"draw": v.number} for key in v.live}

    def compete(self, v):
        v.wins = v.plays and all(
            (v.number, v.id) < (fields["draw"], u) for u, fields in v.inbox.items()
        )
        if v.wins:
            v.in_mis = True
            return {key: {} for key in v.live}

    def retire(self, v):
        drops = v.plays and bool(v.inbox)
        v.beaten |= drops
        v.plays &= not (drops or v.wins)
        return {key: {} for key in v.live} if drops else None

    def prune(self, v):
        if v.plays:
            v.live -= v.inbox.keys()
            v.plays = bool(v.live)

    def settle(self, v):
        v.in_mis |= not v.beaten


class FloodMax:
    states = ("leader",)

    def start(self, v):
        v.leader, v.news = v.uid, True

    def tell(self, v):
        return v.to_all(uid=v.leader) if v.news or not self.opt else None

    def learn(self, v):
        largest = max([v.leader, *v.said("uid")])
        v.leader, v.news = largest, largest > v.leader


class FloodSet:
    states = ("input", "seen", "decision", "decided")

    def start(self, v):
        many = isinstance(self.inputs, int)
        v.input = int(luck(self, v, 0) * self.inputs) if many else self.inputs[v.id]
        v.seen, v.decision, v.decided = 1 << v.input, -1, -1

    def tell(self, v):
        return v.to_all(word=v.seen)

    def hear(self, v):
        for word in v.said("word"):
            v.seen |= word
        if v.round == self.f:
            v.decision = v.input if v.seen == 1 << v.input else self.default
            v.decided = v.round


class Echo:
    states = ("parent", "level", "size", "total", "decided")

    def start(self, v):
        v.missing, v.parent, v.level = len(v.neighbours), -1, -1
        v.size = v.total = 0
        v.decided = False

    def pass_on(self, v):
        woken = v.level < 0 and (bool(v.inbox) or (v.round == 0 and v.id == self.root))
        sent = {}
        if woken:
            v.parent, v.level = min(v.inbox, default=-1), v.round
            v.size, v.total = 1, len(v.neighbours) if self.value == "degree" else v.uid
            sent = {u: {"size": 0, "total": 0} for u in v.neighbours if u != v.parent}
        v.size, v.total = v.size + sum(v.said("size")), v.total + sum(v.said("total"))
        v.missing -= len(v.inbox)
        if v.missing == 0 and (v.inbox or woken):
            if v.parent < 0:
                v.decided = True
            else:
                sent[v.parent] = {"size": v.size, "total": v.total}
        return sent


class PhaseKing:
    states = ("value", "majority", "multiplicity", "decision")

    def start(self, v):
        given = self.inputs
        v.value = int(luck(self, v, INPUT) < self.ones) if given is None else given[v.id]
        v.majority, v.multiplicity, v.decision = 0, 0, -1

    def tell(self, v):
        return v.to_all(value=v.value)

    def reign(self, v, phase):
        ones = sum(v.said("value")) + v.value
        v.majority, v.multiplicity = int(2 * ones > v.n), max(ones, v.n - ones)
        return v.to_all(value=v.majority) if v.id == phase else None

    def follow(self, v, phase):
        king = v.majority if v.id == phase else v.said("value")[0]
        v.value = v.majority if 2 * v.multiplicity > v.n + 2 * self.failing(v.n) else king

    def decide(self, v):
        v.decision = v.value


class BenOr:
    states = ("value", "proposal", "decision", "decided", "active")

    def start(self, v):
        given = self.inputs
        v.value = int(luck(self, v, INPUT) < self.ones) if given is None else given[v.id]
        v.proposal = v.decision = v.decided = -1
        v.active = True

    @staticmethod
    def say(v, what):
        return v.to_all(zero=int(what == 0), one=int(what == 1)) if v.active else None

    @staticmethod
    def heard(v, own, missing):
        v.active &= len(v.inbox) + 1 >= v.n - missing
        zeros, ones = sum(v.said("zero")) + (own == 0), sum(v.said("one")) + (own == 1)
        return int(ones > zeros), max(zeros, ones)

    def report(self, v):
        return BenOr.say(v, v.value)

    def propose(self, v):
        value, count = BenOr.heard(v, v.value, self.failing(v.n))
        v.proposal = value if 2 * count > v.n else -1
        return BenOr.say(v, v.proposal)

    def decide(self, v):
        value, count = BenOr.heard(v, v.proposal, self.failing(v.n))
        v.value = value if count > 0 else int(luck(self, v, v.round + 1) < 0.5)
        if v.decided >= 0:  # it has taken part for one more round
            v.active = False
        elif v.active and count > self.failing(v.n):
            v.decision, v.decided = value, v.round


class TrialColouring:
    states = ("colour", "settled")

    def start(self, v):
        v.colour = v.settled = -1
        v.free = [*range(len(v.neighbours) + 1)]

    def attempt(self, v):
        if v.colour < 0:
            v.free = [colour for colour in v.free if colour not in v.said("colour")]
            v.tried = v.free[int(luck(self, v, v.round) * len(v.free))]
            return v.to_all(colour=v.tried)

    def keep(self, v):
        if v.colour < 0 and v.tried not in v.said("colour"):
            v.colour, v.settled = v.tried, v.round
            return v.to_all(colour=v.colour)


class DistanceVector:
    states = ("distance", "next_hop")

    def start(self, v):
        v.distance, v.next_hop = 0 if v.id == self.root else self.infinity, -1

    def tell(self, v):
        sent = v.to_all(distance=v.distance)
        if self.split == "horizon":
            sent.pop(v.next_hop, None)
        elif self.split == "poisoned" and v.next_hop >= 0:
            sent[v.next_hop] = {"distance": self.infinity}
        return sent

    def choose(self, v):
        if v.id == self.root:
            return
        offers = {u: min(fields["distance"] + 1, self.infinity) for u, fields in v.inbox.items()}
        v.distance = min(offers.values(), default=self.infinity)
        near = [u for u, distance in sorted(offers.items()) if distance == v.distance]
        if v.distance == self.infinity:
            v.next_hop = -1
        elif v.next_hop not in near:
            v.next_hop = near[0]


class VertexColouring:
    states = ("colour",)

    def start(self, v):
        v.colour = v.id
        v.parent = None if v.id == self.root else self.parents[v.id]
        v.children = [u for u in v.neighbours if u != v.parent]

    def tell(self, v, highest=None):
        return {u: {"colour": v.colour} for u in v.children}

    def recolour(self, v):
        differ = v.colour ^ v.said("colour")[0] if v.inbox else 1
        place = (differ & -differ).bit_length() - 1
        v.colour = 2 * place + (v.colour >> place & 1)

    def shift_down(self, v, highest=None):
        v.before = v.colour
        v.colour = v.said("colour")[0] if v.inbox else (v.colour + 1) % 3
        return VertexColouring.tell(self, v)

    def drop(self, v, highest):
        if v.colour == highest and v.inbox:
            taken = {v.said("colour")[0], *([v.before] if v.children else [])}
            v.colour = min({0, 1, 2} - taken)


class PelegLeader:
    states = ("leader", "distance", "quiet")

    def start(self, v):
        v.leader, v.distance, v.heard = v.uid, 0, None
        v.young, v.quiet, v.runs, v.stops = False, 0, True, False

    def tell(self, v):
        v.stops = v.runs and bool(v.inbox)
        if v.runs:
            far = max(v.distance, v.heard[1] if v.heard else 0)
            return v.to_all(word=v.leader << 31 | far)

    def compare(self, v):
        if not v.runs:
            return
        words = [divmod(word, 1 << 31) for word in v.said("word")]
        if words:
            v.heard = max(words + [v.heard] * (v.heard is not None))
        v.stops |= not v.neighbours
        if v.heard is None or (v.stops and v.neighbours):
            return
        uid, far = v.heard
        if uid > v.leader:
            v.leader, v.young, v.distance = uid, True, v.round + 1
        elif not v.young and uid < v.leader:
            v.quiet = 1
        elif not v.young and far > v.distance:
            v.distance, v.quiet = far, 0
        elif not v.young:
            v.quiet += 1
            v.stops |= v.quiet >= 2

    def stop(self, v):
        if v.stops:
            v.runs = False
            return v.to_all()


class LCR:
    states = ("leader",)

    def start(self, v):
        v.leader = -1

    def begin(self, v):
        return {(v.id + 1) % v.n: {"uid": v.uid, "elected": False}}

    def pass_on(self, v):
        for uid, elected in zip(v.said("uid"), v.said("elected"), strict=True):
            leads = elected or uid == v.uid
            if leads:
                v.leader = uid
            if uid > v.uid or (leads and not elected):
                return {(v.id + 1) % v.n: {"uid": uid, "elected": leads}}
        return None


PROGRAMS = {
    "benor": BenOr,
    "bf": BF,
    "distance_vector": DistanceVector,
    "dp": PelegLeader,
    "echo": Echo,
    "floodmax": FloodMax,
    "floodset": FloodSet,
    "lcr": LCR,
    "mis": MIS,
    "phase_king": PhaseKing,
    "trial_colouring": TrialColouring,
    "vc": VertexColouring,
}
"""By the name of the kernel."""
