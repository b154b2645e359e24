"""What datasets can do: ``ds.dgsuite``."""

from copy import copy
from time import perf_counter

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.core.results import plots
from dgsuite.kernels import RECURSIVE


@pytest.fixture(scope="module")
def karate():
    return nx.karate_club_graph()


@pytest.fixture(scope="module")
def graph(karate):
    return Graph.from_networkx(karate, weight=None, clusters=3, client=None)


def test_summary(graph, client):
    ds = dgsuite.run("bfs", graph)
    found = ds.dgsuite.summary()
    assert found.name == "bfs on 34 nodes, serial"
    assert found["kernel"] == "bfs"
    assert (found["nodes"], found["edges"], found["clusters"], found["workers"]) == (34, 78, 3, 0)
    assert found["rounds"] == ds.sizes["round"]
    assert found["messages"] == ds.messages.values.sum()
    assert 0 < found["computing"] + found["exchange"] <= 1.01 * found["seconds"]
    assert dgsuite.run("bf", graph, form="recursive").dgsuite.summary()["depths"] > 1
    # seconds are the means of the workers
    ds = dgsuite.run("bf", graph, style="clocked", client=client)
    found = ds.dgsuite.summary()
    assert found["workers"] == 2
    assert found["computing"] == pytest.approx(float(ds.compute_seconds.sum()) / 2)
    assert found["exchange"] == pytest.approx(float(ds.exchange_seconds.mean("cluster").sum()))


@pytest.mark.parametrize("style", ["serial", "clocked", "finish_async", "recursive"])
def test_seconds_are_those_of_the_run(style, client):
    ring = Graph.from_networkx(nx.cycle_graph(24), clusters=2, client=client)
    kernel = RECURSIVE["bf"](root=0) if style == "recursive" else "bfs"
    begin = perf_counter()
    ds = dgsuite.run(kernel, ring, client=client, style=style.replace("recursive", "finish_async"))
    seconds = perf_counter() - begin
    spent = ds[["compute_seconds", "cpu_seconds", "exchange_seconds"]]
    assert all((each >= 0).all() for each in spent.values())
    assert all((each.sum(each.dims[0]) <= seconds).all() for each in spent.values())
    assert (ds.cpu_seconds <= ds.compute_seconds + 0.001).all()
    assert ds.exchange_seconds.sum() > 0


@pytest.mark.parametrize("kernel", ["bfs", "lcr"])
def test_plots(kernel):
    ring = Graph.from_networkx(nx.cycle_graph(9), clusters=2, client=None)
    ds = dgsuite.run(kernel, ring)
    ax = ds.dgsuite.plot.rounds()
    stairs = {patch.get_label(): patch.get_data() for patch in ax.patches}
    assert len(stairs["computing"].values) == ds.sizes["round"]
    total = ds.compute_seconds.sum("cluster") + ds.exchange_seconds.mean("cluster")
    assert stairs["exchange"].values == pytest.approx(total.values)
    (nodes,) = (other for other in ax.figure.axes if other is not ax)
    assert nodes.patches[0].get_data().values.tolist() == ds.active.values.tolist()
    assert ds.dgsuite.plot.rounds(ax) is ax
    bars = ds.dgsuite.plot.communication().patches
    assert [bar.get_height() for bar in bars] == ds.messages.values.tolist()
    ax.figure.savefig("/dev/null", format="png")


def test_to_networkx(karate, graph):
    ds = dgsuite.run("bfs", graph, root=33)
    tree = ds.dgsuite.to_networkx()
    assert nx.is_arborescence(tree)
    assert nx.single_source_shortest_path_length(karate, 33) == dict(tree.nodes(data="level"))
    for source in (karate, graph):
        made = ds.dgsuite.to_networkx(source)
        assert {*made.edges} == {*karate.edges}
        assert dict(made.nodes(data="parent")) == dict(tree.nodes(data="parent"))
    assert "level" not in karate.nodes[0]
    ranks = dgsuite.run("pagerank", graph).dgsuite.to_networkx()
    assert ranks.number_of_edges() == 0
    assert sum(rank for _, rank in ranks.nodes(data="rank")) == pytest.approx(1)
    with pytest.raises(InputError, match="other nodes than the dataset, which has 34"):
        ds.dgsuite.to_networkx(nx.path_graph(34, nx.DiGraph).subgraph(range(5)))


