"""Programs of the laboratory's kernels."""

from collections import defaultdict
from functools import reduce
from operator import add

from dgsuite.kernels.lab.consensus import INPUT
from dgsuite.kernels.lab.rumours import MARKER
from dgsuite.kernels.lab.waves import ACKNOWLEDGED
from tests.support.node_programs.draws import luck, neighbour


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


def binary(kernel, v):
    """A node's input, 0 or 1."""
    given = kernel.inputs
    return int(luck(kernel, v, INPUT) < kernel.ones) if given is None else given[v.id]


class PhaseKing:
    states = ("value", "majority", "multiplicity", "decision")

    def start(self, v):
        v.value, v.majority, v.multiplicity, v.decision = binary(self, v), 0, 0, -1

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
        v.value, v.active = binary(self, v), True
        v.proposal = v.decision = v.decided = -1

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


class Gossip:
    states = ("informed",)

    def start(self, v):
        v.informed = 0 if v.id == self.root else -1

    @staticmethod
    def learn(v, heard):
        if heard and v.informed < 0:
            v.informed = v.round + 1

    def call(self, v):
        knows = v.informed >= 0
        if v.neighbours and self.mode in ("push-pull", "push" if knows else "pull"):
            return {neighbour(self, v, v.round): {"knows": knows}}

    def answer(self, v):
        asked = [u for u, fields in v.inbox.items() if not fields["knows"] and v.informed >= 0]
        Gossip.learn(v, any(v.said("knows")))
        return v.to(asked, knows=True)

    def hear(self, v):
        Gossip.learn(v, v.inbox)


class PushSum:
    states = ("mass", "weight", "average")

    def start(self, v):
        v.mass = v.average = float(len(v.neighbours) if self.inputs is None else self.inputs[v.id])
        v.weight = 1.0

    def measure(self, v):
        return None

    def push(self, v):
        if v.neighbours:
            v.mass, v.weight = v.mass / 2, v.weight / 2
            return {neighbour(self, v, v.round): {"mass": v.mass, "weight": v.weight}}

    def add(self, v):
        v.mass += reduce(add, v.said("mass"), 0.0)  # `sum` would be more exact
        v.weight += reduce(add, v.said("weight"), 0.0)
        v.average = v.mass / v.weight


class Snapshot:
    states = ("money", "recorded", "in_transit", "when", "done")

    def start(self, v):
        v.money = self.inputs if isinstance(self.inputs, int) else self.inputs[v.id]
        v.recorded, v.in_transit, v.when, v.done = -1, 0, -1, False
        v.marked = set()

    def act(self, v):
        sent = defaultdict(list)
        markers = {u for u, fields in v.messages if fields["amount"] == MARKER}
        v.marked |= markers
        if v.when < 0 and (markers or (v.id == self.root and v.round == self.after)):
            v.recorded, v.when = v.money, v.round
            for u in v.neighbours:
                sent[u].append({"amount": MARKER})
        v.done = v.when >= 0 and len(v.marked) == len(v.neighbours)
        for u, fields in v.messages:
            v.money += fields["amount"]
            if v.when >= 0 and u not in v.marked:
                v.in_transit += fields["amount"]
        paid = int(luck(self, v, 2 * v.round) * (v.money + 1))
        if paid and v.neighbours:
            v.money -= paid
            sent[neighbour(self, v, 2 * v.round + 1)].append({"amount": paid})
        return sent


class DijkstraScholten:
    states = ("distance", "told", "acknowledged", "last", "announced")

    def start(self, v):
        v.distance = v.last = v.announced = v.parent = v.ready = -1
        v.told = v.acknowledged = v.deficit = 0

    def act(self, v):
        sent = defaultdict(list)
        search = [(u, f["distance"]) for u, f in v.messages if f["distance"] != ACKNOWLEDGED]
        v.deficit -= len(v.messages) - len(search)
        owed = [u for u, _ in search]
        if search:
            v.last = v.round
            if v.parent < 0 and v.id != self.root:
                v.parent = owed.pop(0)
        nearest = min((distance for _, distance in search), default=v.n)
        if v.id == self.root and v.round == 0:
            nearest = 0
        if nearest < (v.n if v.distance < 0 else v.distance):
            v.distance = nearest
            if v.ready < 0:
                v.ready = v.round + int(luck(self, v, v.round) * self.work)
        if v.ready == v.round:
            v.ready, v.last = -1, v.round
            v.told, v.deficit = v.told + 1, v.deficit + len(v.neighbours)
            for u in v.neighbours:
                sent[u].append({"distance": v.distance + 1})
        if v.ready < 0 and v.deficit == 0:
            if v.parent >= 0:
                owed.append(v.parent)
                v.parent = -1
            if v.id == self.root and v.announced < 0:
                v.announced = v.round
        v.acknowledged += len(owed)
        for u in owed:
            sent[u].append({"distance": ACKNOWLEDGED})
        return sent
