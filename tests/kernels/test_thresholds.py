"""Components at several thresholds, or with one record of a source at most, are those of edges that count."""

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError, genval
from dgsuite.partition.graph.graph import Graph
from tests.cards import CARDS
from tests.support.cases import cuts, in_turn
from tests.support.clusters import small_as_large
from tests.support.examples import examples

SCORES = [0.5, 0.7, 0.8, 0.9, 0.95, 1.0]
PLACES = ["here", "workers", "stays"]


@st.composite
def scored(draw, most=30):
    """Scored pairs, and a function that makes the graph of those with a score from one on, in any cut."""
    n = draw(st.integers(1, most))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, len(SCORES) - 1))
    src, dst, score = np.array(draw(st.lists(pair, max_size=2 * n)), np.int64).reshape(-1, 3).T
    kind = draw(st.sampled_from(["float64", "float32", "int64"]))
    weights = score if kind == "int64" else np.array(SCORES, kind)[score]
    directed = draw(st.booleans())

    def make(least=None, **how):
        kept = slice(None) if least is None else weights >= least
        own = weights[kept] if len(weights) else weights.astype(float)
        how |= {"n": n, "weights": own, "directed": directed, "duplicates": "max"}
        return Graph.from_edges(src[kept], dst[kept], **how)

    among = st.integers(-1, 6) if kind == "int64" else st.sampled_from([*SCORES, -1.0, 2.0, 0.85])
    thresholds = draw(st.lists(among, min_size=1, max_size=5, unique=True))
    return n, make, thresholds


def apart(make, thresholds):
    """A run without thresholds for each of them."""
    runs = [dgsuite.run("wcc", make(least), style="serial") for least in thresholds]
    return np.stack([ds.component.values for ds in runs], axis=1)


@given(scored(), st.data())
def test_each_column_is_a_run_of_its_own(case, data):
    n, make, thresholds = case
    graph = make(**data.draw(cuts(n)))
    ds = dgsuite.run("wcc", graph, thresholds=thresholds, style="serial", check=True)
    assert ds.threshold.values.tolist() == thresholds
    assert ds.component.dims == ("node", "threshold")
    np.testing.assert_array_equal(ds.component.values, apart(make, thresholds))
    report = genval.validate("wcc", graph, ds)
    assert report.ok, str(report)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["clocked", "finish_async", "in_turn"])
@examples(5)
@given(case=scored(), clusters=st.sampled_from([1, 2, 3, 8]))
def test_style_workers_and_threads_change_nothing(threaded, style, case, clusters):
    _, make, thresholds = case
    with small_as_large(threaded):
        graph = make(clusters=clusters)
        ds = dgsuite.run("wcc", graph, thresholds=thresholds, style=style, client=threaded)
    expected = dgsuite.run("wcc", graph, thresholds=thresholds, style="serial")
    np.testing.assert_array_equal(ds.component.values, apart(make, thresholds))
    np.testing.assert_array_equal(ds.messages.values, expected.messages.values)


@pytest.mark.parametrize("partition", ["nodes", "hash"])
@pytest.mark.parametrize("order", ["ascending", "random", "even, then odd"])
def test_chains_take_a_logarithm_of_rounds(order, partition):
    n = 20_000
    rng = np.random.default_rng(1)
    nodes = {
        "ascending": np.arange(n),
        "random": rng.permutation(n),
        "even, then odd": np.argsort(np.arange(n) % 2, kind="stable"),
    }[order]
    how = {"weights": rng.integers(0, 3, n - 1), "clusters": 3, "partition": partition}
    graph = Graph.from_edges(nodes[:-1], nodes[1:], **how)
    for thresholds in (None, [0], [2, 1, 0]):
        ds = dgsuite.run("wcc", graph, thresholds=thresholds, style="serial")
        last = ds.component if thresholds is None else ds.component.sel(threshold=0)
        assert not last.any()
        assert ds.sizes["round"] <= 3 * n.bit_length()


@pytest.mark.filterwarnings("error")
def test_thresholds_that_weights_cannot_hold():
    graph = Graph.from_edges([0, 1], [1, 2], weights=np.array([1, 2], np.float32), clusters=2)
    ds = dgsuite.run("wcc", graph, thresholds=[1e300, 0], style="serial")
    assert ds.component.values.tolist() == [[0, 0], [1, 0], [2, 0]]
    assert not len(dgsuite.pairs(graph, ds, 1e300))


def test_runs_with_thresholds_and_without_on_the_same_tasks(client):
    graph = genval.graph("er", 300, m=500, weights=True, clusters=4)
    each = [{}, {"thresholds": [50, 20]}, {"thresholds": [20]}]
    plain, two, one = dgsuite.run_each("wcc", graph, each, style="clocked", client=client)
    alone = [dgsuite.run("wcc", graph, style="serial", **given) for given in each]
    for found, expected in zip((plain, two, one), alone, strict=True):
        np.testing.assert_array_equal(found.component, expected.component)
    np.testing.assert_array_equal(two.component.sel(threshold=20), one.component[:, 0])


