"""Collectives without sockets: all workers of a run in one process, which hand each other what they say."""

import sys
from collections import Counter, defaultdict, deque
from functools import partial
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.core.engine.collectives import Contribution, partners, tree
from dgsuite.core.engine.program import reduce_votes
from dgsuite.kernels.bsp import Vote
from dgsuite.kernels.bsp.votes import vote
from tests.support.examples import examples

SIZES = [*range(1, 20), 31, 32, 33, 63, 64, 100, 128, 256, 512, 1000, 1024]


class Workers:
    """Workers of one process, each with its end of a collective.

    Attributes
    ----------
    sent
        How many messages each worker has sent.
    calls
        How many functions each worker's end has called.
    """

    def __init__(self, size, contributions, combine):
        self.ends = [tree(r, size, mine, combine) for r, mine in enumerate(contributions)]
        self.sent, self.calls = Counter(), Counter()
        self._there = defaultdict(deque)
        self._waiting, self.found = {}, {}

    def _go_on(self, rank, heard):
        def count(frame, event, argument):
            self.calls[rank] += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            move = self.ends[rank].send(heard)
        except StopIteration as end:
            self.found[rank] = end.value
            return
        finally:
            sys.setprofile(None)
        for to, said in move.sends.items():
            assert to in partners(rank, len(self.ends))
            self._there[rank, to].append(said)
            self.sent[rank] += 1
        self._waiting[rank] = move.hears

    def run(self, order):
        """Let workers go on in some order until all are done; what each has found."""
        for rank in order:
            self._go_on(rank, None)
        while self._waiting:
            ready = [r for r in order if r in self._waiting]
            ready = [r for r in ready if all(self._there[p, r] for p in self._waiting[r])]
            assert ready, "all wait for each other"
            for rank in ready:
                self._go_on(rank, [self._there[p, rank].popleft() for p in self._waiting.pop(rank)])
        assert not any(self._there.values())
        return [self.found[rank] for rank in range(len(self.ends))]


votes = st.one_of(
    st.just(Vote()),
    st.builds(partial(vote), any=st.booleans()),
    st.builds(partial(vote), sum=st.integers(-(2**70), 2**70), min=st.integers(-3, 3)),
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=3).map(lambda x: vote(sum=np.array(x))),
    st.builds(partial(vote), min=st.floats(allow_nan=False), max=st.floats(allow_nan=False)),
)


@examples(60)
@given(st.lists(votes, min_size=1, max_size=40), st.randoms(use_true_random=False), st.data())
def test_all_find_the_same_votes_and_what_is_due_to_them(cast, random, data):
    size = len(cast)
    peers = st.sets(st.integers(0, size - 1), max_size=5)
    to = [sorted(data.draw(peers) - {r}) for r in range(size)]
    combine = Contribution.combining(reduce_votes)
    said = [Contribution.of(v, peers, size) for v, peers in zip(cast, to, strict=True)]
    order = [*range(size)]
    random.shuffle(order)
    found = Workers(size, said, combine).run(order)
    expected = reduce_votes(cast)
    for rank, whole in enumerate(found):
        assert whole.vote == expected
        assert repr(whole.vote) == repr(found[0].vote)
        assert whole.expected(rank) == sum(rank in peers for peers in to)


@pytest.mark.parametrize("size", SIZES)
def test_messages_of_a_worker_grow_with_the_logarithm(size):
    """At most 2 log2 p each, and 2 (p - 1) in all, besides those with parcels."""
    workers = Workers(size, range(size), sum)
    assert workers.run(range(size)) == [sum(range(size))] * size
    assert max(workers.sent.values(), default=0) <= 2 * ceil(log2(size))
    assert workers.sent.total() == 2 * (size - 1)


def test_the_work_of_a_worker_does_not_grow_but_for_its_own_messages():
    """In an exchange in which each worker sends a parcel to the next one."""
    calls = {}
    for size in (16, 1024):
        said = [Contribution.of(Vote(), [(rank + 1) % size], size) for rank in range(size)]
        workers = Workers(size, said, Contribution.combining(reduce_votes))
        assert all(w.expected(r) == 1 for r, w in enumerate(workers.run(range(size))))
        calls[size] = max(workers.calls[r] / (1 + workers.sent[r]) for r in range(size))
    assert calls[1024] <= 1.1 * calls[16]


def test_a_tree_is_flat():
    """How many messages follow one another decides what a network's latency costs."""
    for size, levels in ((4, 1), (6, 1), (8, 2), (32, 2), (241, 2), (1024, 3)):
        workers = Workers(size, range(size), sum)
        depth = {0: 0}
        for rank in range(1, size):
            depth[rank] = 1 + min(depth[p] for p in partners(rank, size) if p in depth)
        assert max(depth.values()) == levels
        assert workers.run(range(size))[-1] == sum(range(size))
