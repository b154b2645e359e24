"""Paxos (Lamport 1998), Raft (Ongaro and Ousterhout 2014), and consensus by Chandra and Toueg (1996)."""

from tests.support.by_events.world import Node

NONE = (-1, -1)
"""Less than all ballots."""


class Paxos(Node):
    timers = ("retry",)
    stable = ("promised", "accepted")

    def start(self):
        self.input = self.rank if self.k.inputs is None else self.k.inputs[self.rank]
        self.decision = -1
        self.promised, self.accepted = NONE, (NONE, None)
        self.ballot, self.asks, self.attempts = None, None, 0
        self.votes, self.best = set(), (NONE, None)

    def on_start(self):
        first = self.rank < self.k.proposers and self.world.tick == 0
        self.wait("retry", 1 if first else self.drawn(self.k.patience, 2 * self.k.patience))

    def on_timer(self, timer):
        self.ballot = self.promised = self.promised[0] + 1, self.rank
        ticks = self.drawn(self.k.patience, 2 * self.k.patience)
        self.wait("retry", ticks * 2 ** min(self.attempts, 5))
        self.attempts += 1
        self.asks, self.votes, self.best = "promise", {self.id}, self.accepted
        self.tell(kind="prepare", ballot=self.ballot)
        self.count()

    def on_message(self, src, m):
        if self.decision >= 0:
            if m.kind in ("prepare", "accept"):
                self.send(src, kind="decided", value=self.decision)
        elif m.kind == "decided":
            self.decide(m.value)
        elif m.kind == "prepare" and m.ballot > self.promised:
            self.promised = m.ballot
            self.send(src, kind="promise", ballot=m.ballot, accepted=self.accepted)
        elif m.kind == "accept" and self.accept(m.ballot, m.value):
            self.send(src, kind="accepted", ballot=m.ballot)
        elif m.kind == self.asks and m.ballot == self.ballot:
            self.votes.add(src)
            if m.kind == "promise":
                self.best = max(self.best, m.accepted, key=lambda accepted: accepted[0])
            self.count()

    def accept(self, ballot, value):
        """As an acceptor, who has promised to take nothing of a lower ballot."""
        if ballot < self.promised:
            return False
        self.promised, self.accepted = ballot, (ballot, value)
        return True

    def count(self):
        if not self.majority(self.votes):
            return
        ballot, value = self.best
        value = self.input if ballot == NONE else value
        if self.asks == "promise":
            self.asks, self.best = "accepted", (self.ballot, value)
            self.votes = {self.id} if self.accept(*self.best) else set()
            self.tell(kind="accept", ballot=self.ballot, value=value)
            self.count()
        else:
            self.decide(value)
            self.tell(kind="decided", value=value)

    def decide(self, value):
        self.decision, self.asks = value, None
        self.stop("retry")


class Raft(Node):
    timers = ("election", "heartbeat")
    stable = ("term", "voted", "entries")

    def start(self):
        self.term, self.voted, self.role, self.led = 0, None, "follower", 0
        self.entries, self.committed = [], 0  # terms and values
        self.votes, self.next, self.copied = set(), {}, {}

    @property
    def log(self):
        return self.column(1, -1)

    @property
    def log_term(self):
        return self.column(0, 0)

    def column(self, which, none):
        found = [entry[which] for entry in self.entries]
        return found + [none] * (self.k.entries - len(found))

    def last_term(self, length):
        """The term of the last of so many entries."""
        return self.entries[length - 1][0] if length else 0

    def on_start(self):
        self.be_patient()

    def be_patient(self):
        self.wait("election", self.drawn(self.k.patience, 2 * self.k.patience))

    def on_timer(self, timer):
        if timer == "election":
            self.term, self.role, self.voted = self.term + 1, "candidate", self.id
            self.votes = {self.id}
            self.be_patient()
            length = len(self.entries)
            last = self.last_term(length), length
            self.tell(kind="request", term=self.term, last=last)
            self.elect()
        elif self.role == "leader":
            self.wait("heartbeat", self.k.beat)
            if len(self.entries) < self.k.entries:
                self.entries.append((self.term, self.rank))
            self.copied[self.id] = len(self.entries)
            self.commit()
            for member in self.neighbours:
                index = self.next[member]
                before = index, self.last_term(index)
                entries = self.entries[index : index + 1]
                fields = {"before": before, "entries": entries, "committed": self.committed}
                self.send(member, kind="append", term=self.term, **fields)

    def elect(self):
        if self.role == "candidate" and self.majority(self.votes):
            self.role, self.led = "leader", self.term
            self.next = dict.fromkeys(self.members, len(self.entries))
            self.copied = dict.fromkeys(self.members, 0)
            self.stop("election")
            self.wait("heartbeat", 1)

    def commit(self):
        for count in range(self.committed + 1, len(self.entries) + 1):
            have = [member for member in self.members if self.copied[member] >= count]
            if self.majority(have) and self.last_term(count) == self.term:
                self.committed = count

    def on_message(self, src, m):
        if m.term > self.term:
            if self.role == "leader":
                self.be_patient()
            self.term, self.voted, self.role = m.term, None, "follower"
        getattr(self, f"on_{m.kind}")(src, m)

    def on_request(self, src, m):
        length = len(self.entries)
        fresh = m.last >= (self.last_term(length), length)
        yes = m.term == self.term and self.voted in (None, src) and fresh
        if yes:
            self.voted = src
            self.be_patient()
        self.send(src, kind="vote", term=self.term, yes=yes)

    def on_vote(self, src, m):
        if m.yes and m.term == self.term:
            self.votes.add(src)
            self.elect()

    def on_append(self, src, m):
        index, term = m.before
        fits = False
        if m.term == self.term:
            self.role = "follower"
            self.be_patient()
            fits = index <= len(self.entries) and self.last_term(index) == term
        if fits:
            if m.entries and self.entries[index : index + 1] != m.entries:
                self.entries[index:] = m.entries
            index += len(m.entries)
            self.committed = max(self.committed, min(m.committed, index))
        self.send(src, kind="answer", term=self.term, yes=fits, index=index)

    def on_answer(self, src, m):
        if self.role == "leader" and m.term == self.term:
            if m.yes:
                self.next[src] = self.copied[src] = max(self.copied[src], m.index)
            else:
                self.next[src] = max(m.index - 1, 0)
            self.commit()