def test_a_wrong_column_is_seen():
    graph = genval.graph("er", 400, m=300, weights=True, clusters=3)
    ds = dgsuite.run("wcc", graph, thresholds=[60, 30], style="serial")
    assert genval.validate("wcc", graph, ds).ok
    first = {"component": ds.component.values[:, 0]}
    for kind, wrong in CARDS["wcc"].corruptions(first, {"component": 1}):
        changed = ds.copy(deep=True)
        changed.component[:, 0] = wrong["component"]
        assert changed.equals(ds) or not genval.validate("wcc", graph, changed).ok, kind


def tables(graph, net, ds):
    """The table of each threshold, and what networkx says."""
    thresholds = ds.threshold.values.tolist()
    for least in thresholds:
        table = dgsuite.components(graph, ds, least).compute().sort_index()
        heavy = nx.Graph([(u, v, w) for u, v, w in net.edges(data=True) if w["weight"] >= least])
        heavy.add_nodes_from(net)
        stricter = min((one for one in thresholds if one > least), default=None)
        rows = {}
        for nodes in nx.connected_components(heavy):
            part = heavy.subgraph(nodes)
            weights = [w for *_, w in part.edges(data="weight")]
            kept = [(u, v) for u, v, w in part.edges(data="weight") if stricter and w >= stricter]
            again = nx.Graph(kept)
            again.add_nodes_from(nodes)
            rows[min(nodes)] = {
                "size": len(nodes),
                "edges": len(weights),
                "density": nx.density(part) if len(nodes) > 1 else np.nan,
                "weakest": min(weights, default=np.nan),
                **({"split": not nx.is_connected(again)} if stricter else {}),
            }
        yield table, pd.DataFrame.from_dict(rows, "index").sort_index()


@pytest.mark.few(1)
@pytest.mark.parametrize(("where", "partition"), in_turn(PLACES, ["nodes", "hash"]))
def test_the_table_is_that_of_networkx(where, partition, client):
    rng = np.random.default_rng(5)
    net = nx.gnm_random_graph(60, 70, seed=3)
    for _, _, data in net.edges(data=True):
        data["weight"] = rng.choice(SCORES)
    names = [f"r{node:02}" for node in net]
    net = nx.relabel_nodes(net, dict(zip(net, names, strict=True)))
    how = {} if where == "here" else {"client": client}
    with dask.config.set({"dgsuite.gather-limit": "0 B" if where == "stays" else "4 MiB"}):
        graph = Graph.from_networkx(net, clusters=3, partition=partition, **how)
        style = "serial" if where == "here" else "clocked"
        ds = dgsuite.run("wcc", graph, thresholds=[0.8, 0.95, 0.5], style=style, **how)
        how = {"check_names": False, "check_index_type": False}
        for found, expected in tables(graph, net, ds):
            pd.testing.assert_frame_equal(found, expected, **how)


def test_the_table_of_a_run_without_thresholds():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], directed=True)
    table = dgsuite.components(graph, dgsuite.run("wcc", graph)).compute().sort_index()
    assert table["size"].tolist() == [3, 2]
    assert table["edges"].tolist() == [2, 1]
    assert table["density"].tolist() == [2 / 6, 1 / 2]
    assert table["weakest"].isna().all()
    assert "split" not in table


def test_what_has_no_table_is_refused():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[0.9, 0.8])
    ds = dgsuite.run("wcc", graph, thresholds=[0.9, 0.8])
    for arguments, message in [
        ((graph, ds), r"one of those of the run, \[0.9, 0.8\], got None"),
        ((graph, ds, 0.7), "got 0.7"),
        ((graph, dgsuite.run("wcc", graph), 0.9), "the run had no thresholds"),
        ((graph, dgsuite.run("bfs", graph)), "a result of dgsuite.run"),
        ((graph, None), "a result of dgsuite.run"),
        ((Graph.from_edges([0], [1]), ds, 0.9), "has 3 nodes, and the graph 2"),
    ]:
        with pytest.raises(InputError, match=message):
            dgsuite.components(*arguments)


GRAPH = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[0.9, 0.7, 0.8])


def linked(n, edges, sources, least=None):
    """The smallest node of each node's component, by sets of Python."""
    groups = [{node} for node in range(n)]
    for u, v, weight in sorted(edges, key=lambda edge: (-edge[2], *edge[:2])):
        one, other = groups[u], groups[v]
        if one is other or (least is not None and weight < least):
            continue
        if {sources[node] for node in one}.isdisjoint(sources[node] for node in other):
            one |= other
            for node in other:
                groups[node] = one
    return [min(group) for group in groups]


