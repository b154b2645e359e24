"""Graphs in files that grow: what was added is written beside them, and is there again after loading."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import dgsuite
from dgsuite import InputError
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.store import appended, archives


def same(one, other):
    """Whether two graphs have the same clusters and labels."""
    assert (one.n, one.entries, one.built, one.m) == (other.n, other.entries, other.built, other.m)
    for a, b in zip(one.gather(), other.gather(), strict=True):
        for name in ("indptr", "indices", "weights", "uid"):
            x, y = getattr(a, name), getattr(b, name)
            assert (x is None) == (y is None)
            assert x is None or (x.dtype == y.dtype and np.array_equal(x, y))
    if one.labels is not None:
        assert list(one.labels) == list(other.labels)
    return True


def first(labelled=False, weighted=False, **how):
    src, dst = np.random.default_rng(1).integers(0, 40, (2, 60))
    weights = np.arange(60.0) if weighted else None
    names = (lambda ids: [f"node {i}" for i in ids]) if labelled else list
    how |= {"clusters": 3, "duplicates": "sum" if weighted else "min", "relabel": labelled}
    return Graph.from_edges(names(src), names(dst), weights=weights, **how), names


def files(folder):
    return sorted(os.listdir(folder))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("labelled", "weighted", "workers"),
    [
        (True, True, True),
        (False, False, False),
        (True, False, False),
        (False, True, True),
        (True, False, True),
        (False, True, False),
        (True, True, False),
        (False, False, True),
    ],
)
def test_what_was_added_is_there_again(labelled, weighted, workers, tmp_path, client):
    graph, names = first(labelled, weighted)
    graph = graph.persist(client) if workers else graph
    graph.save(tmp_path)
    before = files(tmp_path)
    for step in range(3):
        src, dst = np.random.default_rng(step + 2).integers(0, 45, (2, 9))
        weights = np.arange(9.0) if weighted else None
        graph = graph.with_edges(names(src), names(dst), weights=weights)
        if step == 1:
            graph = graph.with_nodes(names([50, 51]) if labelled else 50)
        graph.save(tmp_path, append=True)
    assert len(files(tmp_path)) == len(before) + 2 * 4
    assert same(Graph.load(tmp_path, client=client if workers else None), graph)
    assert Graph.load(tmp_path, clusters=2).n == graph.n


def test_several_steps_at_once_and_loaded_graphs_go_on(tmp_path):
    graph, _ = first()
    graph.save(tmp_path)
    graph = graph.with_edges([1], [60]).with_edges([2], [61])
    graph.save(tmp_path, append=True)
    graph.save(tmp_path, append=True)  # nothing is new
    again = Graph.load(tmp_path)
    assert same(again, graph)
    grown = again.with_edges([3], [62])
    grown.save(tmp_path, append=True)
    assert same(Graph.load(tmp_path), graph.with_edges([3], [62]))


def test_results_go_on_over_files(tmp_path):
    graph, _ = first()
    ds = dgsuite.run("wcc", graph)
    graph.save(tmp_path)
    grown = Graph.load(tmp_path).with_edges([0, 50], [50, 51])
    grown.save(tmp_path, append=True)
    there = Graph.load(tmp_path)
    later = dgsuite.run("wcc", there, since=ds)
    assert later.attrs["since_edges"] == 2
    assert np.array_equal(later.component, dgsuite.run("wcc", there).component)


def test_a_save_writes_all_in_one(tmp_path):
    graph, _ = first()
    graph.save(tmp_path)
    count = len(files(tmp_path))
    for node in (50, 60):
        graph = graph.with_edges([0], [node])
        graph.save(tmp_path, append=True)
    assert len(files(tmp_path)) == count + 4
    Graph.load(tmp_path).save(tmp_path)
    assert len(files(tmp_path)) == count
    assert same(Graph.load(tmp_path), graph)
    graph = Graph.load(tmp_path).with_edges([1], [70])
    graph.save(tmp_path, append=True)
    assert same(Graph.load(tmp_path), graph)


def test_an_interrupted_save_leaves_the_graph_and_its_steps(tmp_path, monkeypatch):
    graph, _ = first()
    graph.save(tmp_path)
    graph = graph.with_edges([0], [50])
    graph.save(tmp_path, append=True)

    def fail(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(archives, "write_list", fail)
    with pytest.raises(KeyboardInterrupt):
        graph.save(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        graph.with_edges([0], [51]).save(tmp_path, append=True)
    monkeypatch.undo()
    assert same(Graph.load(tmp_path), graph)
    grown = graph.with_edges([0], [52])
    grown.save(tmp_path, append=True)
    assert same(Graph.load(tmp_path), grown)


def test_other_graphs_are_refused(tmp_path):
    graph, _ = first()
    with pytest.raises(InputError, match=r"graph\.json: no such file"):
        graph.save(tmp_path / "none", append=True)
    graph.save(tmp_path)
    with pytest.raises(InputError, match="has not grown from the one there; load that"):
        first()[0].with_edges([0], [1]).save(tmp_path, append=True)
    one, other = graph.with_edges([0], [50]), graph.with_edges([0], [51])
    one.save(tmp_path, append=True)
    with pytest.raises(InputError, match="has not grown from the one there"):
        other.save(tmp_path, append=True)
    assert same(Graph.load(tmp_path), one)


def test_of_two_writers_one_gets_an_error(tmp_path, monkeypatch):
    graph, _ = first()
    graph.save(tmp_path)
    one, other = graph.with_edges([0], [50]), graph.with_edges([0], [51])
    write = archives.write

    def late(folder, name, arrays):
        """The other process is first."""
        monkeypatch.undo()
        one.save(tmp_path, append=True)
        return write(folder, name, arrays)

    monkeypatch.setattr(archives, "write", late)
    with pytest.raises(InputError, match="another process has added to the graph; load it again"):
        other.save(tmp_path, append=True)
    assert same(Graph.load(tmp_path), one)
    assert len([name for name in files(tmp_path) if name.startswith("step-")]) == 2


def test_damage_is_named(tmp_path):
    graph, _ = first()
    graph.save(tmp_path)
    for node in (50, 51):
        graph = graph.with_edges([0], [node])
        graph.save(tmp_path, append=True)
    lists = [name for name in files(tmp_path) if appended.NAME.fullmatch(name)]
    text = (tmp_path / lists[0]).read_text()
    changed = json.loads(text)
    changed["step"]["n"] += 1
    (tmp_path / lists[0]).write_text(json.dumps(changed))
    with pytest.raises(InputError, match=rf"{lists[0]}: is damaged"):
        Graph.load(tmp_path)
    os.remove(tmp_path / lists[0])
    with pytest.raises(InputError, match=rf"{lists[0]}: no such file"):
        Graph.load(tmp_path)
    (tmp_path / lists[0]).write_text(text)
    arrays = next(tmp_path.glob("step-*.npz"))
    arrays.write_bytes(arrays.read_bytes()[:-1])
    with pytest.raises(InputError, match=rf"{arrays.name}: is damaged"):
        Graph.load(tmp_path)