class ChandraToueg(Node):
    timers = ("beats",)

    def start(self):
        self.input = self.rank if self.k.inputs is None else self.k.inputs[self.rank]
        self.decision, self.estimate, self.stamp, self.turn = -1, self.input, 0, 0

    @property
    def coordinator(self):
        return self.members[(self.turn - 1) % self.size]

    def on_start(self):
        self.heard = dict.fromkeys(self.members, self.world.tick)
        self.limit = dict.fromkeys(self.members, self.k.patience)
        self.suspects = set()
        self.wait("beats", 1)
        self.enter(1)

    def enter(self, turn):
        self.turn, self.proposed, self.votes, self.yes = turn, False, set(), set()
        if self.coordinator == self.id:
            self.votes, self.best = {self.id}, (self.stamp, self.estimate)
            self.count()
        else:
            held = {"stamp": self.stamp, "value": self.estimate}
            self.send(self.coordinator, kind="estimate", turn=turn, yes=False, **held)

    def refuse(self, turn):
        if self.coordinator != self.id:
            self.send(self.coordinator, kind="reply", turn=self.turn, yes=False)
        self.enter(turn)

    def on_timer(self, timer):
        self.wait("beats", self.k.beat_ticks)
        for member in self.neighbours:
            if self.world.tick - self.heard[member] > self.limit[member]:
                self.suspects.add(member)
        self.tell(kind="beat", turn=0)
        if self.coordinator in self.suspects:
            self.refuse(self.turn + 1)

    def on_message(self, src, m):
        self.heard[src] = self.world.tick
        if src in self.suspects:
            self.limit[src] *= 2
            self.suspects.remove(src)
        if self.decision >= 0 or m.kind == "beat":
            return
        if m.kind == "decided":
            return self.decide(m.value)
        if m.turn > self.turn:
            self.refuse(m.turn)
        if m.turn < self.turn:
            return
        if m.kind == "propose":
            self.estimate, self.stamp = m.value, m.turn
            self.send(src, kind="reply", turn=m.turn, yes=True)
            self.enter(m.turn + 1)
        elif m.kind == ("reply" if self.proposed else "estimate"):
            self.votes.add(src)
            if m.yes:
                self.yes.add(src)
            if m.kind == "estimate":
                self.best = max(self.best, (m.stamp, m.value), key=lambda held: held[0])
            self.count()

    def count(self):
        if not self.majority(self.votes):
            return
        if self.proposed and self.majority(self.yes):
            self.decide(self.estimate)
        elif self.proposed:
            self.enter(self.turn + 1)
        else:
            self.proposed, self.votes, self.yes = True, {self.id}, {self.id}
            self.estimate, self.stamp = self.best[1], self.turn
            self.tell(kind="propose", turn=self.turn, value=self.estimate)
            if self.size == 1:
                self.count()

    def decide(self, value):
        self.decision = value
        self.stop("beats")
        self.tell(kind="decided", turn=0, value=value)
