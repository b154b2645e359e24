"""Reliable broadcast (Bracha 1987), and election on an anonymous ring (Itai and Rodeh 1990)."""

from tests.support.by_events.world import Node


class Bracha(Node):
    def start(self):
        self.delivered = self.tick = -1
        self.said = {}  # by kind and member
        self.sent = set()  # kinds
        self.f = (self.size - 1) // 3 if self.k.f is None else self.k.f

    def on_start(self):
        if self.id == self.k.sender:
            self.say("initial", self.k.value)

    def say(self, kind, value):
        """Say something once, to all and to itself."""
        if kind not in self.sent:
            self.sent.add(kind)
            self.tell(kind=kind, value=value)
            self.hear(self.id, kind, value)

    def on_message(self, src, m):
        if m.kind != "initial" or src == self.k.sender:
            self.hear(src, m.kind, m.value)

    def hear(self, src, kind, value):
        if (kind, src) in self.said:
            return
        self.said[kind, src] = value
        count = [said for (k, _), said in self.said.items() if k == kind].count(value)
        if kind == "initial":
            self.say("echo", value)
        elif kind == "echo" and 2 * count > self.size + self.f:
            self.say("ready", value)
        elif kind == "ready":
            if count > 2 * self.f and self.delivered < 0:
                self.delivered, self.tick = value, self.world.tick
            if count > self.f:
                self.say("ready", value)


class ItaiRodeh(Node):
    def start(self):
        self.leader, self.active, self.phase, self.number = False, True, 0, 0
        self.n = len(self.world.net)

    def on_start(self):
        self.begin()

    def begin(self):
        self.number = 1 + int(self.luck(self.phase) * (self.k.numbers or self.n))
        self.phase += 1
        self.pass_on(draw=(self.phase, self.number), hops=1, alone=True)

    def pass_on(self, **fields):
        self.send((self.id + 1) % self.n, **fields)

    def on_message(self, src, m):
        own = self.phase, self.number
        if m.hops == self.n:
            if self.active and m.alone:
                self.leader = True
            elif self.active:
                self.begin()
        elif not self.active or m.draw > own:
            self.active = False
            self.pass_on(draw=m.draw, hops=m.hops + 1, alone=m.alone)
        elif m.draw == own:
            self.pass_on(draw=m.draw, hops=m.hops + 1, alone=False)
