"""Every kernel on every small graph: right, and the same for one to five clusters on two sites."""

from dataclasses import fields

import numpy as np
import pytest

import dgsuite
from dgsuite.core.executors import serial
from dgsuite.kernels import BLOCK, RECURSIVE
from tests.support import small_graphs
from tests.support.cases import TYPICAL, typical
from tests.support.sites import assert_same, simulate
from tests.support.small_graphs import DIRECTED, FORMS, Case, connected, directed, families, told

CUTS = (2, 3, 4, 5)
"""Clusters. One cluster is what others are compared with."""


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
            if kernel.name in small_graphs.BY_CUT:
                assert_same_outputs(kernel, expected[0], found[0])
            else:
                assert_same(expected, found)


def assert_same_outputs(kernel, expected, found):
    for name in kernel.outputs:
        np.testing.assert_array_equal(expected[name], found[name], err_msg=name)


def cases(kernel, nets, faithful=False):
    """Those of the graphs that the kernel can run on."""
    nets = small_graphs.suited(kernel, nets)
    found = [Case(kernel, net, number, faithful) for number, net in enumerate(nets)]
    assert found
    return found


def one(case):
    """A cut, in turn."""
    return CUTS[case.number % 4 :][:1]


def connected_to(n):
    return [net for k in range(1, n + 1) for net in connected(k)]


def of_three():
    return [net for n in (1, 2, 3) for net in directed(n)]


def of_both(n):
    """Connected graphs and those of families."""
    return [*connected_to(n), *families()]


ALL, THIRD, SOME, EVERY = False, True, False, True
LONG, EXHAUSTIVE = [pytest.mark.long], [pytest.mark.exhaustive]

SWEEPS = {
    "four nodes": (lambda: connected_to(4), ALL, SOME, []),
    "families": (families, ALL, SOME, None),
    "compiled: families": (families, ALL, SOME, None),
    "five nodes": (lambda: connected(5), ALL, SOME, LONG),
    "six nodes": (lambda: connected(6), THIRD, SOME, LONG),
    "every cut": (lambda: [*connected(5), *families()], THIRD, EVERY, LONG),
    "compiled: five nodes": (lambda: connected_to(5), THIRD, SOME, LONG),
    "all": (lambda: of_both(6), ALL, EVERY, EXHAUSTIVE),
    "compiled: all": (lambda: of_both(6), ALL, EVERY, EXHAUSTIVE),
    "directed: three nodes": (of_three, ALL, SOME, None),
    "directed: four nodes": (lambda: directed(4), THIRD, SOME, LONG),
    "directed: all": (lambda: [*of_three(), *directed(4)], ALL, EVERY, EXHAUSTIVE),
}
"""Graphs; all of them or a third, others for the next kernel; in some cut or in every one; and how tests are
marked: None if it is long for kernels that are not typical.
"""


def swept():
    for sweep, (*_, marks) in SWEEPS.items():
        for kernel, faithful in FORMS:
            if (kernel in DIRECTED and not faithful) or "directed" not in sweep:
                own = marks if marks is not None or kernel in TYPICAL else LONG
                yield pytest.param(sweep, kernel, faithful, marks=own or [])


@pytest.mark.parametrize(("sweep", "kernel", "faithful"), swept())
def test_graphs(sweep, kernel, faithful, monkeypatch):
    """Compiled loops run from the first element on, as on large graphs."""
    nets, part, every, _ = SWEEPS[sweep]
    if "compiled" in sweep:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    some = cases(kernel, nets(), faithful)
    if part:
        some = some[FORMS.index((kernel, faithful)) % min(3, len(some)) :: 3]
    for case in some:
        check(case, CUTS if every else one(case))


@pytest.mark.parametrize("name", sorted(RECURSIVE))
def test_recursive_forms(name):
    for case in cases(name, of_both(4)):
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
    nets = [*of_both(4), *([] if refuses else directed(3))]
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


@pytest.mark.parametrize(("kernel", "faithful"), typical(FORMS))
def test_some_families_on_workers(kernel, faithful, threaded):
    check_on_workers(some_families(kernel, faithful), threaded, "clocked")


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "faithful"), FORMS)
def test_families_on_workers(kernel, faithful, threaded, client):
    check_on_workers(some_families(kernel, faithful), threaded, "finish_async")
    check_on_workers(cases(kernel, families(), faithful), client, "clocked")


@pytest.mark.long
@pytest.mark.parametrize("kernel", DIRECTED)
def test_directed_graphs_on_workers(kernel, threaded):
    check_on_workers(cases(kernel, directed(3)), threaded, "clocked")


@pytest.mark.exhaustive
@pytest.mark.parametrize("style", ["clocked", "finish_async"])
@pytest.mark.parametrize(("kernel", "faithful"), FORMS)
def test_connected_graphs_on_workers(kernel, faithful, style, threaded):
    check_on_workers(cases(kernel, of_both(6), faithful), threaded, style)
