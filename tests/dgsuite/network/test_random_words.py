"""What a network draws has nothing to do with what nodes draw, nor do any two kinds of its draws."""

import re
from itertools import combinations

import numpy as np
import pytest

import dgsuite
from dgsuite.base.mixing import APART, Domain, key, keyed, unit
from dgsuite.genval import counters
from dgsuite.kernels import KERNELS
from dgsuite.kernels.events.channel import Channel
from dgsuite.kernels.lab import delays
from dgsuite.kernels.tools.rng import uniform
from dgsuite.studies.network import faults, lies
from dgsuite.studies.network.faults import Fate
from dgsuite.studies.network.lies import Lies
from dgsuite.studies.network.strategies import random, two_faced
from tests.support.paths import ROOT

NODES = np.arange(200_000)
SEEDS = (101, 7, 0)

MAKERS = {
    "dgsuite/base/mixing.py": "the one function that makes keys",
    "genval/_draws.py": "compiled forms of what follows",
    "genval/counters.py": "generators of graphs, whose keys are `subkey`",
    "genval/rules/walks.py": "what fastrp draws, worked out apart",
    "kernels/lab/_delays.py": "compiled forms of `keyed`",
    "kernels/tools/_draws.py": "compiled forms of `keyed`",
    "kernels/tools/rng.py": "numbers of nodes in blocks, and IMSuite's",
    "partition/clusters/partitioners.py": "a hash of nodes, which has no seed",
}
"""Modules that mix words by themselves."""


def spied(monkeypatch, module, call, by="keyed"):
    """The last words that a module makes in a call, by a function that it has."""
    made, make = [], getattr(module, by)

    def spy(*how):
        made.append(make(*how))
        return made[-1].copy()

    with monkeypatch.context() as patched:
        patched.setattr(module, by, spy)
        call()
    return unit(made[-1])


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn with a seed for each node, or its message to the next, by kind; numbers from 0 to 1."""
    n, after, none = len(NODES), NODES + 1, np.zeros(1, np.uint64)

    def each(seed):
        graph = dgsuite.Graph.from_edges([0], [1])
        of_run = (
            dgsuite.Network(crashes=0.2, byzantine=dgsuite.Byzantine(0.2))
            .faults(graph)
            .of_run(seed)
        )
        dead, every = np.zeros(n, bool), np.ones(n, bool)
        fates = [
            Fate(of_run.key(Domain.LOSS, turn, 0), none, none, dead, None, None, None, ())
            for turn in (0, 2)
        ]
        told = {}

        def lie(sent):
            told.update(luck=unit(sent.luck), faces=two_faced(sent), **random(sent))
            return sent.fields

        says = {"one": np.zeros(n), "other": np.zeros(n)}
        counts = dict.fromkeys(says, 0)
        key = of_run.key(Domain.LIES, 2, 0)
        Lies(key, every, lie, counts, {}, 2, "phase").told(says, NODES, after)
        late = Channel("uniform", 1, 9)
        alpha, stable = (KERNELS[name](seed=seed) for name in ("alpha", "stable_mis"))
        return {
            "crashes": spied(monkeypatch, faults, lambda: of_run.crash_rounds(n)),
            "liars": spied(monkeypatch, faults, lambda: of_run.lying(n)),
            "loss, round 0": spied(
                monkeypatch, lies, lambda: fates[0].lost(NODES, after), "paired"
            ),
            "loss, round 2": spied(
                monkeypatch, lies, lambda: fates[1].lost(NODES, after), "paired"
            ),
            "lies": told["luck"],
            "a field of lies": told["one"],
            "another field": told["other"],
            "who is told the truth": (told["faces"]["one"] == 0).astype(float),
            "late tasks": spied(
                monkeypatch, delays, lambda: late.waits(seed, 2, NODES, after), "paired"
            ),
            "late rounds": unit(keyed(keyed(alpha.key(2, 0), NODES), after)),
            "a daemon": stable.chance(NODES, 2),
            "a generator": unit(counters.draw(counters.subkey(seed, 2), NODES.astype(np.uint64))),
        }

    return each


@pytest.mark.parametrize("seed", SEEDS)
def test_no_kind_is_a_draw_of_nodes(drawn, seed):
    some = {kind: numbers[:200] for kind, numbers in drawn(seed).items()}
    del some["who is told the truth"]
    for draw in range(1001):
        own = uniform("counter", seed, NODES[:200], draw)
        same = [kind for kind, numbers in some.items() if (numbers == own).any()]
        assert not same, (draw, same)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_two_kinds_are_independent(drawn, seed):
    own = {f"draw {d} of nodes": uniform("counter", seed, NODES, d) for d in range(5)}
    every = drawn(seed) | own
    each = {kind: (some - some.mean()) / some.std() for kind, some in every.items()}
    for one, other in combinations(each, 2):
        assert abs((each[one] * each[other]).sum()) < 5 * len(NODES) ** 0.5, (one, other)


def test_seeds_of_domains_are_far_apart():
    """So that none is that of another domain, as long as seeds are below 2^32."""
    firsts = [(domain * APART) % 2**64 for domain in Domain]
    assert all(one ^ other >= 2**32 for one, other in combinations(firsts, 2))
    keys = {int(key(seed, 2, domain)[0]) for seed in range(99) for domain in Domain}
    assert len(keys) == 99 * len(Domain)


def test_which_modules_mix_words():
    """All others draw by keys of the one function."""
    mixes = re.compile(r"\bGOLDEN\b|\bmix\(|0x9E3779B97F4A7C15|0xBF58476D1CE4E5B9", re.IGNORECASE)
    found = {
        str(path.relative_to(ROOT))
        for folder in ("dgsuite", "genval", "kernels", "partition")
        for path in (ROOT / folder).rglob("*.py")
        if mixes.search(path.read_text())
    }
    assert found == {*MAKERS}
