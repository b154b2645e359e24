"""Reports say how much was looked at; where a graph is too large to look at all, some of it is."""

import numpy as np
import pytest

import dgsuite
from dgsuite import Crash, Network, genval
from dgsuite.genval.rules import motifs, paths, similar, triangles
from tests.cards import CARDS
from tests.cards.distances import LITTLE
from tests.support.references import judged, mine, reference

LIMITS = {
    **dict.fromkeys(("bc", "edge_betweenness"), paths),
    **dict.fromkeys(("bfs_many", "closeness", "harmonic", "hyperball", "eccentricity"), paths),
    **dict.fromkeys(("motifs", "cliques", "square_clustering"), motifs),
    **dict.fromkeys(("triangles", "lcc", "ktruss"), triangles),
    "similarity": similar,
}
"""Kernels whose results are looked at in part on graphs that are too large, and where the limit is."""

UNSEEN = {
    "bc": {f"betweenness {kind}" for kind in LITTLE},
    "edge_betweenness": {f"betweenness {kind}" for kind in LITTLE | {"shifted"}}
    | {"all a little more"},
    "bfs_many": {"distance one lower"},
    "closeness": {"closeness a little higher"},
    "harmonic": {"harmonic a little higher"},
    "square_clustering": {"coefficient a little higher"},
    "lcc": {"coefficient a little higher"},
    "ktruss": {"truss one higher"},
}
"""Corruptions of single nodes that are not among those looked at; and of betweenness, whose sum they keep."""


def dataset(kernel, n=60, **how):
    """A graph on which many nodes have something to be counted, and a right result as a mapping."""
    graph = genval.graph("er", n, m=5 * n, seed=4, client=None)
    ds = dgsuite.run(kernel, graph, style="serial", **how)
    kept = {str(name): ds[name].values for name in ds.data_vars if "round" not in ds[name].dims}
    return graph, {**kept, **how}


@pytest.fixture
def low(monkeypatch):
    """A function that lowers the limit of a kernel's rule, so that every graph is too large."""
    return lambda kernel: monkeypatch.setattr(LIMITS[kernel], "MAX_WORK", 1)


@pytest.mark.parametrize("kernel", LIMITS)
def test_a_right_result_is_valid_and_its_report_says_how_much_was_looked_at(kernel, low):
    graph, right = dataset(kernel, **({"k": 3} if kernel == "similarity" else {}))
    report = genval.validate(kernel, graph, right)
    if kernel != "hyperball":  # of estimates there is no more to be said
        assert (report.ok, report.level, str(report)) == (True, "complete", f"{kernel}: valid")
    low(kernel)
    report = genval.validate(kernel, graph, right)
    assert (report.ok, report.level) == (True, "necessary"), str(report)
    assert str(report) == f"{kernel}: valid as far as was looked at"
    assert "valid as far as was looked at" in report._repr_html_()
    assert "level='necessary'" in repr(report)


@pytest.mark.parametrize("kernel", sorted(LIMITS))
def test_corruptions_are_refused_on_large_graphs_too_but_for_nodes_not_looked_at(kernel, low):
    low(kernel)
    graph = mine(kernel, 2)
    right = reference(kernel)
    assert genval.validate(kernel, graph, right).ok
    unseen = set()
    for kind, report in judged(kernel, graph, right):
        if report is not None and report.ok:
            unseen.add(kind)
            assert report.level == "necessary"
    assert unseen - {*CARDS[kernel].harmless} == UNSEEN.get(kernel, set())


def test_an_estimate_may_differ_by_what_its_rule_says():
    """Harmonic centrality by `hyperball` is within 39 % and a node of the right one, no less than if all
    nodes that are reached were equally far, and no more than their number.
    """
    graph, right = dataset("hyperball")
    exact = dgsuite.run("harmonic", graph, samples=60, style="serial")["harmonic"].values
    slack = paths.SIGMAS * 1.04 / 16 * (exact + 1) + 1
    reached, distance = right["reached"], right["distance"]
    least = np.maximum(exact - slack, reached**2 / distance)
    most = np.minimum(exact + slack, reached)
    for edge, outwards in ((least, -1e-6), (most, 1e-6)):
        for node in (0, 5, 59):
            for change, ok in ((1 - outwards, True), (1 + outwards, False)):
                values = right["harmonic"].copy()
                values[node] = edge[node] * change
                report = genval.validate("hyperball", graph, {**right, "harmonic": values})
                assert report.ok == ok, str(report)


