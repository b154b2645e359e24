"""Graphs in files: what comes back, what a replaced graph leaves, and what damage or forgery is refused."""

import io
import json
import re
import shutil
import uuid
from functools import cache

import fsspec
import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.partition.graph.views import both_ways
from dgsuite.partition.store import archives, storage
from tests.support import forging
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


FEW = RNG.integers(0, 40, (2, 160))
GRAPHS = {
    "plain": {"weights": RNG.random(160), "n": 40, "clusters": 2},
    "loops": {"n": 40, "clusters": 2, "loops": "keep"},
    "hashed": {"n": 40, "clusters": 2, "partition": "hash"},
    "uid": {"n": 40, "clusters": 2, "uid": np.arange(40)[::-1]},
    "text": {"n": 40, "labels": [f"n{i:02}" for i in range(40)], "clusters": 2},
    "objects": {"n": 40, "labels": [("a", i) for i in range(40)], "clusters": 2},
}


pytestmark = [pytest.mark.usefixtures("alone"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Copies a graph that is saved once."""

    @cache
    def once(kind):
        folder = tmp_path_factory.mktemp(kind)
        saved(folder, kind)
        return folder

    return lambda folder, kind: shutil.copytree(once(kind), folder, dirs_exist_ok=True)


def saved(folder, kind):
    graph = Graph.from_edges(*FEW, **GRAPHS.get(kind, {"n": 40, "clusters": 2, "directed": True}))
    if kind == "view":
        graph = both_ways(graph)
    graph.save(folder)
    return graph


def forge(folder, name, change):
    """Change the arrays of the file, or the facts of the list, whose name begins so."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    (name,) = (each for each in found if re.match(f"{name}(?!-0001)", each))
    if name.endswith(".json"):
        whole = json.loads(found[name])
        change(next(facts for key, facts in whole.items() if key != "sha256"))
        found[name] = forging.signed(whole)
    else:
        with np.load(io.BytesIO(found[name])) as arrays:
            held = dict(arrays)
        changed = change(held)
        found[name] = changed if isinstance(changed, bytes) else stored(held)
        found = forging.settled(found)
    for each, content in found.items():
        (folder / each).write_bytes(content)
    return name


def stored(arrays, save=np.savez):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def deflated(arrays):
    return stored(arrays, np.savez_compressed)


def put(name, at, value):
    def change(arrays):
        arrays[name][at] = value

    return change


def made(name, function):
    def change(arrays):
        arrays[name] = function(arrays[name])

    return change


def put_points(arrays):
    points = arrays["labels"].view("u4").copy()
    points[0] = 0x110000
    arrays["labels"] = points.view(arrays["labels"].dtype)


def drop(name):
    return lambda arrays: arrays.update(other=arrays.pop(name))


def fact(name, value):
    def change(facts):
        *before, last = name.split(".")
        for key in before:
            facts = facts[int(key) if key.isdigit() else key]
        facts[int(last) if last.isdigit() else last] = value

    return change


CLUSTER = "cluster-0000"
LIST = np.frombuffer(b"[1]", np.uint8)
CASES = {
    "neighbour of n": ("plain", CLUSTER, put("indices", -1, 40), "from 0 to 39"),
    "neighbour below 0": ("plain", CLUSTER, put("indices", 0, -1), "neighbours must ascend"),
    "neighbour twice": ("plain", CLUSTER, made("indices", lambda v: v.repeat(2)[: len(v)]), "must"),
    "neighbours descend": ("plain", CLUSTER, made("indices", lambda v: v[::-1].copy()), "must ascend"),
    "neighbours are floats": ("plain", CLUSTER, made("indices", lambda v: v * 1.0), "dtype float64"),
    "neighbours of another order": ("plain", CLUSTER, made("indices", lambda v: v.astype(">i4")), ">i4"),
    "neighbours in two dimensions": ("plain", CLUSTER, made("indices", lambda v: v[None]), "dimensions"),
    "no neighbours": ("plain", CLUSTER, drop("indices"), "no array 'indices'"),
    "fewer neighbours": ("plain", CLUSTER, made("indices", lambda v: v[:-1]), "entries, must have"),
    "pointer not from 0": ("plain", CLUSTER, put("indptr", 0, 1), "indptr must go from 0"),
    "pointer descends": ("plain", CLUSTER, put("indptr", 1, 10**6), "not descend"),
    "pointer below 0": ("plain", CLUSTER, put("indptr", 3, -(2**31)), "not descend"),
    "pointer too long": ("plain", CLUSTER, made("indptr", lambda v: np.append(v, v[-1])), "must have 21"),
    "weight is NaN": ("plain", CLUSTER, put("weights", 3, np.nan), "weights must be finite"),
    "weights of text": ("plain", CLUSTER, made("weights", lambda v: v.astype("U9")), "dtype <U9"),
    "weights of fewer bits": ("plain", CLUSTER, made("weights", np.float32), "float32"),
    "no weights": ("plain", CLUSTER, drop("weights"), "weights must be there"),
    "uid too short": ("uid", CLUSTER, made("uid", lambda v: v[1:]), "uid has 19 entries"),
    "uid of floats": ("uid", CLUSTER, made("uid", np.float64), "uid has 1 dimensions of dtype float64"),
    "loops of no node": ("loops", CLUSTER, made("loops", lambda v: np.array([3, 20])), "loops must ascend"),
    "no loops": ("loops", CLUSTER, drop("loops"), "loops must be there"),
    "directions": ("view", CLUSTER, put("directions", 0, 4), "directions must be from 1 to 3"),
    "order names one twice": ("hashed", "nodes", made("order", lambda v: v[[0, 0, *range(2, 40)]]), "order"),
    "order beyond the nodes": ("hashed", "nodes", put("order", -1, 40), "order must ascend"),
    "order too short": ("hashed", "nodes", made("order", lambda v: v[1:]), "order has 39 entries"),
    "label twice": ("text", "nodes", put("labels", 1, "n00"), "two nodes have the same label 'n00'"),
    "labels too few": ("text", "nodes", made("labels", lambda v: v[1:]), "39 labels for 40 nodes"),
    "labels of floats": ("text", "nodes", made("labels", lambda v: np.arange(40.0)), "dtype float64"),
    "no character": ("text", "nodes", put_points, "characters"),
    "labels that are no JSON": ("objects", "nodes", put("labels_json", 0, 0), "labels|damaged"),
    "labels are lists": ("objects", "nodes", made("labels_json", lambda _: LIST), "a list is not a label"),
    "compressed": ("plain", CLUSTER, deflated, "is compressed"),
    "entries": ("plain", "graph.json", fact("entries", [2, 4]), "indptr must go from 0 to 2"),
    "offsets descend": ("plain", "graph.json", fact("offsets.1", 41), "offsets must go from 0"),
    "many nodes": ("plain", "graph.json", fact("offsets.2", 2**62), "clusters"),
    "few clusters": ("plain", "graph.json", fact("clusters", []), "must be those of 0 clusters"),
    "flag": ("plain", "graph.json", fact("directed", "no"), "directed cannot be 'no'"),
    "dtype of weights": ("plain", "graph.json", fact("weight_dtype", "|O"), "weight_dtype cannot be"),
    "no dtype": ("plain", "graph.json", fact("weight_dtype", "x"), "data type 'x'"),
    "built": ("plain", "graph.json", fact("built", [1, 2]), "built cannot be"),
    "attrs": ("plain", "graph.json", fact("attrs", {"root": {"set": []}}), "not a label"),
    "above the folder": ("plain", "graph.json", fact("clusters.0.file", "../outside.npz"), "are in the"),
    "elsewhere": ("plain", "graph.json", fact("clusters.0.file", "/etc/passwd"), "are in the"),
    "a URL": ("plain", "graph.json", fact("nodes.file", "memory://x-1.npz"), "are in the"),
    "no name": ("plain", "graph.json", fact("nodes.file", 5), "file cannot be 5"),
    "bytes": ("plain", "graph.json", fact("nodes.bytes", 2**62), "is damaged: it has"),
    "bytes below 0": ("plain", "graph.json", fact("nodes.bytes", -1), "bytes cannot be -1"),
    "no entry": ("plain", "graph.json", fact("nodes", []), "nodes cannot be"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_forged_is_refused(tmp_path, case, copied):
    kind, name, change, message = CASES[case]
    copied(tmp_path, kind)
    name = forge(tmp_path, name, change)
    for edges in ("memory", "disk"):
        with pytest.raises(InputError, match=message) as error:
            Graph.load(tmp_path, edges=edges)
        assert str(tmp_path) in str(error.value)
        assert name in str(error.value) or name.endswith(".json") or case == "label twice"


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    folder, outside = tmp_path / "graph", tmp_path / "outside.npz"
    saved(folder, "plain")
    (cluster,) = folder.glob("cluster-0000-*")
    cluster.rename(outside)
    cluster.symlink_to(outside)
    with pytest.raises(InputError, match=f"{cluster.name}: is a link out of the folder"):
        Graph.load(folder)
    cluster.unlink()
    outside.rename(cluster)
    link = tmp_path / "link"
    link.symlink_to(folder)  # the folder itself may be one
    assert Graph.load(link).n == 40


def test_nested_lists_are_refused(tmp_path):
    saved(tmp_path, "plain")
    text = (tmp_path / "graph.json").read_text()
    (tmp_path / "graph.json").write_text(text[:-1] + ', "x": ' + "[" * 10**5 + "]" * 10**5 + "}")
    with pytest.raises(InputError, match=r"graph\.json: is damaged"):
        Graph.load(tmp_path)


@pytest.mark.parametrize("edges", ["memory", "disk"])
def test_a_file_elsewhere_is_read_once(monkeypatch, edges):
    """Not hashed, and then read again: that is a second download."""
    from fsspec.implementations.memory import MemoryFile

    url = f"memory://once-{edges}"
    graph = Graph.from_edges(*RNG.integers(0, 5000, (2, 40_000)))
    graph.save(url)
    store = fsspec.filesystem("memory")
    monkeypatch.setattr(type(store), "in_memory", False, raising=False)
    got = []

    def counted(name):
        whole = getattr(MemoryFile, name)

        def call(self, *arguments):
            found = whole(self, *arguments)
            got.append(found if isinstance(found, int) else len(found))
            return found

        monkeypatch.setattr(MemoryFile, name, call)

    for name in ("read", "readinto", "readline"):
        if hasattr(MemoryFile, name):
            counted(name)
    assert Graph.load(url, edges=edges).m == graph.m
    total = sum(store.size(name) for name in store.ls(url, detail=False))
    assert sum(got) <= total
