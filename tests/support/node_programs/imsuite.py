"""Programs of IMSuite's kernels."""

from collections import defaultdict

import numpy as np

from dgsuite.kernels.imsuite.byzantine.textbook import LIES, VOTES
from dgsuite.kernels.imsuite.kcommittee.textbook import NONE
from dgsuite.kernels.imsuite.spanning_tree.state import ordered
from dgsuite.kernels.tools.rng import uniform
from tests.support.node_programs.draws import luck


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
        others = ((fields["draw"], u) for u, fields in v.inbox.items())
        v.wins = v.plays and all((v.number, v.id) < other for other in others)
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


class DominatingSet:
    states = ("in_ds", "span")

    def start(self, v):
        v.links, v.live, v.in_ds, v.span = {*v.neighbours}, True, False, 0

    def tell_span(self, v):
        if v.live:
            v.span = (len(v.links) + 1).bit_length() - 1
            return v.to_all(span=v.span)

    def relay(self, v):
        if v.inbox:
            return v.to_all(span=max(v.said("span") + [v.span] * v.live))

    def activate(self, v):
        v.active = v.live and v.span >= max(v.said("span"), default=0)
        return v.to(v.links) if v.active else None

    def support(self, v):
        if v.live:
            v.crowd = v.active + len(v.inbox)
            return v.to(v.links, support=v.crowd)

    def become_candidate(self, v):
        v.candidate = v.active and luck(self, v, v.round) <= 1 / max(v.crowd, *v.said("support"), 1)
        return v.to(v.links) if v.candidate else None

    def cover(self, v):
        v.covers = v.candidate + len(v.inbox)
        return v.to(v.links, cover=v.covers) if v.live else None

    def offer(self, v):
        crowd = v.covers + sum(v.said("cover"))
        v.offers = v.candidate and crowd <= 3 * (len(v.links) + 1)
        return v.to(v.links, sender=v.id) if v.offers else None

    def decide(self, v):
        v.wins = v.offers and v.id > max(v.said("sender"), default=-1)
        v.in_ds |= v.wins
        return v.to(v.links) if v.wins else None

    def retire(self, v):
        retires = v.live and (v.wins or bool(v.inbox))
        v.live &= not retires
        return v.to(v.links) if retires else None

    def prune(self, v):
        if v.live:
            v.links -= v.inbox.keys()


class LayeredSearch:
    states = ("distance", "parent")

    def start(self, v):
        v.distance, v.parent = 0 if v.id == self.root else -1, -1
        v.links, v.children = {*v.neighbours}, []
        v.layer = v.hop = 0

    def start_layer(self, v):
        v.hop += 1
        if v.inbox or (v.id == self.root and v.hop == 1):
            return v.to(v.children)

    def join(self, v):
        return v.to(v.links, sender=v.id) if v.distance == v.layer else None

    def accept(self, v):
        v.hop, v.layer, v.refused = v.layer, v.layer + 1, {*v.inbox}
        if v.distance < 0 and v.inbox:
            v.parent, v.distance = min(v.inbox), v.layer
            v.refused.remove(v.parent)
            v.links -= v.inbox.keys()
            return {v.parent: {}}

    def refuse(self, v):
        v.children += sorted(v.inbox)
        return v.to(v.refused)

    def echo(self, v):
        v.hop -= 1
        return {v.parent: {}} if v.distance == v.hop + 1 else None

    def reset(self, v):
        v.hop = 0


class KCommittee:
    states = ("committee", "best", "heard")

    def start(self, v):
        v.committee, v.leading = -1, v.uid

    def open_poll(self, v):
        v.fresh = v.committee < 0
        v.best = v.uid if v.fresh else NONE
        v.via, v.heard = [], 0

    def tell(self, v):
        return v.to_all(word=v.best << 31 | v.id) if v.fresh else None

    def hear(self, v):
        uid, sender = divmod(min(v.said("word"), default=NONE), 1 << 31)
        v.fresh = bool(v.inbox) and uid < v.best
        v.via.append(sender)
        if v.fresh:
            v.best, v.heard = uid, len(v.via)

    def choose_leader(self, v):
        v.leading = min(v.leading, v.best)

    def invite(self, v):
        v.offer, v.carried = NONE, []
        if v.leading == v.uid and v.best < NONE:
            KCommittee.arrive(v, v.uid << 31 | v.id, v.heard)

    @staticmethod
    def arrive(v, word, hops):
        if hops:
            v.carried.append((word, hops))
        else:
            v.offer = min(v.offer, word)

    def carry(self, v):
        for word, hops in zip(v.said("word"), v.said("hops"), strict=True):
            KCommittee.arrive(v, word, hops)
        sent = defaultdict(list)
        for word, hops in v.carried:
            sent[v.via[hops - 1]].append({"word": word, "hops": hops - 1})
        v.carried = []
        return sent

    def accept(self, v):
        KCommittee.carry(self, v)
        if v.offer < NONE:
            v.committee = v.offer & ((1 << 31) - 1)

    def be_alone(self, v):
        if v.committee < 0:
            v.committee = v.id


