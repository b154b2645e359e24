"""Nodes are named in the same ways wherever users name some: by label, in any collection, or by a mask."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import dgsuite
from dgsuite import Adversary, Byzantine, Graph, InputError, Network

N, SOME = 8, [2, 3, 4]
LABELS = {
    "ids": None,
    "integers": [10 * v for v in range(N)],
    "text": [f"n{v}" for v in range(N)],
    "tuples": [(v, "x") for v in range(N)],
}
"""Labels of the nodes of a graph, by kind."""


def graph_of(kind):
    """A ring of weighted edges, and a chord."""
    ring = np.arange(N)
    ends = np.append(ring, 0), np.append((ring + 1) % N, 4)
    return Graph.from_edges(*ends, weights=np.arange(1, N + 2), labels=LABELS[kind], client=None)


def collections(kind):
    """The same nodes in each collection that names them."""
    labels = LABELS[kind] or list(range(N))
    names = [labels[v] for v in SOME]
    mask = np.isin(np.arange(N), SOME)
    objects = pd.Series(names, dtype=object).to_numpy()
    found = {
        "tuple": tuple(names),
        "set": set(names),
        "frozenset": frozenset(names),
        "generator": (name for name in names),
        "keys": dict.fromkeys(names).keys(),
        "objects": objects,
        "series": pd.Series(objects, index=[7, 1, 0]),
        "index": pd.Index(objects, tupleize_cols=False),
        "mask": mask,
        "mask in a series": pd.Series(mask, index=np.arange(N)[::-1]),
        "mask of pandas": pd.Series(mask, dtype="boolean"),
        "mask of arrow": pa.array(mask),
        "mask of xarray": xr.DataArray(mask),
    }
    if kind == "tuples":
        return found
    arrow = pa.array(names)
    found |= {
        "array": np.array(names),
        "xarray": xr.DataArray(names),
        "arrow": arrow,
        "chunks of arrow": pa.chunked_array([names[:1], names[1:]]),
        "dictionary": arrow.dictionary_encode(),
        "series of arrow": pd.Series(pd.array(arrow, dtype=pd.ArrowDtype(arrow.type))),
        "categorical": pd.Series(names, dtype="category"),
        "dask": dd.from_pandas(pd.Series(names), npartitions=2),
    }
    if kind != "text":
        found["nullable"] = pd.Series(names, dtype="Int64")
        found["small"] = np.array(names, np.uint8)
        found["range"] = range(names[0], names[-1] + 1, names[1] - names[0])
    return found


def run(kernel, graph, output, **how):
    """An output of a run."""
    return dgsuite.run(kernel, graph, style="serial", **how)[output].values.tolist()


def struck(graph, **how):
    """Outputs of a run under a network."""
    ds = dgsuite.run("bfs", graph, style="serial", network=Network(**how, seed=3))
    return ds.level.values.tolist(), ds.messages.values.tolist(), ds.attrs["network"]


def cut(graph, nodes):
    """What is left of a run that an adversary cuts."""
    adversary = Adversary("cut", nodes=nodes, budget=4, each=2)
    return run("bfs", graph, "level", network=Network(adversary=adversary))


PLACES = {
    "subgraph": lambda g, nodes: list(g.subgraph(nodes).labels),
    "neighbourhood": lambda g, nodes: list(g.neighbourhood(nodes).labels),
    "within": lambda g, nodes: g.within(nodes).compute().to_numpy().tolist(),
    "sample": lambda g, nodes: g.sample(nodes, [2]).node.tolist(),
    "sssp": lambda g, nodes: run("sssp", g, "distance", sources=nodes),
    "bellman_ford": lambda g, nodes: run("bellman_ford", g, "distance", sources=nodes),
    "bfs_many": lambda g, nodes: run("bfs_many", g, "distance", sources=nodes),
    "bc": lambda g, nodes: run("bc", g, "betweenness", sources=nodes),
    "cdlp": lambda g, nodes: run("cdlp", g, "label", fixed=nodes),
    "byzantine": lambda g, nodes: struck(g, byzantine=Byzantine(nodes, "silent"))[:2],
    "mapping": lambda g, nodes: struck(g, byzantine={"nodes": nodes})[:2],
    "adversary": lambda g, nodes: cut(g, nodes),
}
"""Where users name some nodes."""


KINDS = [pytest.param(kind, marks=pytest.mark.long) for kind in ("integers", "tuples")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["ids", "text", *KINDS])
def test_every_collection_names_nodes_in_every_place(kind, place):
    call, graph = PLACES[place], graph_of(kind)
    labels = LABELS[kind] or list(range(N))
    right = call(graph, [labels[v] for v in SOME])
    for form, nodes in collections(kind).items():
        assert call(graph, nodes) == right, form


NOBODY = [
    pd.Series([1, None], dtype="Int64"),
    pa.array(["n1", None]),
    [np.str_("nobody")],
    [["n1"], ["n2"]],
    np.zeros(N + 1, bool),
    np.ones((2, 2), int),
    [1.5],
    {"n1": 2},
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["ids", "text"])
def test_what_names_no_nodes_is_one_error_in_every_place(kind, place):
    for nodes in NOBODY:
        with pytest.raises(InputError) as found:
            PLACES[place](graph_of(kind), nodes)
        assert "np." not in str(found.value)


@pytest.mark.parametrize("place", ["subgraph", "neighbourhood", "within"])
def test_one_node_is_taken_where_several_are(place):
    nodes = {"text": "n3", "ids": np.array(3), "integers": np.int32(30)}
    for kind, name in nodes.items():
        graph = graph_of(kind)
        assert PLACES[place](graph, name) == PLACES[place](graph, np.array([name]).tolist())


@pytest.mark.parametrize("kind", ["ids", "text"])
def test_the_record_of_a_network_is_the_same_for_every_collection(kind):
    names = [(LABELS[kind] or list(range(N)))[v] for v in SOME]
    each = (names, tuple(names), set(names), pd.Series(names), pa.array(names), iter(names))
    graph = graph_of(kind)
    records = {struck(graph, byzantine=Byzantine(nodes, "silent"))[2] for nodes in each}
    assert len(records) == 1


def test_one_node_may_be_a_scalar_of_any_library():
    for kind, name in (("text", "n3"), ("ids", 3), ("integers", 30)):
        right = run("bfs", graph_of(kind), "level", root=name)
        for root in (np.array([name])[0], np.array(name), xr.DataArray(name), pd.Series([name])[0]):
            assert run("bfs", graph_of(kind), "level", root=root) == right


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pd.Index, pa.array, iter])
def test_an_order_may_be_any_column(make):
    order = [3, 1, 0, 2, 5, 4, 7, 6]
    assert list(graph_of("ids").reordered(make(order)).labels) == order
    hidden = np.ma.array(np.arange(N), mask=np.arange(N) == 3)
    with pytest.raises(InputError, match="order must not be masked: 1 of 8"):
        graph_of("ids").reordered(hidden)


CALLS = [
    lambda: dgsuite.run("bfs", graph_of("text"), root=np.str_("nobody")),
    lambda: dgsuite.run("bfs", graph_of("ids"), root=np.int64(9)),
    lambda: dgsuite.run("bfs", graph_of("ids"), root=np.float64(0.5)),
    lambda: dgsuite.run("bc", graph_of("text"), sources=np.array(["n1", "nobody"])),
    lambda: Network(crashes=[dgsuite.Crash(np.int64(9))]).faults(graph_of("ids")),
    lambda: Network(crashes=[dgsuite.Crash(np.str_("n1"))] * 2).faults(graph_of("text")),
    lambda: graph_of("text").component(np.str_("nobody")),
    lambda: graph_of("text").with_nodes(np.array([3])),
    lambda: Graph.from_edges([0], [1], labels=np.array(["a", "a"])),
    lambda: Graph.from_edges([0], [1], n=np.float64(2)),
]


@pytest.mark.parametrize("call", CALLS)
def test_messages_show_values_and_not_how_numpy_writes_them(call):
    with pytest.raises(InputError) as found:
        call()
    assert "np." not in str(found.value)
