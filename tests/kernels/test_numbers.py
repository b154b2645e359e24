"""Counts, number types and weights at their edges."""

import json
from itertools import product

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph

import dgsuite
from dgsuite import genval
from dgsuite.core.accounting.rules import ACCOUNTING, Accounting
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.loud import TIMES, Loud, LoudTasks
from tests.support.valid import valid

STYLES = ("serial", "clocked", "finish_async")


EDGES = 2 * 3  # ends of the edges of a path of four nodes
SENT = {"repeat": EDGES, "to": 4, "links": 4, "links and repeat": 16, "tasks": EDGES}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("how", SENT)
def test_messages_are_counted_beyond_32_bits(client, how, style):
    """Broadcasts, and tasks that are spawned."""
    graph, right = Graph.from_networkx(nx.path_graph(4), clusters=4), SENT[how] * TIMES
    on = {} if style == "serial" else {"client": client}
    kernel = LoudTasks() if how == "tasks" else Loud(how=how)
    # unchecked: these nodes claim more neighbours than they have
    ds = dgsuite.run(kernel, graph, style=style, check=False, **on)
    assert int(ds.messages.sum()) == right
    (time,) = ds.messages.dims
    assert ds.remote_messages.sum(time).to_series().to_dict() == {"SP": 0, "MP": right, "UP": right}
    assert int(ds.bytes.sum()) == (0 if how == "tasks" else 8 * right)


@pytest.mark.parametrize("style", STYLES)
def test_announcements_are_counted_beyond_32_bits(client, style, monkeypatch):
    monkeypatch.setitem(ACCOUNTING, Loud, Accounting())
    n = 50_000
    on = {} if style == "serial" else {"client": client}
    graph = Graph.from_edges([0], [1], n=n, clusters=2)
    ds = dgsuite.run(Loud(how="announce"), graph, style=style, count_as="clocked", **on)
    assert int(ds.messages.sum()) == n * (n - 1)
    assert int(ds.remote_messages.sel(model="MP").sum()) == n * n // 2
    assert int(ds.bytes.sum()) == 8 * n * (n - 1)
    assert int(ds.mutexes.sum()) == n * (n - 1)


def test_what_a_node_sends_itself_is_remote_nowhere():
    alone = dgsuite.run("lcr", Graph.from_edges([0], [0], n=1), style="serial", faithful=True)
    assert (alone.messages.sum(), alone.remote_messages.sum()) == (1, 0)
    graph = Graph.from_networkx(nx.path_graph(6), clusters=6)
    ds = dgsuite.run(Loud(how="to itself"), graph, style="serial")
    assert (ds.messages.sum(), *ds.remote_messages.sum("round")) == (6, 0, 3, 3)
    ds = dgsuite.run(LoudTasks(to_self=True), graph, style="serial")
    assert (ds.messages.sum(), *ds.remote_messages.sum("depth")) == (6 * TIMES, 0, 0, 0)


DTYPES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES += ["float16", "float32", "float64"]


def random_edges(n, m, dtype, seed=1, **how):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 100, m).astype(dtype)
    return Graph.from_edges(*rng.integers(0, n, (2, m)), n=n, weights=weights, **how)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 300])
def test_sssp_of_directed_graphs_is_scipys(n, dtype):
    graph = random_edges(n, 4 * n, dtype, directed=True, clusters=1)
    parent = np.full(n, -1)
    for clusters in {1, min(3, n)}:
        ds = dgsuite.run("sssp", graph, style="serial", clusters=clusters, root=n - 1)
        distance = csgraph.dijkstra(graph.to_scipy(), indices=n - 1)
        np.testing.assert_array_equal(ds.distance, distance)
        assert genval.validate("sssp", graph, ds).ok
        parent = ds.parent if clusters == 1 else parent
        np.testing.assert_array_equal(ds.parent, parent)
    if n == 300:
        assert np.isfinite(distance).sum() > 200
        wrong = ds.parent.values.copy()
        child = int(np.flatnonzero((wrong >= 0) & (wrong != n - 1))[0])
        matrix = graph.to_scipy()
        back = np.setdiff1d(matrix[[child]].indices, matrix[:, [child]].nonzero()[0])
        wrong[child] = back[0]  # a neighbour that the edge leads to, not from
        report = genval.validate("sssp", graph, ds.assign(parent=("node", wrong)))
        assert "a node with an edge to it" in str(report)


TINY = [5e-324, 1e-323, 1e-323]


def chosen_delta(graph, **how):
    ds = dgsuite.run("sssp", graph, style="serial", **how)
    return json.loads(ds.attrs["parameters"])["delta"]


