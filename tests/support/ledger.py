"""A ledger of what faults did: a test of a fault fails if that fault never took effect.

A run whose drop is not met, or whose liar happens to say the truth, passes as one that survives it. So tests
of networks keep a ledger of the runs in their process: which kinds of faults these have, and which struck.
"""

from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from dgsuite.studies.network.disturbed import Disturbed
from dgsuite.studies.network.faults import CHURN, LIARS
from dgsuite.studies.network.lies import Lies


def parted(split, src, dst):
    """Whether a partition is between two nodes."""
    out, into = split.nodes[src], split.nodes[dst]
    return out and not into if split.one_way else out != into


class Ledger:
    """Kinds of faults that runs have, that strike, and that may as well not."""

    def __init__(self):
        self.expected, self.struck, self.spared = set(), Counter(), set()

    def spares(self, *kinds):
        """Say that these do not strike in this test."""
        self.spared |= {*kinds}

    def expect(self, faults, fields):
        """A run with some faults is over, whose messages have some fields to lie in."""
        liars = faults.liars and ("silent" if faults.liars.strategy == "silent" else "lies")
        kinds = {
            "loss": np.any(faults.loss) or faults.by_weight,
            "drops": faults.drops.size,
            "away": faults.churn.size,
            "crashes": faults.crashes or faults.rate,
            "adversary": faults.attack is not None,
            liars: liars == "silent" or (liars and fields),
            "partitions": faults.splits,
            "duplicates": faults.duplicates,
            "corruption": faults.corruption and fields,
        }
        self.expected |= {kind for kind, there in kinds.items() if there}

    def enter(self, site, sent, arrived):
        """What was sent, and what of it arrives: pairs of node ids, each as often as it was."""
        fate, gone = site.fate, sent - arrived
        drops = {pair: why for why, ends in fate.drops for pair in zip(*ends.tolist(), strict=True)}
        away = fate.dead & ~site._dead
        self.struck["duplicates"] += (arrived - sent).total()
        for (src, dst), times in gone.items():
            if (src, dst) in drops:
                kind = "away" if drops[src, dst] == CHURN else "drops"
            elif away[src] or away[dst]:
                kind = "away"
            elif fate.dead[dst]:
                kind = "crashes"
            elif any(parted(split, src, dst) for split in fate.splits):
                kind = "partitions"
            elif fate.mute is not None and fate.mute[src] == LIARS:
                kind = "silent"
            else:
                kind = "crashes" if fate.falling is not None and fate.falling[src] else "loss"
            self.struck[kind] += times
        for src, dst in arrived:
            assert (src, dst) not in drops, f"what {src} sends {dst} is dropped, and arrives"
            assert not fate.dead[dst] or not away[src], f"{dst} is away, and hears {src}"

    def close(self):
        missing = self.expected - {kind for kind, times in self.struck.items() if times}
        assert missing <= self.spared, f"these faults never struck: {missing - self.spared}"
        struck = self.spared & self.expected - missing
        assert not struck, f"these faults struck, and are said not to: {struck}"


def pairs(halo, row, src):
    ends = src.tolist(), halo.named(halo.first + row).tolist()
    return Counter(zip(*ends, strict=True))


@contextmanager
def kept():
    """A ledger of all runs with faults in this process."""
    ledger = Ledger()
    hear, along, begin = Disturbed.hear, Disturbed.along, Disturbed.begin
    notes, told = Disturbed.notes, Lies.told

    def heard(self, arriving):
        hear(self, arriving)
        if self.fate is not None:
            halo, struck = arriving.halo, arriving.struck
            here = arriving._list_all()
            ways = [pairs(halo, here.row, here.src)]
            if self.clusters[0].pulls:
                read = arriving.through
                row = np.repeat(np.arange(halo.own), np.diff(read.indptr))
                slots = np.asarray(read.indices)[: read.indptr[-1]]
                sent = arriving.sent[slots]
                ways.append(pairs(halo, row[sent], halo.named(slots[sent])))
            arriving.fate = None
            every = arriving._list_all()
            arriving.fate, arriving.struck = self.fate, struck
            for arrived in ways:
                assert arrived == ways[0], "ways of reading find other messages"
            ledger.enter(self, pairs(halo, every.row, every.src), ways[0])

    def came_along(self, messages):
        left, which = along(self, messages)
        if self.fate is not None:
            ends = (zip(m.src.tolist(), m.dst.tolist(), strict=True) for m in (messages, left))
            ledger.enter(self, *map(Counter, ends))
        return left, which

    def begun(self, step):
        begin(self, step)
        ledger.struck["crashes"] += len(self._falling) + len(self._fallen)
        ledger.struck["adversary"] += len(step.strikes)

    def lied(self, fields, src, dst, number=None):
        found = told(self, fields, src, dst, number)
        for name, values in fields.items() if len(src) else ():
            apart = (found[name] != values).reshape(len(src), -1).any(axis=1)
            for kind, which in zip(
                ("lies", "corruption"), self.false(src, dst, number), strict=True
            ):
                ledger.struck[kind] += np.count_nonzero(apart & which)
        return found

    def over(self):
        ledger.expect(self.faults, self.kernel.fields)
        return notes(self)

    with pytest.MonkeyPatch.context() as patched:
        ours = {"hear": heard, "along": came_along, "begin": begun, "notes": over}
        for name, how in ours.items():
            patched.setattr(Disturbed, name, how)
        patched.setattr(Lies, "told", lied)
        yield ledger
    ledger.close()


@pytest.fixture(autouse=True)
def ledger():
    """What faults did in a test; it fails if a kind of them never struck."""
    with kept() as found:
        yield found
