"""Labels of nodes: kept as they were, selected, given as parameters, told by outputs, held by files."""

import uuid
from dataclasses import fields
from itertools import pairwise

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import dgsuite
from dgsuite import Graph, InputError, genval
from dgsuite.base import netcdf
from dgsuite.core.results.dataset import open_dataset, save
from dgsuite.kernels import KERNELS
from dgsuite.partition.labels.held_labels import HeldLabels
from dgsuite.partition.labels.labels import from_json, to_json
from tests.support.cases import in_turn

MIXED = [1, "1", ("c", 1), ("c", (2.5, None)), True + 1, 2**70, b"\0x", frozenset({1, "a"})]
MIXED += ["Valjean", uuid.UUID(int=7), 0.5, "a\0", "\udc80", ""]
KINDS = {
    "integers": [30, 10, 20, 40],
    "negative": [-5, 0, 7, -1],
    "long": [2**63 + 1, 5, 2**64 - 1, 0],
    "far apart": [-1, 2**63, 7, 5],
    "text": ["Valjean", "Javert", "Cosette", "10"],
    "pairs": [(0, 1), (0, 2), (1, 0), (2, 0)],
    "mixed": MIXED,
}


KERNELS_OF_NODES = ("bfs", "dr", "dst", "kc", "dp", "bc")


@pytest.fixture(params=KINDS)
def labels(request):
    return KINDS[request.param]


def line(labels, **options):
    """A path through all labels, in their order, as the user has it."""
    graph = nx.Graph()
    graph.add_nodes_from(labels)
    graph.add_edges_from(pairwise(labels))
    return Graph.from_networkx(graph, **options)


def alike(found, expected):
    assert list(map(type, found)) == list(map(type, expected))
    assert list(found) == list(expected)


def test_labels_come_back_as_they_were_and_select(labels):
    ds = dgsuite.run("bfs", line(labels, clusters=2), root=labels[1])
    alike(ds.node.values.tolist(), labels)
    assert ds.attrs["root"] == labels[1]
    for i, label in enumerate(labels):
        if label != "a\0":  # NumPy makes "a" of it
            assert int(ds.level.sel(node=label)) == abs(i - 1)
    natural = {"integers": "i", "negative": "i", "long": "u", "text": "U"}
    kind = next(name for name in KINDS if KINDS[name] is labels)
    assert ds.node.dtype.kind == natural.get(kind, "O")


def test_true_is_not_the_label_1(client):
    """The same for labels of this process and labels on workers."""
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    lazy = dd.from_pandas(edges, npartitions=2)
    with dask.config.set({"dgsuite.gather-limit": 0}):
        held = Graph.from_dataframe(lazy, client=client)
    here = Graph.from_dataframe(edges)
    assert isinstance(held.labels, HeldLabels)
    for labels in (here.labels, held.labels):
        for wrong in ([True], [1, True], np.array([True, False]), np.array([0.5]), [[1]]):
            with pytest.raises(InputError, match="is not a node"):
                labels.nodes(wrong)
        for wrong in (True, np.True_, 0.5):
            with pytest.raises(InputError, match="is not a node"):
                labels.node(wrong)
        assert labels.nodes([1, 0]).tolist() == labels.nodes([1.0, 0]).tolist() == [1, 0]
        assert labels.nodes(np.array([1.0, 0.0])).tolist() == [1, 0]
        assert labels.node(1.0) == labels.node(np.int8(1)) == 1
        with pytest.raises(InputError, match="root True is not a node"):
            dgsuite.run("bfs", held if labels is held.labels else here, root=True)


def test_outputs_that_hold_nodes_hold_labels(labels):
    graph = line(labels, clusters=2)
    for kernel, first in (("bfs", labels[0]), ("dst", graph.labels.none)):
        parents = dgsuite.run(kernel, graph, root=labels[0]).parent.values.tolist()
        alike(parents, [first, *labels[:-1]])
    ds = dgsuite.run("dr", graph)
    alike(ds.target.values.tolist(), labels)
    for i, label in enumerate(labels):
        after = [labels[(i + 1) % len(labels)]] * (len(labels) - i - 1)
        alike(ds.next_hop.values[i].tolist(), [*[labels[i - 1]] * i, label, *after])
    # without identifiers of its own, a node's identifier is the node
    alike(dgsuite.run("dp", graph).leader.values.tolist(), [labels[-1]] * len(labels))
    named = line(labels, uid=np.arange(len(labels))[::-1] + 100)
    assert set(dgsuite.run("dp", named).leader.values.tolist()) == {99 + len(labels)}


@pytest.mark.parametrize(
    ("labels", "none"),
    [
        ([3, 5], -1),
        ([-1, 5], None),
        ([5, 2**63], None),
        (["a", "b"], ""),
        (["", "b"], None),
        (["a" * 999, "b"], None),
        ([0.5, 1], None),
    ],
)
def test_what_stands_for_no_node(labels, none):
    graph = Graph.from_edges([], [], n=2, labels=labels)
    ds = dgsuite.run("bfs", graph, root=labels[0])
    assert ds.parent.values.tolist() == [labels[0], none]
    assert f"{none!r} where unreached" in ds.parent.attrs["long_name"]
    plain = dgsuite.run("bfs", Graph.from_edges([0, 1], [1, 2], n=4), root=2)
    assert plain.parent.attrs["long_name"] == "parent in the tree, -1 where unreached"
    assert (plain.parent.dtype, plain.parent.values.tolist()) == (np.int32, [1, 2, 2, -1])
    assert plain.attrs["root"] == 2


