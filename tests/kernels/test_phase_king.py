"""Under the phase king nodes agree, in f + 1 phases, whatever f of them say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from tests.support.valid import judged


@cache
def complete(n):
    return genval.graph("cplt", n, client=None)


def run(n, **how):
    """The result, and what its rule says."""
    return judged("phase_king", complete(n), **how)


def halves(n, ones):
    return (np.arange(n) < ones).astype(int).tolist()


def one_and_zero(sent):
    """To even nodes 1, to odd ones 0."""
    return {"value": 1 - sent.dst % 2}


@pytest.mark.parametrize("n", [1, 2, 5, 9, 10])
def test_without_liars_the_majority_wins(n):
    for ones in range(n + 1):
        ds, report = run(n, inputs=halves(n, ones))
        f = (n - 1) // 4
        assert report.ok
        assert (ds.decision == (2 * ones > n)).all()
        assert ds.sizes["round"] == f + 1
        assert ds.messages.values.tolist() == [n * n - 1] * (f + 1)


@pytest.mark.few(5)
@pytest.mark.parametrize("strategy", ["random", "two-faced", "silent", "constant", one_and_zero])
@pytest.mark.parametrize(("n", "f"), [(5, 1), (9, 2), (13, 3)])
def test_nodes_agree_though_f_lie(n, f, strategy):
    """Also where the first kings lie, and inputs are a tie or nearly so."""
    for seed in range(6):
        luck = np.random.default_rng(seed)
        liars = [*range(f)] if seed % 2 else luck.permutation(n)[:f].tolist()
        network = dgsuite.Network(byzantine=dgsuite.Byzantine(liars, strategy))
        inputs = luck.permutation(halves(n, n // 2 + seed % 3)).tolist()
        ds, report = run(n, inputs=inputs, seed=seed, network=network)
        assert report.ok, str(report)
        assert ds.sizes["round"] == f + 1
        for value in (0, 1):
            assert (run(n, inputs=[value] * n, network=network)[0].decision == value).all()


def test_nodes_agree_though_f_crash():
    for seed in range(8):
        luck = np.random.default_rng(seed)
        crashes = [
            dgsuite.Crash(
                v, int(luck.integers(3)), str(luck.choice(["tell", "reign"])), partial=True
            )
            for v in ([0, 1] if seed % 2 else luck.permutation(9)[:2].tolist())
        ]
        network = dgsuite.Network(crashes=crashes)
        report = run(9, inputs=halves(9, 4 + seed % 2), seed=seed, network=network)[1]
        assert report.ok, str(report)


def test_as_many_liars_as_kings_keep_others_from_agreeing():
    """All f + 1 kings lie, and tell nodes of even and odd numbers different values."""
    network = dgsuite.Network(byzantine=dgsuite.Byzantine([0, 1, 2], one_and_zero))
    ds, report = run(9, f=2, inputs=halves(9, 5), network=network)
    assert not report.ok
    assert set(ds.decision.values[3:].tolist()) == {0, 1}