@given(st.data())
def test_components_are_those_of_the_best_links(data):
    n, k = data.draw(st.integers(2, 24)), data.draw(st.integers(1, 5))
    luck = np.random.default_rng(data.draw(st.integers(0, 999)))
    pairs = np.unique(np.sort(luck.integers(0, n, (data.draw(st.integers(1, 60)), 2))), axis=0)
    src, dst = pairs[pairs[:, 0] < pairs[:, 1]].T
    weights = luck.integers(0, data.draw(st.sampled_from([2, 9])), len(src))
    if data.draw(st.booleans()):
        weights = weights / 8
    sources = luck.integers(0, data.draw(st.sampled_from([2, 4, n])), n)
    how = {"clusters": k, "n": n, "weights": weights}
    if data.draw(st.booleans()):
        how["partition"] = luck.integers(0, k, n)
    turned = luck.random(len(src)) < 0.5
    graph = Graph.from_edges(np.where(turned, dst, src), np.where(turned, src, dst), **how)
    edges = [*zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True)]
    found = dgsuite.run("wcc", graph, single=sources, check=True)
    assert found.component.values.tolist() == linked(n, edges, sources)
    thresholds = (np.array([5, 1, 7, 0]) / (1 if weights.dtype.kind == "i" else 8)).tolist()
    found = dgsuite.run("wcc", graph, single=sources, thresholds=thresholds, check=True)
    assert found.component.dims == ("node", "threshold")
    for column, least in zip(found.component.values.T, thresholds, strict=True):
        assert column.tolist() == linked(n, edges, sources, least)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("where", "way"),
    in_turn(PLACES, [("nodes", False, True), ("hash", False, False), ("nodes", True, False)]),
)
def test_tables_have_the_pairs_within_components(client, where, way):
    partition, directed, single = way
    luck = np.random.default_rng(2)
    frame = pd.DataFrame(luck.integers(0, 60, (150, 2)), columns=["source", "target"])
    frame = frame.astype(str).assign(weight=luck.integers(0, 8, 150) / 8)
    how = {"clusters": 3, "partition": partition, "duplicates": "max", "directed": directed}
    how |= {} if where == "here" else {"client": client}
    with dask.config.set({"dgsuite.gather-limit": "0 B" if where == "stays" else "4 MiB"}):
        graph = Graph.from_dataframe(frame, weight="weight", **how)
        own = {"single": np.arange(graph.n) % 4} if single else {}
        ds = dgsuite.run("wcc", graph, thresholds=[0.5, 0.25], **own)
        found = dgsuite.pairs(graph, ds, 0.25).compute()
        table = dgsuite.components(graph, ds, 0.25).compute()
    label = dict(zip(ds.node.values, ds.component.sel(threshold=0.25).values, strict=True))
    edges = graph.to_networkx().edges(data="weight")
    counting = [(u, v, w) for u, v, w in edges if w >= 0.25]
    ends = tuple if directed else sorted
    rows = {(*ends((u, v)), w, label[u]) for u, v, w in counting if label[u] == label[v]}
    assert single == (len(rows) < len(counting))
    assert {*found.itertuples(index=False, name=None)} == rows
    assert len(found) == len(rows)
    groups = found.groupby("component")["weight"].agg(["size", "min"])
    assert table["edges"][groups.index].tolist() == groups["size"].tolist()
    assert table["weakest"][groups.index].tolist() == groups["min"].tolist()
    assert table["edges"].sum() == len(rows)


def test_pairs_of_a_graph_without_weights():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4])
    found = dgsuite.pairs(graph, dgsuite.run("wcc", graph)).compute()
    assert [*found.columns] == ["source", "target", "component"]
    assert found.to_numpy().T.tolist() == [[0, 1, 3], [1, 2, 4], [0, 0, 3]]


@pytest.mark.parametrize("kind", ["list", "text", "category", "arrow", "index"])
def test_kinds_of_columns(kind):
    plain = ["a", "b", "a", "b"]
    sources = {
        "list": plain,
        "text": pd.Series(plain, dtype="string"),
        "category": pd.Series(plain, dtype="category"),
        "arrow": pytest.importorskip("pyarrow").array(plain),
        "index": np.array([0, 1, 0, 1]),
    }[kind]
    assert dgsuite.run("wcc", GRAPH, single=sources).component.values.tolist() == [0, 0, 2, 2]


def test_a_run_does_not_go_on_with_sources():
    found = dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1])
    with pytest.raises(InputError, match="has no single="):
        dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1], since=found)
    with pytest.raises(InputError, match=r"a run with single=\[0, 1, 0, 1\], and this one has"):
        dgsuite.run("wcc", GRAPH, since=found)


def test_a_validator_refuses_them():
    found = dgsuite.run("wcc", GRAPH, single=[0, 1, 0, 1])
    with pytest.raises(InputError, match="of a run with single="):
        genval.validate("wcc", GRAPH, found)
