"""Mutual exclusion: Ricart and Agrawala 1981, and Lamport 1978."""

from tests.support.by_events.world import Node


class RicartAgrawala(Node):
    timers = ("wakes", "leaves")

    def start(self):
        self.enter, self.leave = [-1] * self.k.requests, [-1] * self.k.requests
        self.served = self.clock = 0
        self.request, self.inside = None, False
        self.replied, self.deferred, self.queue = set(), [], {}

    @property
    def now(self):
        """A time stamp."""
        return self.clock, self.rank

    def on_start(self):
        self.wait("wakes", self.drawn(1, self.k.think))

    def on_timer(self, timer):
        self.clock += 1
        if timer == "leaves":
            return self.exit()
        self.request = self.queue[self.id] = self.now
        self.replied = {self.id}
        self.tell(kind="request", stamp=self.now)
        self.try_to_enter()

    def try_to_enter(self):
        if self.request and not self.inside and self.may_enter():
            self.inside = True
            self.enter[self.served] = self.world.tick
            self.wait("leaves", self.k.stay)

    def may_enter(self):
        return len(self.replied) == self.size

    def exit(self):
        self.leave[self.served] = self.world.tick
        self.served += 1
        self.request, self.inside = None, False
        del self.queue[self.id]
        self.release()
        if self.served < self.k.requests:
            self.wait("wakes", self.drawn(1, self.k.think))

    def release(self):
        for member in self.deferred:
            self.send(member, kind="reply", stamp=self.now)
        self.deferred = []

    def on_message(self, src, m):
        self.clock = max(self.clock, m.stamp[0]) + 1
        if m.kind == "reply":
            self.replied.add(src)
            self.try_to_enter()
        elif self.inside or (self.request and self.request < m.stamp):
            self.deferred.append(src)
        else:
            self.send(src, kind="reply", stamp=self.now)


class LamportMutex(RicartAgrawala):
    def on_message(self, src, m):
        self.clock = max(self.clock, m.stamp[0]) + 1
        if m.kind == "request":
            self.queue[src] = m.stamp
            self.send(src, kind="reply", stamp=self.now)
        elif m.kind == "release":
            self.queue.pop(src, None)
        if self.request and m.stamp > self.request:
            self.replied.add(src)
        self.try_to_enter()

    def may_enter(self):
        return min(self.queue.values()) == self.request and super().may_enter()

    def release(self):
        self.tell(kind="release", stamp=self.now)
