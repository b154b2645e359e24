"""A shared register: Attiya, Bar-Noy and Dolev 1995, with several writers."""

from operator import itemgetter

from tests.support.by_events.world import Node


def newer(*copies):
    """The first of those with the greatest stamp."""
    return max(copies, key=itemgetter(0))


class ABD(Node):
    timers = ("wakes", "again")

    def start(self):
        count = self.k.operations
        self.begin, self.end, self.value = [-1] * count, [-1] * count, [-1] * count
        self.writes = [self.luck(number) < self.k.share for number in range(count)]
        self.copy = (0, 0), 0  # with its stamp
        self.best = self.copy  # of those that have answered
        self.over, self.asks = 0, None
        self.answered = set()

    def on_start(self):
        self.wait("wakes", self.drawn(1, self.k.think))

    def on_timer(self, timer):
        if timer == "again":
            return self.call()
        self.begin[self.over] = self.world.tick
        if self.writes[self.over]:
            self.value[self.over] = 1 + self.over * self.size + self.rank
        self.best = self.copy
        self.half("ask")

    def half(self, kind):
        """Begin the first or second half of an operation."""
        self.asks, self.answered = kind, {self.id}
        self.call()
        self.count()

    def call(self):
        self.wait("again", self.k.patience)
        for member in self.neighbours:
            if member not in self.answered:
                self.send(member, kind=self.asks, half=(self.asks, self.over), copy=self.best)

    def count(self):
        if not self.majority(self.answered):
            return
        if self.asks == "ask":
            (counter, _), value = self.best
            if self.writes[self.over]:
                self.best = (counter + 1, self.rank), self.value[self.over]
            else:
                self.value[self.over] = value
            self.copy = newer(self.copy, self.best)
            return self.half("store")
        self.asks = None
        self.stop("again")
        self.end[self.over] = self.world.tick
        self.over += 1
        if self.over < self.k.operations:
            self.wait("wakes", self.drawn(1, self.k.think))

    def on_message(self, src, m):
        if m.kind == "answer":
            if m.half == (self.asks, self.over):
                self.answered.add(src)
                if self.asks == "ask":
                    self.best = newer(self.best, m.copy)
                self.count()
            return
        if m.kind == "store":
            self.copy = newer(self.copy, m.copy)
        self.send(src, kind="answer", half=m.half, copy=self.copy)