def test_parameters_name_nodes_by_label(labels):
    graph = line(labels)
    ds = dgsuite.run("bc", graph, sources=labels[1:3])
    assert ds.source.values.tolist() == [i in (1, 2) for i in range(len(labels))]
    assert genval.validate("bc", graph, ds).ok
    assert dgsuite.run("bc", graph, sources=2).source.values.sum() == 2  # a number of them
    up = [None, *labels[:-1]]
    colours = dgsuite.run("vc", graph, root=labels[0], parents=up)
    assert genval.validate("vc", graph, colours).ok
    tree = dgsuite.run("bfs", graph, root=labels[0]).parent
    assert dgsuite.run("vc", graph, root=labels[0], parents=tree).colour.equals(colours.colour)


def test_the_first_node_is_the_default_whatever_its_label():
    graph = Graph.from_edges([0, 1], [1, 2], labels=[5, 0, 9])
    assert dgsuite.run("bf", graph).attrs["root"] == 5
    assert dgsuite.run(KERNELS["bf"](), graph).attrs["root"] == 5
    assert dgsuite.run(KERNELS["bf"](root=0), graph).attrs["root"] == 0
    assert dgsuite.run("bf", graph, root=0).distance.values.tolist() == [1, 0, 1]
    named = Graph.from_edges([0, 1], [1, 2], labels=[5, 0, 9], attrs={"root": 9})
    assert dgsuite.run("bf", named).attrs["root"] == 9


def test_all_kernels_say_which_parameters_are_nodes():
    for kernel in KERNELS.values():
        for field in fields(kernel):
            if field.name in ("root", "sources", "parents", "traitors"):
                assert "Node" in str(field.type), (kernel, field)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("bfs", {"root": "Valjan"}, r"'bfs': root 'Valjan' is not .*; did you mean 'Valjean'\?"),
        ("bfs", {"root": 0}, "0 is not a node; Nodes have labels, such as 'Valjean', 'Javert'"),
        ("bfs", {"root": ["Valjean"]}, "is not a node"),
        ("bfs", {"root": None}, "is not a node"),
        ("bc", {"sources": ["Javert", 2]}, "sources 2 is not a node"),
        ("bc", {"sources": "Javert"}, "sources must be a 64-bit integer or a sequence of nodes"),
    ],
)
def test_what_is_no_label(name, parameters, message):
    with pytest.raises(InputError, match=message):
        dgsuite.run(name, line(KINDS["text"]), **parameters)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kernel", "kind"), in_turn(KERNELS_OF_NODES, [*KINDS]))
def test_files_keep_labels(tmp_path, kernel, kind):
    labels = KINDS[kind]
    graph = line(labels)
    parameters = {"root": labels[2]} if kernel in ("bfs", "dst") else {}
    if kernel == "bc":
        parameters = {"sources": [labels[0], labels[2]]}
    ds = dgsuite.run(kernel, graph, **parameters)
    save(ds, tmp_path / "run.nc")
    again = open_dataset(tmp_path / "run.nc")
    assert again.identical(ds)
    for name, variable in ds.variables.items():
        if variable.dtype == object:
            alike(again[name].values.ravel().tolist(), variable.values.ravel().tolist())
    assert again.sizes["node"] == len(labels)
    assert genval.validate(kernel, graph, again).ok


def test_what_a_file_cannot_hold(tmp_path):
    class Place:
        pass

    graph = line([Place(), Place()])
    ds = dgsuite.run("bfs", graph, root=graph.labels[1])
    assert ds.level.values.tolist() == [1, 0]
    assert genval.validate("bfs", graph, ds).ok
    with pytest.raises(InputError, match=r"is of type Place, which a file cannot hold.*drop_vars"):
        save(ds, tmp_path / "run.nc")
    assert not list(tmp_path.iterdir())
    traitors = dgsuite.run("bc", graph, sources=[graph.labels[1]])
    assert '"sources": [{"node": 1}]' in traitors.attrs["parameters"]
    assert genval.validate("bc", graph, traitors.drop_vars("source")).ok


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("label_table", "[1]"), ("node", 7), ("label_table", "{")),
        *(("label_table", json) for json in ('{"tuple": 3}', '{"eval": "1"}', '{"uuid": "x"}')),
    ],
)
def test_damaged_labels_in_files(tmp_path, name, damage):
    save(dgsuite.run("bfs", line(KINDS["pairs"])), tmp_path / "run.nc")
    stored = xr.load_dataset(tmp_path / "run.nc")
    values = stored[name].values.copy()
    values[0] = damage
    stored[name] = stored[name].variable.to_base_variable().copy(data=values)
    netcdf.write(stored, tmp_path / "run.nc")
    said = ": a code" if name == "node" else ""
    with pytest.raises(InputError, match=f"its labels cannot be read{said}"):
        open_dataset(tmp_path / "run.nc")


def test_json_of_labels():
    for label in [*MIXED, float("inf"), -0.0, True, np.int64(3), np.float32(0.5)]:
        assert from_json(to_json(label)) == label
    with pytest.raises(InputError, match="type object"):
        to_json(object())


def test_wrong_results_are_told_by_label():
    graph = line(KINDS["text"])
    ds = dgsuite.run("bfs", graph, root="Javert")
    wrong = ds.copy(deep=True)
    wrong.parent[0] = "10"
    report = genval.validate("bfs", graph, wrong)
    assert not report.ok
    assert report.violations[0].node == 0
    assert "node 0 ('Valjean')" in str(report)
    wrong.parent[0] = ""
    assert not genval.validate("bfs", graph, wrong).ok
    wrong.parent[0] = "nobody"
    assert not genval.validate("bfs", graph, wrong).ok
    with pytest.raises(InputError, match="root 'x' is not a node"):
        genval.validate("bfs", graph, {"level": ds.level, "parent": ds.parent, "root": "x"})