def test_labels_and_what_is_on_workers(client):
    names = nx.relabel_nodes(nx.cycle_graph(12), "abcdefghijkl".__getitem__)
    with dask.config.set({"dgsuite.gather-limit": 0}):
        graph = Graph.from_networkx(names, clusters=2, client=client)
        ds = dgsuite.run("bfs", graph, root="c", style="clocked", client=client)
    assert ds.level.chunks
    tree = ds.dgsuite.to_networkx()
    assert dict(tree.nodes(data="level")) == nx.single_source_shortest_path_length(names, "c")
    assert ds.dgsuite.to_dataframe(["level"], client=client).npartitions == 2


def test_a_figure_as_an_element_of_a_page(graph):
    text = plots.svg(dgsuite.run("bfs", graph).dgsuite.plot().figure, "a club")
    assert text.startswith('<svg role="img" aria-label="a club"')
    assert "#000000" not in text
    assert ">messages and communication</text>" in text


def test_nodes_of_a_graph_in_parts_are_drawn_apart():
    parts = Graph.from_networkx(nx.disjoint_union(nx.complete_graph(4), nx.star_graph(3)))
    where = plots.places(parts)
    apart = np.linalg.norm(where[:, None] - where, axis=2) + 9 * np.eye(len(where))
    assert apart.min() > 0.05 * np.ptp(where)


def test_probabilities_have_the_intervals_of_wilson():
    """By a dimension, by a coordinate of the runs, and with a line for each value of another."""
    from scipy.stats import binomtest

    right = np.array([[20, 11, 0], [17, 3, 1]])
    valid = (np.arange(25) < right[:, :, None]).astype(int)
    valid[..., 20:] = -1  # the last five were not checked
    at = {"kernel": ["mis", "wcc"], "loss": [0.0, 0.1, 0.2]}
    ds = xr.Dataset({"valid": (("kernel", "loss", "run"), valid)}, at)
    ax = ds.dgsuite.plot.probability(lines="kernel")
    assert ax.get_xlabel() == "loss"
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["kernel = mis", "kernel = wcc"]
    for found, drawn in zip(right, ax.containers, strict=True):
        line, _, (bars,) = drawn
        assert line.get_ydata() == pytest.approx(found / 20)
        for count, bar in zip(found, bars.get_segments(), strict=True):
            wanted = binomtest(int(count), 20).proportion_ci(method="wilson")
            assert bar[:, 1] == pytest.approx([*wanted], abs=1e-12)
    flat = ds.sel(kernel="mis", drop=True).stack(all=("loss", "run")).reset_index("all")
    same = flat.dgsuite.plot.probability(by="loss").containers[0]
    assert same[0].get_ydata() == pytest.approx(right[0] / 20)


PATH = Graph.from_edges([0], [1], client=None)
RUNS = xr.Dataset({"valid": ("run", [1, 0]), "rounds": ("run", [3, 4])})


