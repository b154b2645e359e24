"""Compiled loops are loaded before the clock of a run starts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof

from dgsuite.base import compiling
from dgsuite.core.engine.site import Site
from dgsuite.partition.arrays import _compiled
from tests.support import sites
from tests.support.cases import COMMUNITIES, NAMES, cuts, inputs
from tests.support.examples import examples

LATER = {"outside", "pull_sum", "push_down", "push_sum", "sum_tiles", "weigh"}
"""Loops that load when they are first used: a cluster's, or of few kernels that nothing tells of before."""


@pytest.fixture
def called(monkeypatch):
    """A set to which each call of a loop adds its name and the types of its arguments."""
    found = set()

    def recording(name, loop):
        def call(*arguments):
            found.add((name, tuple(map(typeof, arguments))))
            return loop(*arguments)

        return call

    every = {loop: name for name, loop in vars(_compiled).items() if hasattr(loop, "py_func")}
    loops = {loop: name for loop, name in every.items() if name != "bit"}  # loops call it
    assert loops.keys() >= {loop for loop, _ in compiling.LOOPS}
    calls = {loop: recording(name, loop) for loop, name in loops.items()}
    for loop, name in loops.items():
        monkeypatch.setattr(_compiled, name, calls[loop])
    monkeypatch.setattr(compiling, "LOOPS", [(calls[one], kinds) for one, kinds in compiling.LOOPS])
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COMMUNITIES])
def test_rounds_load_no_loops(name, called, monkeypatch):
    """With the exceptions listed, and those of kernels that make graphs of their own."""
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    warm, loaded = Site.warm, set()

    def recorded(site):
        before = set(called)
        warm(site)
        loaded.update(called)
        called.clear()
        called.update(before)

    monkeypatch.setattr(Site, "warm", recorded)

    @given(st.data())
    @examples(2)
    def check(data):
        kernel, make = data.draw(inputs(name))
        cut = make(**data.draw(cuts(make().n)))
        loaded.clear()
        called.clear()
        sites.simulate(kernel, cut, 2)
        late = {loop for loop, types in called if (loop, types) not in loaded}
        # a site without negative weights takes longer offers once a negative one comes from another site
        negative = any(c.weights is not None and (c.weights < 0).any() for c in cut.parts)
        assert late <= LATER | ({"push_nearer"} if negative else set())

    check()
