"""Every kernel on every small graph: right, and the same for one to five clusters on two sites."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import dgsuite
from dgsuite.core.executors import serial
from dgsuite.kernels import BLOCK, RECURSIVE
from tests.support.cases import typical
from tests.support.sites import assert_same, simulate
from tests.support.small_graphs import (
    BY_CUT,
    DIRECTED,
    FORMS,
    Case,
    connected,
    directed,
    families,
    suited,
    told,
)

CUTS = (2, 3, 4, 5)
"""Clusters. One cluster is what others are compared with."""

every_form = pytest.mark.parametrize(("kernel", "faithful"), FORMS)

typical_form = pytest.mark.parametrize(("kernel", "faithful"), typical(FORMS))


@pytest.fixture
def compiled_from_zero(monkeypatch):
    """Compiled loops run from the first element on, as on large graphs."""
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)


def check(case, cuts):
    """A kernel's outputs are right, and no cut changes them, whether two sites share memory or not."""
    with told(case):
        kernel = case.make()
        expected = serial.run(kernel, case.graph().parts)
        case.assert_right(expected[0], kernel)
    for clusters in cuts:
        shared = (case.number // 4 + clusters) % 2 == 0
        with told(case, f"{clusters} clusters", f"{shared=}"):
            found = simulate(kernel, case.graph(clusters), 2, shared=shared)
            if kernel.name in BY_CUT:
                assert_same_outputs(kernel, expected[0], found[0])
            else:
                assert_same(expected, found)


def assert_same_outputs(kernel, expected, found):
    for name in kernel.outputs:
        np.testing.assert_array_equal(expected[name], found[name], err_msg=name)


def cases(kernel, nets, faithful=False):
    """Those of the graphs that the kernel can run on."""
    found = [Case(kernel, net, number, faithful) for number, net in enumerate(suited(kernel, nets))]
    assert found
    return found


def one(case):
    """A cut, in turn."""
    return CUTS[case.number % 4 :][:1]


def connected_to(n):
    return [net for k in range(1, n + 1) for net in connected(k)]


@every_form
def test_connected_graphs_of_four_nodes(kernel, faithful):
    for case in cases(kernel, connected_to(4), faithful):
        check(case, one(case))


@pytest.mark.long
@every_form
def test_connected_graphs_of_five_nodes(kernel, faithful):
    for case in cases(kernel, connected(5), faithful):
        check(case, one(case))


@typical_form
def test_families(kernel, faithful):
    for case in cases(kernel, families(), faithful):
        check(case, one(case))


@pytest.mark.parametrize("kernel", typical(DIRECTED))
def test_directed_graphs_of_three_nodes(kernel):
    for case in cases(kernel, [net for n in (1, 2, 3) for net in directed(n)]):
        check(case, (2 + case.number % 2,))


@pytest.mark.parametrize("name", sorted(RECURSIVE))
def test_recursive_forms(name):
    for case in cases(name, [*connected_to(4), *families()]):
        kernel = RECURSIVE[name](**vars(case.make()))
        for clusters in (1, *one(case)):
            with told(case, "recursive", f"{clusters} clusters"):
                found = dgsuite.run(kernel, case.graph(clusters), style="serial")
                case.assert_right(found, kernel)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", sorted(BLOCK))
def test_block_forms(name):
    """Right for any cut, and every cut gives the same."""
    refuses = BLOCK[name].undirected and not BLOCK[name].both_ways
    nets = [*connected_to(4), *families(), *([] if refuses else directed(3))]
    for case in cases(name, nets):
        known = {f.name for f in fields(BLOCK[name])}
        kernel = BLOCK[name](**{k: v for k, v in vars(case.make()).items() if k in known})
        first = None
        for clusters in (1, *one(case)):
            with told(case, "block", f"{clusters} clusters"):
                found = dgsuite.run(kernel, case.graph(clusters), style="serial", check=True)
                case.assert_right(found, kernel)
                first = found if first is None else first
                assert_same_outputs(kernel, first, found)


@typical_form
def test_families_in_compiled_loops(kernel, faithful, compiled_from_zero):
    for case in cases(kernel, families(), faithful):
        check(case, one(case))


def third(some, kernel, faithful=False):
    """Every third case, beginning with another for the next kernel."""
    return some[FORMS.index((kernel, faithful)) % min(3, len(some)) :: 3]


@pytest.mark.long
@every_form
def test_a_third_of_the_connected_graphs_of_six_nodes(kernel, faithful):
    for case in third(cases(kernel, connected(6), faithful), kernel, faithful):
        check(case, one(case))


@pytest.mark.long
@every_form
def test_every_cut_of_a_third_of_the_graphs_of_five_nodes(kernel, faithful):
    for case in third(cases(kernel, [*connected(5), *families()], faithful), kernel, faithful):
        check(case, CUTS)


@pytest.mark.long
@pytest.mark.parametrize("kernel", DIRECTED)
def test_a_third_of_the_directed_graphs_of_four_nodes(kernel):
    for case in third(cases(kernel, directed(4)), kernel):
        check(case, one(case))


@pytest.mark.long
@every_form
def test_a_third_of_the_connected_graphs_of_five_nodes_in_compiled_loops(
    kernel, faithful, compiled_from_zero
):
    for case in third(cases(kernel, connected_to(5), faithful), kernel, faithful):
        check(case, one(case))


@pytest.mark.exhaustive
@every_form
def test_every_cut_of_connected_graphs(kernel, faithful):
    for case in cases(kernel, [*connected_to(6), *families()], faithful):
        check(case, CUTS)


@pytest.mark.exhaustive
@every_form
def test_every_cut_of_connected_graphs_in_compiled_loops(kernel, faithful, compiled_from_zero):
    for case in cases(kernel, [*connected_to(6), *families()], faithful):
        check(case, CUTS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", DIRECTED)
def test_every_cut_of_directed_graphs(kernel):
    for case in cases(kernel, [net for n in (1, 2, 3, 4) for net in directed(n)]):
        check(case, CUTS)


def check_on_workers(some, client, style):
    """Outputs of real workers are those of one cluster."""
    for case in some:
        (clusters,) = one(case)
        with told(case, f"{clusters} clusters", style):
            kernel = case.make()
            expected, _ = serial.run(kernel, case.graph().parts)
            graph = case.graph(clusters, seen=False)
            found = dgsuite.run(kernel, graph, style=style, client=client)
            assert_same_outputs(kernel, expected, found)


def some_families(kernel, faithful):
    """A quarter of them, another for the next kernel."""
    return cases(kernel, families(), faithful)[FORMS.index((kernel, faithful)) % 4 :: 4]


@typical_form
def test_some_families_on_workers(kernel, faithful, threaded):
    check_on_workers(some_families(kernel, faithful), threaded, "clocked")


@pytest.mark.long
@every_form
def test_some_families_on_workers_in_tasks(kernel, faithful, threaded):
    check_on_workers(some_families(kernel, faithful), threaded, "finish_async")


@pytest.mark.long
@every_form
def test_families_on_workers(kernel, faithful, client):
    check_on_workers(cases(kernel, families(), faithful), client, "clocked")


@pytest.mark.long
@pytest.mark.parametrize("kernel", DIRECTED)
def test_directed_graphs_on_workers(kernel, threaded):
    check_on_workers(cases(kernel, directed(3)), threaded, "clocked")


@pytest.mark.exhaustive
@pytest.mark.parametrize("style", ["clocked", "finish_async"])
@every_form
def test_connected_graphs_on_workers(kernel, faithful, style, threaded):
    check_on_workers(cases(kernel, [*connected_to(6), *families()], faithful), threaded, style)