WRONG = [
    (lambda: RUNS.dgsuite.plot.probability(), "what the probability is drawn: nothing varies"),
    (lambda: RUNS.dgsuite.plot.probability("rounds", by="run"), "'rounds' is no truth value"),
    (lambda: RUNS.dgsuite.plot.probability("right"), "unknown variable 'right'"),
    (lambda: RUNS.dgsuite.plot.probability(by="a"), "unknown dimension or coordinate 'a'"),
    (lambda: RUNS.dgsuite.plot.communication(), "not the result of one run"),
    (lambda: xr.Dataset({"x": 1}).dgsuite.summary(), "not the result of one run"),
    (lambda: xr.Dataset({"messages": ("round", [1])}).dgsuite.summary(), "result of one run"),
    (lambda: dgsuite.run("bfs", PATH).dgsuite.to_pandas(["rank"]), "output by node 'rank'"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_cannot_be(call, message):
    with pytest.raises(InputError, match=message):
        call()


FRAMES = [
    ("bfs", {}, None, ["node", "level", "parent"]),
    ("wcc", {"thresholds": [0.9, 0.5]}, None, ["node", "component_0.9", "component_0.5"]),
    ("similarity", {}, None, ["source", "target", "similarity"]),
    ("bridges", {}, None, ["source", "target"]),
    ("bridges", {}, ["articulation"], ["node", "articulation"]),
    ("all_pairs", {}, ["level"], ["node", *(f"level_{v}" for v in "abcd")]),
]


@pytest.mark.parametrize("limit", ["4 MiB", "0 B"])
@pytest.mark.parametrize(("kernel", "how", "outputs", "names"), FRAMES)
def test_outputs_as_dataframes_of_pandas_and_dask(client, limit, kernel, how, outputs, names):
    edges = {"weights": [0.4, 0.6, 0.95], "relabel": True, "clusters": 2, "client": client}
    with dask.config.set({"dgsuite.gather-limit": limit}):
        graph = Graph.from_edges([*"abc"], [*"bcd"], **edges)
        ds = dgsuite.run(kernel, graph, style="clocked", client=client, **how)
    found = ds.dgsuite.to_pandas(outputs)
    assert [*found] == names
    lazy = ds.dgsuite.to_dataframe(outputs, client).compute()
    assert found.map(str).to_numpy().tolist() == lazy.map(str).to_numpy().tolist()
    for name in ds.keys() & {*names}:
        assert found[name].tolist() == ds[name].compute(scheduler=client).values.tolist()
    if kernel == "wcc":
        assert found["component_0.5"].tolist() == ["a", "b", "b", "b"]


@pytest.mark.parametrize("labels", [[(0, 1), (1,), (1, (2,))], ["a", 1, 2**70]])
def test_parquet_files_have_labels_that_parquet_lacks_as_text(tmp_path, labels):
    graph = Graph.from_edges([0, 1], [1, 2], labels=labels, clusters=2, client=None)
    dgsuite.run("bfs", graph).dgsuite.to_dataframe().to_parquet(tmp_path / "found")
    found = pd.read_parquet(tmp_path / "found")
    assert found.node.tolist() == [str(label) for label in labels]
    assert found.parent.tolist() == [str(labels[k]) for k in (0, 0, 1)]


def test_outputs_by_name_where_xarray_has_a_method(graph):
    ds = dgsuite.run("pagerank", graph)
    assert callable(ds.rank)  # of xarray
    assert ds.dgsuite.rank.identical(ds["rank"])
    with pytest.raises(AttributeError, match="no 'ranks'"):
        ds.dgsuite.ranks  # noqa: B018
    copy(ds.dgsuite)


def test_the_accessor_lists_what_it_can_do(graph):
    text = repr(dgsuite.run("pagerank", graph).dgsuite)
    assert text.splitlines()[0] == "pagerank on 34 nodes, serial; outputs rank"
    for name in (".plot ", ".to_pandas()", ".summary()", ".to_networkx()"):
        assert name in text
    many = xr.Dataset({"valid": ("run", [1, 0])})
    assert repr(many.dgsuite).startswith("many runs")


def test_the_greatest_nodes_with_their_communities(graph, karate):
    ranks, parts = dgsuite.run("pagerank", graph), dgsuite.run("leiden", graph)
    ax = ranks.dgsuite.plot.top(graph, colour=parts.community, most=7)
    best = ranks["rank"].to_series().nlargest(7)
    edges, nodes = ax.collections
    assert len(edges.get_segments()) == karate.subgraph(best.index).number_of_edges()
    sizes = dict(zip([int(text.get_text()) for text in ax.texts], nodes.get_sizes(), strict=True))
    assert sorted(sizes, key=sizes.get) == [*best.index[::-1]]
    groups = parts.community.sel(node=[*sizes]).values
    same = nodes.get_array()[:, None] == nodes.get_array()
    assert (same == (groups[:, None] == groups)).all()
    degrees = parts.dgsuite.plot.top(graph, most=3)
    top = sorted(karate, key=lambda node: -karate.degree[node])[:3]
    assert {int(text.get_text()) for text in degrees.texts} == {*top}
    with pytest.raises(InputError, match="a value for each of 34 nodes"):
        ranks.dgsuite.plot.top(graph, colour=[1, 2])


def test_a_plot_that_suits(graph):
    ds = dgsuite.run("pagerank", graph)
    assert ds.dgsuite.plot().get_ylabel() == "messages and communication"
    assert len(ds.dgsuite.plot(graph).texts) == 34
    many = xr.Dataset({"valid": (("loss", "run"), [[1, 0], [0, 0]])}, {"loss": [0.1, 0.2]})
    assert many.dgsuite.plot().get_xlabel() == "loss"