@pytest.mark.parametrize("change", [1, -1])
def test_the_round_in_which_a_node_settles_is_looked_at(change):
    graph = genval.graph("er", 60, m=200, client=None, clusters=3)
    ds = dgsuite.run("trial_colouring", graph, style="serial")
    report = genval.validate("trial_colouring", graph, ds)
    assert (report.ok, report.level) == (True, "complete"), str(report)
    for node in np.flatnonzero(ds.settled.values + change >= 0):
        wrong = ds.copy(deep=True)
        wrong.settled[node] += change
        assert not genval.validate("trial_colouring", graph, wrong).ok, node
    lossy = dgsuite.run("trial_colouring", graph, style="serial", network=Network(crashes={3: 1}))
    assert genval.validate("trial_colouring", graph, lossy).level == "necessary"


def test_a_neighbour_of_the_root_that_was_not_reached_is_seen():
    graph = dgsuite.Graph.from_edges([0], [1], directed=True)
    unreached = np.array([0, -1])
    assert not genval.validate("bfs", graph, {"level": unreached, "parent": unreached}).ok


def test_parts_that_a_crash_leaves_have_leaders_of_their_own():
    graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    ds = dgsuite.run("floodmax", graph, style="serial", network=Network(crashes=[Crash(2, 0)]))
    assert len({*ds.leader.values[[0, 4]].tolist()}) == 2
    assert genval.validate("floodmax", graph, ds).ok


def test_a_next_hop_that_leads_round_is_named():
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[1, 1, 1])
    ds = dgsuite.run("dr", graph, style="serial")
    wrong = ds.copy(deep=True)
    wrong.next_hop.values[0, 1] = 2
    assert "a neighbour on a cheapest path" in str(genval.validate("dr", graph, wrong))


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_those_of_the_weights_are_no_surprise():
    """No warning: a threshold above all numbers of 32 bits, and a path whose length has no number."""
    small = dgsuite.Graph.from_edges([0], [1], weights=np.ones(1, np.float32))
    alone = {"component": np.array([[0], [1]]), "threshold": np.array([1e300])}
    assert genval.validate("wcc", small, alone).ok
    long = dgsuite.Graph.from_edges([0], [1], weights=[1.5e308])
    ds = dgsuite.run("sssp", long, style="serial")
    assert genval.validate("sssp", long, ds).ok


def test_the_source_that_is_nearest_is_looked_at():
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1.0, 5.0, 1.0])
    ds = dgsuite.run("sssp", graph, style="serial", sources=[0, 3])
    assert genval.validate("sssp", graph, ds).ok
    wrong = ds.copy(deep=True)
    wrong.source.values[1] = 3
    assert not genval.validate("sssp", graph, wrong).ok


def test_a_late_rumour_is_told_once():
    """What follows from a call that was missed is not wrong as well."""
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    ds = dgsuite.run("gossip", graph, style="serial", mode="push")
    late = ds.copy(deep=True)
    late.informed.values[1:] += 2
    report = genval.validate("gossip", graph, late)
    assert (report.ok, report.count) == (False, 1)


def test_lists_of_a_run_are_those_that_are_given():
    graph = genval.graph("er", 60, m=300, seed=4)
    given = {"fanouts": [2, 3, 4], "sources": [0, 1]}
    ds = dgsuite.run("sample", graph, style="serial", **given)
    bare = {name: ds[name].values for name in ("source", "target", "place", "hop")}
    assert genval.validate("sample", graph, {**bare, **given}).ok
    assert not genval.validate("sample", graph, {**bare, "sources": [0, 1]}).ok
