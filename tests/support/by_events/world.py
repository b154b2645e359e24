"""Messages and timers one by one, in plain Python: what nodes do that act on events."""

from collections import defaultdict
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace

from tests.support.node_programs.draws import luck

BACK, CRASH, START, MESSAGE, TIMER = range(5)
"""Kinds of events, in the order in which they happen within a tick."""


class Node:
    """A node of a group, whose members are its neighbours and itself; subclasses are programs.

    They define `start`, the first state, and what nodes do: `on_start`, `on_message`, with the sender and the
    message, and `on_timer`, with its name. Attributes have the names of the kernel's outputs. ``k`` has the
    kernel's parameters.
    """

    timers = ()
    stable = ()
    """What is on disk."""

    def __init__(self, world, id):
        self.world, self.k, self.id = world, world.parameters, id
        self.neighbours = sorted(world.net[id])
        self.members = sorted([id, *self.neighbours])
        self.rank, self.size = self.members.index(id), len(self.members)
        self.started, self.ends = False, {}
        self.start()

    def on_start(self):
        pass

    def luck(self, number):
        """A random number from 0 to 1, the same each time."""
        return luck(self.k, self, number)

    def drawn(self, least, most):
        """A random number of ticks."""
        return least + int(self.luck(self.world.tick) * (most - least + 1))

    def wait(self, timer, ticks):
        """Set a timer."""
        self.ends[timer] = self.world.tick + ticks
        self.world.add(self.ends[timer], TIMER, self.timers.index(timer), self.id)

    def stop(self, timer):
        """Unset a timer."""
        self.ends.pop(timer, None)

    def send(self, to, **fields):
        self.world.send(self.id, to, SimpleNamespace(**fields))

    def tell(self, **fields):
        """A message to each neighbour."""
        for to in self.neighbours:
            self.send(to, **fields)

    def majority(self, votes):
        """Whether these are more than half of the group."""
        return 2 * len(votes) > self.size


class World:
    """Nodes, and what is to happen: events in the order of ticks.

    Parameters
    ----------
    program
        Class of the nodes.
    parameters
        Of the kernel, and the seed.
    net
        A graph of networkx.
    delay
        Ticks that a message takes: a number, or a function of sender, receiver and tick.
    fifo, gst, bound, capacity
        As of ``dgsuite.Network``. A message that is lost holds up those behind it as any other, and takes its
        place in the channel.
    drops
        Ticks, senders and receivers of messages that are lost.
    adds
        A function of a tick and a node: receivers and messages that the node sends beside its own.
    crashes
        A ``dgsuite.Crash`` of each node that crashes; those that are partial say who receives.

    Attributes
    ----------
    messages
        Messages that are sent, by tick.
    refused
        Those to living nodes for which a channel had no place, by tick.
    """

    def __init__(
        self,
        program,
        parameters,
        net,
        delay=1,
        fifo=False,
        gst=None,
        bound=1,
        capacity=None,
        drops=(),
        crashes=(),
        adds=lambda tick, node: (),
    ):
        self.parameters, self.net, self.delay = SimpleNamespace(**parameters), net, delay
        self.fifo, self.gst, self.bound, self.drops = fifo, gst, bound, {*drops}
        self.adds, self.capacity, self.ahead, self.refused = adds, capacity, defaultdict(list), []
        self.program, self.numbers, self.events = program, count(), []
        self.nodes = [program(self, v) for v in range(len(net))]
        self.lives = [0] * len(net)  # how often each node was lost: odd while it is away
        self.last, self.messages, self.tick = {}, [], 0
        for node in self.nodes:
            self.add(0, START, node.id)
        self.falling = {(crash.round, crash.node): crash for crash in crashes if crash.partial}
        for crash in crashes:
            self.add(crash.round + crash.partial, CRASH, crash.node)
            if crash.until is not None:
                self.add(crash.until, BACK, crash.node, crash.memory)

    def add(self, tick, kind, *event):
        """Have something happen; what is of a kind happens in the order of its description."""
        heappush(self.events, (tick, kind, *event, next(self.numbers)))

    def send(self, src, dst, message):
        self.messages[-1] += 1
        ahead = [due for due in self.ahead[src, dst] if due > self.tick]
        if self.capacity is not None and len(ahead) >= self.capacity:
            there = self.lives[dst] % 2 == 0 and (self.tick, dst) not in self.falling
            self.refused[-1] += there
            return
        ticks = self.delay(src, dst, self.tick) if callable(self.delay) else self.delay
        due = self.tick + ticks
        if self.gst is not None:
            due = min(due, max(self.tick, self.gst) + self.bound)
        if self.fifo:
            self.last[src, dst] = due = max(due, self.last.get((src, dst), 0))
        self.ahead[src, dst] = [*ahead, due]
        crash = self.falling.get((self.tick, src))
        lost = crash is not None and dst not in crash.receivers
        if self.lives[dst] % 2 == 0 and not lost and (self.tick, src, dst) not in self.drops:
            number = next(self.numbers)
            self.add(due, MESSAGE, self.tick, src, number, dst, self.lives[dst], message)

    def run(self):
        """Let all happen, until nothing is to happen any more."""
        for tick in range(self.parameters.ticks):
            self.tick = tick
            self.messages.append(0)
            self.refused.append(0)
            while self.events and self.events[0][0] <= self.tick:
                _, kind, *event, _ = heappop(self.events)
                (self.back, self.crash, self.begin, self.deliver, self.ring)[kind](*event)
            for node in self.nodes:
                for dst, message in (
                    self.adds(tick, node.id) if self.lives[node.id] % 2 == 0 else ()
                ):
                    self.send(node.id, dst, message)
            if not self.messages[-1] and not self.goes_on():
                break
        return self

    def goes_on(self):
        """Whether a message is under way, or a timer runs."""
        if any(node.ends for node in self.nodes if self.lives[node.id] % 2 == 0):
            return True
        return any(self.arrives(*event[5:7]) for event in self.events if event[1] == MESSAGE)

    def arrives(self, dst, life):
        """Whether a message gets to the node to which it was sent, and that has not crashed since."""
        return self.lives[dst] == life

    def crash(self, v):
        self.lives[v] += 1

    def back(self, v, memory):
        self.lives[v] += 1
        node = self.nodes[v]
        if not memory:
            self.nodes[v] = self.program(self, v)
            vars(self.nodes[v]).update({name: vars(node)[name] for name in node.stable})
        elif node.started:
            for timer, end in node.ends.items():
                self.add(max(end, self.tick), TIMER, node.timers.index(timer), v)
            return
        self.add(self.tick, START, v)

    def begin(self, v):
        if self.lives[v] % 2 == 0:
            self.nodes[v].started = True
            self.nodes[v].on_start()

    def deliver(self, sent, src, number, dst, life, message):
        if self.arrives(dst, life):
            self.nodes[dst].on_message(src, message)

    def ring(self, place, v):
        node = self.nodes[v]
        timer = node.timers[place]
        if self.lives[v] % 2 == 0 and node.ends.get(timer, self.tick + 1) <= self.tick:
            node.stop(timer)
            node.on_timer(timer)
