"""What kernels that users write may rely on, and what they are told when they err."""

from __future__ import annotations

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import BadProgram, Endless, EndlessTasks, FloatVotes

import dgsuite
from dgsuite.mesh import _content, _message
from dgsuite.program import reduce_votes
from kernels.base import Vote, vote
from kernels.exact import exact_sum
from partition.errors import InputError, RunError
from partition.graph import Graph

STYLES = ("serial", "finish_async", "clocked")


def ring(n, **how):
    nodes = np.arange(n)
    return Graph.from_edges(nodes, (nodes + 1) % n, n=n, **how)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.booleans())
def test_sums_are_exact(values, compiled):
    array = np.array(values, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.exact.COMPILE_FROM", 0 if compiled else 1 << 15)
        found = exact_sum(array)
    assert found == sum(map(Fraction, values))
    for dtype in (np.int64, np.uint64, np.int8):
        limits = np.iinfo(dtype)
        whole = np.array([limits.max, limits.min, limits.max], dtype)
        assert exact_sum(whole) == 2 * int(limits.max) + int(limits.min)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("clusters", [1, 3, 8])
def test_floats_in_votes_are_added_exactly(client, style, clusters):
    for n in (1, 1500):
        dgsuite.run(FloatVotes, ring(n), style=style, clusters=clusters, client=client)


def test_many_floats_in_votes_are_added_exactly():
    for clusters in (1, 3):
        dgsuite.run(FloatVotes, ring(100_000), style="serial", clusters=clusters)


def test_votes_of_floats_travel_without_a_change():
    cast = vote(sum=np.array([0.1, -1e300, 5e-324]), min=-0.0, max=math.inf)
    sent = _message(3, cast, None)
    assert _content(sent) == (3, cast, None)
    short = _message(3, cast._replace(max=None), None)
    assert type(short) is tuple  # not pickled
    assert _content(short)[1] == cast._replace(max=None)


def test_a_cluster_that_does_not_vote_adds_nothing():
    assert reduce_votes([Vote(), vote(sum=3), Vote(), vote(sum=4, min=None)]) == Vote(
        sum=7, given=6
    )
    assert reduce_votes([vote(min=2.5), vote(min=2)]).min == 2


@pytest.mark.parametrize(
    ("cast", "message"),
    [
        ({"sum": 0.3}, r"vote\(sum=0.3\) is not an integer"),
        ({"sum": np.float64(3)}, "vote the array"),
        ({"sum": np.array([1.0, np.nan])}, "nan cannot be added exactly"),
        ({"sum": np.array([np.inf])}, "inf cannot be added exactly"),
        ({"sum": np.array(["a"])}, "dtype <U1 cannot be added"),
        ({"min": np.nan}, "nan cannot be compared"),
        ({"max": np.array([0.0, np.nan])}, "nan cannot be compared"),
        ({"max": "a"}, "'a' cannot be compared"),
    ],
)
def test_what_cannot_be_voted_is_refused(cast, message):
    with pytest.raises(InputError, match=message):
        vote(**cast)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("list", "kernel 'toy': program must yield its rounds, .* it returned list"),
        ("nothing", "program must yield its rounds, .* it returned NoneType"),
        ("phase", "round 0: the program yields the method 'send', which is not a Round"),
        ("unvoted", r"round 0, phases 'send', 'cast': .* reads reply.sum, .* vote\(sum=\.\.\.\)"),
        ("unvoted at all", "kernel 'toy', round 0, phase 'send': the program reads reply.any"),
        ("no phases", "at least one phase"),
        ("list of phases", "Round takes methods of the kernel, or their names, got list"),
    ],
)
def test_a_program_that_is_none_is_named(what, message):
    with pytest.raises(dgsuite.DgsuiteError, match=message):
        dgsuite.run(BadProgram, ring(6), what=what, style="serial", clusters=2)


@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_votes_that_nobody_cast_are_named_on_workers(client, style):
    with pytest.raises(RunError, match=r"phases 'send', 'cast': the program reads reply.sum"):
        dgsuite.run(BadProgram, ring(6), what="unvoted", style=style, clusters=2, client=client)


@pytest.mark.parametrize("style", STYLES)
def test_rounds_have_a_limit(client, style):
    graph = ring(8, clusters=2)
    how = {"style": style, "client": client}
    with pytest.raises(
        RunError,
        match="kernel 'toy', round 3, phases 'send', 'read': the program goes on after max_rounds=3; "
        "of the last votes it read sum=8",
    ):
        dgsuite.run(Endless, graph, max_rounds=3, **how)
    rounds = dgsuite.run("lcr", graph, **how).sizes["round"]
    assert dgsuite.run("lcr", graph, max_rounds=rounds, **how).sizes["round"] == rounds
    with pytest.raises(RunError, match=f"round {rounds - 1}, phase.* max_rounds={rounds - 1}"):
        dgsuite.run("lcr", graph, max_rounds=rounds - 1, **how)
    with pytest.raises(RunError, match=r"depth 5, phase 'read', cluster .: tasks go deeper"):
        dgsuite.run(EndlessTasks, graph, max_rounds=5, **how)


def test_a_limit_of_rounds_is_a_number():
    for bad in (0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match="max_rounds must be a whole number from 1 on"):
            dgsuite.run("mis", Graph.from_networkx(nx.path_graph(3)), max_rounds=bad)