def test_a_delta_is_chosen_by_the_weights():
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 2000, (2, 20_000))
    weights = rng.integers(1, 256, 20_000)
    how = {"n": 2000, "weights": weights}
    graph = Graph.from_edges(src, dst, clusters=1, **how)
    deltas = {chosen_delta(graph, clusters=k) for k in (1, 2, 7)}
    shuffled = rng.integers(0, 5, 2000)
    deltas.add(chosen_delta(Graph.from_edges(src, dst, partition=shuffled, **how)))
    (delta,) = deltas
    assert 4 * 128 / 20 * 2 / 3 < delta < 4 * 128 / 20 * 3 / 2
    root = int(src[0])
    found = dgsuite.run("sssp", graph, style="serial", root=root)
    one = dgsuite.run("sssp", graph, style="serial", root=root, delta=np.inf)
    np.testing.assert_array_equal(found.distance, one.distance)
    assert 2 * found.messages.sum() < one.messages.sum()
    assert chosen_delta(graph, delta=2.5) == 2.5
    for scale in (2.0**-1000, 2.0**900):  # what it is goes with the weights, wherever they are
        scaled = Graph.from_edges(src, dst, n=2000, weights=weights * scale)
        assert chosen_delta(scaled, root=root) == delta * scale


@pytest.mark.parametrize(
    ("weights", "delta"),
    [(None, np.inf), ([0] * 3, np.inf), ([7] * 3, np.inf), ([0, 7, 7], np.inf), (TINY, 1e-323)],
)
def test_the_delta_of_few_weights(weights, delta):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)
    assert chosen_delta(graph) == pytest.approx(delta, rel=2)
    assert chosen_delta(Graph.from_edges([0], [0], n=1)) == np.inf


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_distances_that_float64_rounds_are_refused(dtype):
    weights = np.array([2**53 - 1, 1, 5], dtype)
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)
    with pytest.raises(dgsuite.RunError, match=r"distance of node 2 must be below 2\^53"):
        dgsuite.run("sssp", graph, style="serial")
    # a way that is not the shortest may weigh anything
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], weights=np.array([3, 4, 2**62], dtype))
    assert dgsuite.run("sssp", graph, style="serial").distance.values.tolist() == [0, 3, 7]


def test_distances_that_overflow_are_refused():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1e308, 1e308])
    with pytest.raises(dgsuite.RunError, match="distance of node 2 must fit a float64"):
        dgsuite.run("sssp", graph, style="serial")
    table = {"distance": [0, 1e308, np.inf], "parent": [0, 0, -1], "root": 0}
    assert not genval.validate("sssp", graph, table).ok
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1e308, 1e308, 1.5e308])
    found = dgsuite.run("sssp", graph, style="serial").distance
    assert found.values.tolist() == [0, 1e308, 1.5e308]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_routing_tables_above_2_to_53_are_checked_exactly(dtype):
    weights = np.array([2**53 + 1, 2**53 + 2, 2**60], dtype)
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], weights=weights, clusters=2)
    ds = dgsuite.run("dr", graph, style="serial")
    assert int(ds.cost[0, 2]) == 2**54 + 3
    assert genval.validate("dr", graph, ds).ok
    one_less = ds.cost.values.copy()
    one_less[0, 2] -= 1
    assert not genval.validate("dr", graph, {"cost": one_less, "next_hop": ds.next_hop}).ok
    with pytest.raises(dgsuite.InputError, match=r"'cost' has values of 2\^53 and more, which fl"):
        genval.validate("dr", graph, {"cost": ds.cost.astype(float), "next_hop": ds.next_hop})
    huge = ds.cost.values.astype(np.uint64) + np.uint64(2**63)
    with pytest.raises(dgsuite.InputError, match=r"'cost' must be below 2\^63"):
        genval.validate("dr", graph, {"cost": huge, "next_hop": ds.next_hop})