class SpanningTree:
    states = ("parent", "fragment", "best")

    def start(self, v):
        v.parent, v.fragment, v.children = -1, v.id, set()
        v.best, v.inner, v.outer = NONE, -1, -1

    def tell_fragment(self, v):
        return v.to_all(fragment=v.fragment)

    def take(self, v, key, inner, outer):
        """Take a lighter edge; of several as light, the first by its smaller node, then its larger one."""
        found, own = (key, *sorted((inner, outer))), (v.best, *sorted((v.inner, v.outer)))
        if key < NONE and found < own:
            v.best, v.inner, v.outer = key, inner, outer

    def look(self, v):
        v.best, v.waits_for = NONE, len(v.children)
        for u, fields in v.inbox.items():
            if fields["fragment"] != v.fragment:
                key = int(ordered(np.array([v.weights[u]]))[0])
                SpanningTree.take(self, v, key, v.id, u)

    def report(self, v, first):
        for fields in v.inbox.values() if not first else ():
            SpanningTree.take(self, v, **fields)
            v.waits_for -= 1
        if v.parent >= 0 and v.waits_for == 0 and (first or v.inbox):
            return {v.parent: {"key": v.best, "inner": v.inner, "outer": v.outer}}

    def pick(self, v):
        v.joins, v.partner = False, -1
        if v.parent < 0 and v.best < NONE:
            if v.inner != v.id:
                return {v.inner: {"outer": v.outer}}
            v.joins, v.partner = True, v.outer

    def turn(self, v, first):
        for u, fields in v.inbox.items():
            if first:
                v.joins, v.partner = True, fields["outer"]
            above, v.parent = v.parent, -1 if first else u
            v.children.discard(v.parent)
            if above >= 0:
                v.children.add(above)
                return {above: {}}

    def connect(self, v):
        return {v.partner: {}} if v.joins else None

    def attach(self, v):
        if v.joins:
            v.parent = v.partner
        for u in v.inbox:
            if u != v.partner or v.id < u:
                v.children.add(u)
            if u == v.partner and v.id < u:
                v.parent = -1
        if v.parent < 0:
            v.fragment = v.id

    def transmit(self, v, first):
        if first and v.parent >= 0:
            return None
        SpanningTree.settle(self, v)
        told = v.to(v.children, fragment=v.fragment)
        return told if first or v.inbox else None

    def settle(self, v):
        v.fragment = max(v.said("fragment"), default=v.fragment)


class Byzantine:
    states = ("opinion", "decision", "decided")

    def start(self, v):
        v.opinion = int(luck(self, v, VOTES) < 0.5) if self.votes is None else self.votes[v.id]
        v.decision, v.decided = 0, False
        v.lies = {}
        if v.id in self.betrayers(v.n):
            pairs = np.array([v.id * v.n + u for u in v.neighbours])
            lies = uniform("counter", self.seed, pairs, LIES) < 0.5
            v.lies = dict(zip(v.neighbours, lies.astype(int).tolist(), strict=True))

    def say(self, v):
        v.known, v.ones = {v.id}, set()
        return {u: {"vote": v.lies.get(u, v.opinion)} for u in v.neighbours}

    def hear(self, v):
        v.news = {*v.inbox}
        v.known |= v.news
        v.ones |= {u for u, fields in v.inbox.items() if fields["vote"]}

    def forward(self, v):
        news, ones = (sum(1 << u for u in some) for some in (v.news, v.ones & v.news))
        message = {"news": [news], "ones": [ones], "times": len(v.news)}  # counts as many times
        return dict.fromkeys(v.neighbours, [message] * len(v.news)) if v.news else None

    def hear_more(self, v):
        words = [(word for (word,) in v.said(name)) for name in ("news", "ones")]
        news, ones = ({u for word in each for u in range(v.n) if word >> u & 1} for each in words)
        v.news = news - v.known
        v.known |= v.news
        v.ones |= ones & v.news

    def decide(self, v, iteration):
        ones = len(v.ones) + v.opinion
        majority, tally = int(2 * ones > len(v.known)), max(ones, len(v.known) - ones)
        threshold = 3 * v.n // 4 + 1 if self.coin(iteration) else 5 * v.n // 8 + 1
        v.opinion = majority if tally > threshold else 0
        if tally > 7 * v.n // 8 and not v.decided:
            v.decision, v.decided = majority, True


class HirschbergSinclair:
    states = ("leader", "knows", "reach", "back")

    def start(self, v):
        v.leader, v.knows, v.reach, v.back = -1, False, 1, 0

    @staticmethod
    def send(v, ways):
        """One message each way, behind first."""
        sent = defaultdict(list)
        for way, fields in sorted(ways.items()):
            sent[(v.id + way) % v.n].append({**fields, "way": way})
        return sent

    def begin(self, v):
        message = {"uid": v.uid, "hops": 1, "elected": False}
        sent = HirschbergSinclair.send(v, {-1: message, 1: message})
        return {u: several[::-1] for u, several in sent.items()}

    def relay(self, v):
        own = [f["hops"] for _, f in v.messages if f["uid"] == v.uid and not f["elected"]]
        v.back += own.count(0)
        leads, again = any(own), 0 in own and v.back >= 2
        if again:
            v.back, v.reach = 0, 2 * v.reach
        ways = {}
        for _, fields in v.messages:
            uid, hops, way, elected = (fields[x] for x in ("uid", "hops", "way", "elected"))
            larger, news = uid > v.uid and not elected, elected and not v.knows
            if news:
                v.leader = uid
            if larger or news:
                turned = -way if larger and hops == 1 else way
                ways[turned] = {"uid": uid, "hops": max(hops - 1, 0), "elected": elected}
        if leads:
            v.leader = v.uid
        v.knows = v.leader >= 0
        if again or leads:
            hops = 0 if v.knows else v.reach
            ways = {way: {"uid": v.uid, "hops": hops, "elected": v.knows} for way in (-1, 1)}
        return HirschbergSinclair.send(v, ways)
