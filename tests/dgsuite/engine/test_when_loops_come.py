"""Compiled loops may take NumPy's place at any moment of a run: no result depends on when."""

from __future__ import annotations

import random

import pytest

from dgsuite.base import thresholds
from dgsuite.kernels import KERNELS
from tests.dgsuite.engine.test_threads import CLUSTERS, cut_of, expected
from tests.support.cases import typical
from tests.support.sites import assert_same, simulate


def check(name, monkeypatch, times):
    """Loops over any number of elements come once so many have been taken, up to those of a whole run."""
    kernel, whole = expected(name)
    cut = cut_of(name, CLUSTERS)
    monkeypatch.setattr(thresholds, "compile_from", 0)
    monkeypatch.setattr(thresholds, "left_to_numpy", 1 << 40)
    assert_same(whole, simulate(kernel, cut, 2))
    most = (1 << 40) - thresholds.left_to_numpy
    dice = random.Random(name)
    for k in range(times):
        left = thresholds.left_to_numpy = dice.randrange(1, most)
        assert_same(whole, simulate(kernel, cut, 1 + k % 2, shared=k % 3 == 0))
        assert thresholds.left_to_numpy < left
    assert most > 1


@pytest.mark.parametrize("name", typical(KERNELS))
def test_it_does_not_matter_when_loops_are_loaded(name, monkeypatch):
    check(name, monkeypatch, 4)


@pytest.mark.long
@pytest.mark.parametrize("name", KERNELS)
def test_it_does_not_matter_when_loops_of_any_kernel_are_loaded(name, monkeypatch):
    check(name, monkeypatch, 20)