@pytest.mark.few(1)
@pytest.mark.parametrize(("seed", "kind"), in_turn(range(3), ["none", "int8", "float64"]))
def test_mst_breaks_ties_by_nodes_and_makes_forests(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    src, dst = rng.integers(0, n, (2, n))
    weights = None if kind == "none" else rng.choice(np.array([-1, -0.0, 0.0, 2]), n).astype(kind)
    graph = Graph.from_edges(src, dst, n=n, weights=weights, clusters=1)
    ranked = nx.empty_graph(n)
    matrix = graph.to_scipy().tocoo()
    edges = zip(matrix.data.tolist(), *map(np.ndarray.tolist, matrix.coords), strict=True)
    for rank, (_, u, v) in enumerate(sorted(edge for edge in edges if edge[1] < edge[2])):
        ranked.add_edge(u, v, weight=rank)
    right = {tuple(sorted(edge)) for edge in nx.minimum_spanning_edges(ranked, data=False)}
    forms = product(("iterative", "recursive"), (False, True))
    for clusters, (form, faithful) in product({1, min(3, n), n}, forms):
        ds = valid("mst", graph, form=form, faithful=faithful, clusters=clusters)
        parent = ds.parent.values
        found = {tuple(sorted((v, p))) for v, p in enumerate(parent.tolist()) if p >= 0}
        assert found == right
        assert (parent == -1).sum() == nx.number_connected_components(ranked)


SHAPES = {
    "one node": (1, [], []),
    "no edges": (4, [], []),
    "two nodes": (2, [0], [1]),
    "star": (6, [0] * 5, [1, 2, 3, 4, 5]),
    "square": (5, [0, 1, 2, 3, 1], [1, 2, 3, 0, 4]),
}


def edge_values(dtype):
    """Weights at the edges of a dtype: small, zero, negative, huge, and beyond float64's whole numbers."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        most, least = np.finfo(kind).max, np.finfo(kind).smallest_subnormal
        return [[0.5, 1, 2.25], [0.0, -0.0, 1], [-1.5, 0, 3], [most, most / 2, 1], [least, 0, 1]]
    most, least = np.iinfo(kind).max, np.iinfo(kind).min
    values = [[1, 2, 3], [0, 0, 1], [least, 0, 1], [most, most, 1], [most - 1, most - 1, 1]]
    return [*values, [2**53 + 1, 2**53 + 2, 1]] if kind.itemsize == 8 else values


def outcome(kernel, graph, **how):
    """Outputs and messages of a valid run, or why there is none."""
    try:
        ds = dgsuite.run(kernel, graph, style="serial", **how)
    except dgsuite.InputError:
        return {}
    except dgsuite.RunError as error:
        if "OverflowError" not in str(error):
            raise
        return {}
    report = genval.validate(kernel, graph, ds)
    assert report.ok, str(report)
    counted = () if kernel == "bc" else ("messages",)  # its messages are those of its cut
    return {name: ds[name].values for name in (*KERNELS[kernel].outputs, *counted)}


@pytest.mark.few(5)
@pytest.mark.parametrize(("dtype", "kernel"), in_turn(DTYPES, ["bc", "dr", "mst", "sssp"]))
def test_weights_at_the_edges_of_their_type(kernel, dtype):
    """Right on any cut, or refused on all."""
    how = {"weighted": True} if kernel == "bc" else {}
    done = 0
    for (n, src, dst), values in product(SHAPES.values(), edge_values(dtype)):
        weights = np.resize(np.array(values, dtype), len(src))
        graph = Graph.from_edges(src, dst, n=n, weights=weights)
        whole, cut = (outcome(kernel, graph.repartition(k), **how) for k in (1, min(3, n)))
        equal(whole, cut)
        done += bool(whole)
    assert done >= 10


N, M = 24, 60
RANDOM = np.random.default_rng(5)
PATH = np.arange(N - 1)
SRC = np.concatenate([PATH, RANDOM.integers(0, N, M)])
DST = np.concatenate([PATH + 1, RANDOM.integers(0, N, M)])
WEIGHTS = RANDOM.integers(1, 1 << 20, len(SRC)) / 1024.0
POWERS = (1000, 520, 300, -300, -600, -1000, -1070)

SCALED = {"leiden": {}, "louvain": {}, "pagerank": {"weighted": True}}
SCALED["hits"] = {"weighted": True, "iterations": 30}
"""Kernels whose results stay the same where all weights are multiplied."""

LENGTHS = {"bc": {"weighted": True}, "edge_betweenness": {}, "dr": {}, "mst": {}, "sssp": {}}
"""Kernels that add weights up, or compare them."""


def run(kernel, weights, clusters=2, directed=False, **how):
    graph = Graph.from_edges(SRC, DST, n=N, weights=weights, directed=directed, clusters=clusters)
    ds = dgsuite.run(kernel, graph, style="serial", **how)
    return {name: ds[name].values for name in KERNELS[kernel].outputs}


def equal(found, wanted):
    assert found.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


@pytest.mark.few(3)
@pytest.mark.parametrize(("power", "kernel"), in_turn(POWERS, SCALED))
def test_a_common_factor_changes_nothing(kernel, power):
    """To the last bit, for any cut; -1070 makes the weights subnormal."""
    weights = np.ceil(WEIGHTS) if power == -1070 else WEIGHTS
    wanted = run(kernel, weights, **SCALED[kernel])
    for clusters in (1, 3):
        equal(run(kernel, np.ldexp(weights, power), clusters, **SCALED[kernel]), wanted)


@pytest.mark.parametrize("power", [1000, 520, -600, -1000])
@pytest.mark.parametrize("directed", [False, True])
def test_eigenvectors_are_those_of_moderate_weights(power, directed):
    """The greatest weight then lies between 1/2 and 1, and the node's own value counts as much."""
    how = {"directed": directed, "weighted": True, "tolerance": 1e-12, "iterations": 500}
    moderate = np.ldexp(WEIGHTS, -int(np.frexp(WEIGHTS.max())[1]))
    wanted = run("eigenvector", moderate, **how)
    for clusters in (1, 3):
        equal(run("eigenvector", np.ldexp(WEIGHTS, power), clusters, **how), wanted)


@pytest.mark.parametrize("power", [1000, 520, -410, -450])
def test_katz_takes_the_factor_into_alpha(power):
    wanted = run("katz", WEIGHTS, weighted=True, alpha=2.0**-16)
    for clusters in (1, 3):
        how = {"weighted": True, "alpha": 2.0 ** (-16 - power)}
        equal(run("katz", np.ldexp(WEIGHTS, power), clusters, **how), wanted)


def test_katz_of_huge_weights_needs_a_small_alpha():
    for weights in (np.full(len(SRC), 1e200), np.full(len(SRC), 1e308)):
        with pytest.raises(dgsuite.RunError, match=r"alpha=0\.1 must be less than 1 over"):
            run("katz", weights, weighted=True)
    small = run("katz", np.full(len(SRC), 1e-200), weighted=True)
    np.testing.assert_array_equal(small["centrality"], np.full(N, 1 / np.sqrt(N)))


@pytest.mark.parametrize("kernel", ["eigenvector", "hits", "katz", "leiden", "louvain", "pagerank"])
@pytest.mark.parametrize("least", [5e-324, 1e-310])
def test_weights_that_are_too_far_apart_are_refused(kernel, least):
    weights = np.ones(len(SRC))
    weights[3] = least
    how = {} if kernel in ("leiden", "louvain") else {"weighted": True}
    for clusters in (1, 3):
        with pytest.raises(dgsuite.DgsuiteError, match=f"weights from {least} to 1.0 are too far"):
            run(kernel, weights, clusters, **how)
    weights[3] = 0
    run(kernel, weights, **how)


@pytest.mark.few(4)
@pytest.mark.parametrize("kernel", ["eigenvector", "hits", "katz", "leiden", "louvain", "pagerank"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_count_as_floats(kernel, dtype):
    weights = RANDOM.integers(2**60, 2**63 - 1, len(SRC)).astype(dtype)
    how = {} if kernel in ("leiden", "louvain") else {"weighted": True, "iterations": 20}
    how |= {"alpha": 2.0**-70} if kernel == "katz" else {}
    equal(run(kernel, weights, **how), run(kernel, weights.astype(np.float64), 3, **how))


@pytest.mark.parametrize("power", [990, 520, -600, -1000, -1070])
@pytest.mark.parametrize("kernel", LENGTHS)
def test_lengths_of_extreme_weights(kernel, power):
    """Sums of whole numbers times a power of two are exact, so all is as without it, but larger."""
    weights = np.ceil(WEIGHTS)
    found = run(kernel, np.ldexp(weights, power), **LENGTHS[kernel])
    wanted = run(kernel, weights, 3, **LENGTHS[kernel])
    for name in {"cost", "distance"} & wanted.keys():
        wanted[name] = np.ldexp(wanted[name].astype(float), power)
    if kernel == "mst":  # a ends_of_tree may have another root
        found, wanted = ({"edges": ends_of_tree(ds["parent"])} for ds in (found, wanted))
    equal(found, wanted)


def ends_of_tree(parent):
    child = np.flatnonzero(parent >= 0)
    return np.unique(np.sort(np.stack([child, parent[child]]), axis=0), axis=1)


@pytest.mark.few(8)
@pytest.mark.parametrize("power", [1000, 520, -600, -1070])
@pytest.mark.parametrize("kernel", [*SCALED, "eigenvector", "katz"])
def test_results_of_extreme_weights_are_validated(kernel, power):
    graph = Graph.from_edges(SRC, DST, n=N, weights=np.ldexp(np.ceil(WEIGHTS), power), clusters=3)
    how = {**SCALED.get(kernel, {"weighted": True, "iterations": 30})}
    how |= {"alpha": 2.0 ** (-16 - max(power, -400))} if kernel == "katz" else {}
    ds = valid(kernel, graph, **how)
    name = next(iter(KERNELS[kernel].outputs))
    wrong = ds.copy(deep=True)
    if kernel in ("leiden", "louvain"):
        wrong[name][:] = np.arange(N)  # all nodes are alone
    else:
        wrong[name][:2] = wrong[name].values[:2] * [0.9, 1.1]
    assert not genval.validate(kernel, graph, wrong).ok
