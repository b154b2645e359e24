"""Agreement, a register, mutual exclusion and election, by nodes that act on messages and timers."""

import numpy as np

from tests.cards.card import Card, N, at

NODES = np.arange(N)

MOVED = ("one higher", "one lower", "first lower", "last higher", "most higher", "most lower")
MOVED += ("all higher",)
"""Changes of a tick, or of all, that leave room for what is next."""


def in_turn(length, pause):
    """When each node begins and ends what it does twice, one node after the other."""
    begin = (np.arange(2) * N + NODES[:, None]) * (length + pause) + 1
    return begin, begin + length


def agreement(more):
    """A card of consensus, with values of more parameters."""
    return Card(
        lambda net, pick: {
            "inputs": pick([None, [pick(range(9)) for _ in net]]),
            **{name: pick(values) for name, values in more(net).items()},
        },
        rest=lambda net, found: {"decision": np.where(NODES % 9 == 4, -1, 7), "input": NODES},
        wrong={
            "one disagrees": {"decision": lambda v: at(v, 6, 3)},
            "one disagrees, and crashes": {
                "decision": lambda v: at(v, 6, 3),
                "crashed": at(NODES * 0 - 1, 6, 5),
            },
            "nobody's input": {"decision": lambda v: np.where(v < 0, v, N)},
            "below none": {"decision": lambda v: at(v, 6, -2)},
        },
        false={"inputs": [*range(1, N + 1)]},
        free=("decision",),
    )


def elected(net, found):
    """Node 7 leads term 3 and has made all entries, of which some nodes lack the last; node 2 led term 1."""
    late = NODES % 5 == 4
    log, term, led = np.full((N, 4), 7), np.full((N, 4), 3), NODES * 0
    log[late, 3], term[late, 3], led[7], led[2] = -1, 0, 3, 1
    return {"log": log, "log_term": term, "committed": np.where(late, 3, 4), "led": led}


def registered(net, found):
    """Every third operation is a write, and others read what was written last."""
    begin, end = in_turn(2, 2)
    number = np.arange(2) * N + NODES[:, None]
    writes = (NODES[:, None] + np.arange(2)) % 3 == 0
    value = np.maximum.accumulate(np.where(writes, number + 1, 0).T.ravel())
    return {"begin": begin, "end": end, "writes": writes, "value": value.reshape(2, N).T}


def mutex():
    """A card of mutual exclusion."""
    return Card(
        lambda net, pick: {"requests": pick([1, 2]), "think": pick([1, 10]), "stay": pick([1, 3])},
        rest=lambda net, found: dict(zip(("enter", "leave"), in_turn(3, 2), strict=True)),
        wrong={
            "two inside": {"enter": lambda v: at(v, (5, 1), v[5, 1] - 3)},
            "one inside for good": {"leave": lambda v: at(v, (5, 1), -1)},
            "once more before it has left": {"enter": lambda v: at(v, (5, 1), v[5, 0] + 1)},
            "left before it entered": {"leave": lambda v: at(v, (5, 0), v[5, 0] - 3)},
        },
        harmless=tuple(f"{name} {kind}" for name in ("enter", "leave") for kind in MOVED),
    )


CARDS = {
    "abd": Card(
        lambda net, pick: {
            "operations": pick([1, 2, 3]),
            "share": pick([0.0, 0.5, 1.0]),
            "think": pick([1, 10]),
            "patience": pick([2, 50]),
        },
        rest=registered,
        wrong={
            "a value of later": {"value": lambda v: at(v, (1, 0), v.max())},
            "an older value": {"value": lambda v: at(v, (39, 1), v[34, 1])},
            "a first value, too late": {"value": lambda v: at(v, (1, 0), 0)},
            "nobody's value": {"value": lambda v: at(v, (1, 0), 2)},
            "before the first has ended": {"begin": lambda v: at(v, (5, 1), v[5, 0] + 1)},
            "an end without a beginning": {"begin": lambda v: at(v, (5, 1), -1)},
        },
        harmless=(
            *(f"{name} {kind}" for name in ("begin", "end") for kind in MOVED),
            *("end negative", "end too large", "writes no flag", "writes negative"),
        ),
    ),
    "bracha": Card(
        lambda net, pick: {
            "sender": pick(sorted(net)),
            "value": pick([0, 1]),
            "f": pick([None, 0, (len(net) - 1) // 3]),
        },
        rest=lambda net, found: {"delivered": NODES * 0 + 1, "tick": 2 + NODES % 2},
        wrong={
            "one delivers nothing": {
                "delivered": lambda v: at(v, 9, -1),
                "tick": lambda v: at(v, 9, -1),
            },
            "at no time": {"tick": lambda v: at(v, 9, -1)},
            "two values, and the sender lies": {
                "delivered": lambda v: at(v, 9, 0),
                "lies": at(NODES * 0, 0, 1),
            },
        },
        false={"value": 0},
        free=("tick",),
    ),
    "chandra_toueg": agreement(lambda net: {"beat_ticks": [2, 5], "patience": [4, 15]}),
    "itai_rodeh": Card(
        lambda net, pick: {"numbers": pick([None, 2, 5])},
        rest=lambda net, found: {
            "leader": NODES == 12,
            "phase": np.where(NODES == 12, 4, 1 + NODES % 3),
        },
        wrong={
            "two leaders after a crash": {
                "leader": lambda v: at(v, 5, True),
                "crashed": at(NODES * 0 - 1, 3, 2),
            },
            "not begun": {"phase": lambda v: at(v, 5, 0)},
        },
        harmless=tuple(
            f"phase {kind}" for kind in ("all one", "doubled", *MOVED) if kind != "first lower"
        ),
    ),
    "lamport_mutex": mutex(),
    "paxos": agreement(lambda net: {"proposers": [1, 2, len(net)], "patience": [5, 20]}),
    "raft": Card(
        lambda net, pick: {
            "entries": pick([1, 2, 5]),
            "patience": pick([5, 20]),
            "beat": pick([2, 8]),
            "ticks": pick([1, 60]),
        },
        rest=elected,
        wrong={
            "two leaders": {"led": lambda v: at(v, 9, 3)},
            "of another leader": {
                "log": lambda v: at(v, (6, 0), 2),
                "log_term": lambda v: at(v, (6, 0), 1),
            },
            "more than there are": {"committed": lambda v: at(v, 4, 4)},
            "less than none": {"committed": lambda v: at(v, 4, -1)},
            "terms that fall": {
                "log": lambda v: at(v, (slice(None), 1), 2),
                "log_term": lambda v: at(v, (slice(None), 1), 1),
            },
        },
        free=("committed",),
        harmless=("led doubled", "led most higher", "led too large"),
    ),
    "ricart_agrawala": mutex(),
}
