"""Graphs in files: what comes back, what a replaced graph leaves, and what damage is refused."""

from __future__ import annotations

import json
import uuid

import fsspec
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.partition.graph.views import both_ways
from dgsuite.partition.store import archives, storage
from tests.support.graphs import same_clusters

RNG = np.random.default_rng(7)
ENDS = RNG.integers(0, 60, (2, 300))
LABELS = {
    "none": None,
    "numbers": list(range(60, 0, -1)),
    "text": [f"ключ {i}" for i in range(60)],
    "objects": [uuid.UUID(int=i) if i % 2 else (i, "b\n") for i in range(60)],
}
ATTRS = {"root": 3, "votes": [0, 1, 1], "start": [(1, 2), float("inf")]}
ATTRS |= {"none": None, "flag": True}


def example(**options):
    defaults = {"n": 60, "weights": RNG.random(300), "clusters": 3}
    return Graph.from_edges(*ENDS, **{**defaults, **options})


def equal(a, b):
    """Two graphs are the same in all that a file keeps."""
    same_clusters(a, b)
    assert a.partition == b.partition
    assert a.labels == b.labels
    for name in ("entries", "directed", "weight_dtype", "identified", "chosen"):
        assert getattr(a, name) == getattr(b, name)
    assert (list(a.attrs), str(a.built)) == (list(b.attrs), str(b.built))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "options",
    [
        {"clusters": 99},
        {"directed": True, "weights": None, "clusters": 5},
        {"loops": "keep", "directed": True},
        {"partition": "hash", "uid": np.arange(60)[::-1] * 7},
        {"weights": np.arange(300, dtype=np.int8), "clusters": None, "uid": lambda ids: ids + 5},
    ],
)
def test_what_was_saved_comes_back(alone, tmp_path, labels, options):
    graph = example(labels=LABELS[labels], attrs=ATTRS, **options)
    graph.save(tmp_path / "new" / "graph")
    again = Graph.load(tmp_path / "new" / "graph")
    equal(again, graph)
    assert repr(again.attrs) == repr(graph.attrs)
    if labels != "none":
        assert list(map(type, again.labels)) == list(map(type, graph.labels))


def test_workers_of_another_number(tmp_path, client, client_of_one):
    here = example(labels=LABELS["objects"], attrs={"root": LABELS["objects"][4]})
    there = here.persist(client)
    there.save(tmp_path)
    results = []
    for other, clusters in ((client, None), (client_of_one, None), (client_of_one, 7)):
        graph = Graph.load(tmp_path, clusters, other)
        assert graph.client is other
        assert len(graph.parts) == (clusters or 3)
        if clusters is None:
            equal(graph, here)
        ds = dgsuite.run("bfs", graph, client=other, style="clocked")
        results.append(ds.level.values.tolist())
        assert ds.attrs["root"] == here.attrs["root"]
    assert results == [dgsuite.run("bfs", here, style="serial").level.values.tolist()] * 3


def test_a_view_comes_back(tmp_path, alone):
    view = both_ways(example(directed=True))
    view.save(tmp_path)
    for mine, theirs in zip(Graph.load(tmp_path).parts, view.parts, strict=True):
        for name in storage.EDGES:
            assert np.array_equal(getattr(mine, name), getattr(theirs, name))


def test_a_url(alone):
    graph = example()
    graph.save("memory://folder/graph")
    equal(Graph.load("memory://folder/graph"), graph)
    files = fsspec.filesystem("memory")
    names = sorted(name.rpartition("/")[2] for name in files.ls("/folder/graph", detail=False))
    assert len(names) == 5
    files.rm(f"/folder/graph/{names[0]}")
    with pytest.raises(InputError, match=f"memory://folder/graph/{names[0]}: no such file"):
        Graph.load("memory://folder/graph")
    with pytest.raises(InputError, match="unknownfs"):
        graph.save("unknownfs://folder")


def test_any_program_can_read_the_files(tmp_path):
    graph = example(partition="hash")
    graph.save(tmp_path)
    facts = json.loads((tmp_path / "graph.json").read_text())["graph"]
    for entry, part in zip(facts["clusters"], graph.parts, strict=True):
        found = np.load(tmp_path / entry["file"], allow_pickle=False)
        assert set(found) == {"indptr", "indices", "weights"}
        assert np.array_equal(found["weights"], part.weights)


def test_a_graph_is_replaced(tmp_path, monkeypatch):
    first, second = example(), example(clusters=2, labels=LABELS["text"])
    first.save(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    second.save(tmp_path)
    equal(Graph.load(tmp_path), second)
    assert len(list(tmp_path.iterdir())) == 2 + 1 + 2
    write, calls = archives.write, []

    def failing(*given):
        calls.append(given)
        if len(calls) == 3:
            raise InputError("the disk is full")
        return write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(archives, "write", failing)
        with pytest.raises(InputError, match="the disk is full"):
            first.save(tmp_path)
    equal(Graph.load(tmp_path), second)
    for value, kind in (({1, 2}, "set"), (np.arange(2), "ndarray"), ({"a": 1}, "dict")):
        with pytest.raises(InputError, match=rf"attrs\['model'\] is of type {kind}"):
            example(attrs={"model": value}).save(tmp_path)
    with pytest.raises(InputError, match="which a file cannot hold"):
        example(labels=[complex(i) for i in range(60)]).save(tmp_path)
    equal(Graph.load(tmp_path), second)


def test_what_is_no_graph(tmp_path):
    with pytest.raises(InputError, match=r"graph\.json: no such file"):
        Graph.load(tmp_path)
    (tmp_path / "graph.json").write_text("{}")
    for call in (Graph.load, example().save):
        with pytest.raises(InputError, match=r"graph\.json: is damaged, or is not the list"):
            call(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        example().save(tmp_path / "file")
    example(partition="hash").save(tmp_path / "new")
    with pytest.raises(InputError, match="partition of its own with 3 clusters"):
        Graph.load(tmp_path / "new", clusters=2)


def damaged(content, how):
    """Content of a file, cut short or with some bit changed."""
    if how is None:
        return content[: len(content) // 2]
    at = int(how * (len(content) - 1))
    return content[:at] + bytes([content[at] ^ 1 << at % 7]) + content[at + 1 :]


@pytest.mark.parametrize("how", [None, 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1, "missing"])
def test_damage_is_refused(alone, tmp_path, how):
    example(labels=LABELS["text"]).save(tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    for path in files:
        content = path.read_bytes()
        if how == "missing":
            path.unlink()
        else:
            path.write_bytes(damaged(content, how))
        what = "no such file" if how == "missing" else "is damaged"
        for edges in ("memory", "disk"):
            with pytest.raises(InputError, match=f"{path.name}: {what}"):
                Graph.load(tmp_path, edges=edges)
        path.write_bytes(content)
    Graph.load(tmp_path)


def test_damage_is_refused_on_workers(tmp_path, client):
    graph = example().persist(client)
    graph.save(tmp_path)
    path = sorted(tmp_path.glob("cluster-0002-*"))[0]
    path.write_bytes(damaged(path.read_bytes(), 0.5))
    with pytest.raises(InputError, match=f"{path.name}: is damaged: it does not match"):
        Graph.load(tmp_path, client=client)
    path.unlink()
    with pytest.raises(InputError, match=f"{path.name}: no such file"):
        Graph.load(tmp_path, client=client)
    (tmp_path / "folder").write_text("")
    with pytest.raises(InputError, match="folder"):
        graph.save(tmp_path / "folder")
