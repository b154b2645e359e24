"""Graphs: every source, the rules, partitions, and what is refused."""

from __future__ import annotations

import gzip

import dask.array as da
import dask.dataframe as dd
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph, InputError
from partition import partitioners
from partition.imsuite import KERNELS


def same(a: Graph, b: Graph) -> None:
    """Two graphs have the same edges and weights."""
    left, right = a.to_scipy(), b.to_scipy()
    assert left.shape == right.shape
    assert (left != right).nnz == 0
    assert a.m == b.m


edge_lists = st.integers(1, 15).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
    )
)


@given(edge_lists, st.booleans(), st.integers(1, 6))
def test_from_edges_follows_networkx(case, directed, clusters):
    n, edges = case
    src, dst = [u for u, _ in edges], [v for _, v in edges]
    graph = Graph.from_edges(src, dst, n=n, directed=directed, clusters=clusters)
    expected = nx.DiGraph() if directed else nx.Graph()
    expected.add_nodes_from(range(n))
    expected.add_edges_from((u, v) for u, v in edges if u != v)
    assert nx.utils.graphs_equal(graph.to_networkx(), expected)
    assert graph.m == expected.number_of_edges()
    assert (graph.n, len(graph.parts)) == (n, clusters)
    for part in graph.parts:
        assert part.indices.dtype == np.int32
        for i in range(part.size):
            row = part.indices[part.indptr[i] : part.indptr[i + 1]]
            assert (np.diff(row) > 0).all()


@given(edge_lists, st.integers(1, 6), st.randoms(use_true_random=False))
def test_any_partition_keeps_the_graph(case, clusters, random):
    n, edges = case
    src, dst = [u for u, _ in edges], [v for _, v in edges]
    plain = Graph.from_edges(src, dst, n=n)
    owner = np.array([random.randrange(clusters) for _ in range(n)])
    for partition in ("nodes", "edges", owner, partitioners.from_owner(owner, clusters)):
        graph = Graph.from_edges(src, dst, n=n, clusters=clusters, partition=partition)
        same(plain, graph)
        for k, part in enumerate(graph.parts):
            np.testing.assert_array_equal(graph.partition.owner(part.ids), k)
            np.testing.assert_array_equal(part.uid, part.ids)
            remote = [
                sum(graph.partition.owner(np.array([v]))[0] != k for v in part.indices[a:b])
                for a, b in zip(part.indptr[:-1], part.indptr[1:], strict=True)
            ]
            np.testing.assert_array_equal(part.remote_degree, remote)


def test_duplicates_keep_the_smallest_weight():
    graph = Graph.from_edges([0, 1, 0, 2], [1, 0, 1, 2], weights=[5.0, 2.0, 9.0, 1.0], n=3)
    assert graph.m == 1
    assert graph.weighted
    assert graph.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    one_way = Graph.from_edges([0, 1, 0], [1, 0, 1], weights=[5, 2, 9], directed=True)
    assert one_way.to_scipy().toarray().tolist() == [[0, 5], [2, 0]]
    assert one_way.weight_dtype == np.int64


def test_edges_balanced():
    star = nx.star_graph(1000)
    by_nodes = Graph.from_networkx(star, clusters=4)
    by_edges = Graph.from_networkx(star, clusters=4, partition="edges")
    assert max(by_edges.entries) == 1000 < max(by_nodes.entries)
    assert by_edges.parts[0].size == 1


def test_dask_collections():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1, 2, 3], clusters=2)
    assert graph.indptr.compute().tolist() == [0, 1, 3, 0, 2, 3]
    assert graph.indices.compute().tolist() == [1, 0, 2, 1, 3, 2]
    assert graph.weights.compute().tolist() == [1, 1, 2, 2, 3, 3]
    assert graph.uid.compute().tolist() == [0, 1, 2, 3]
    assert graph.indices.chunks == ((3, 3),)
    assert graph.clusters.npartitions == 2
    assert graph.clusters.map(lambda c: c.index).compute(scheduler="sync") == [0, 1]


def test_from_dask():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 50, (2, 300))
    weights = rng.integers(1, 9, 300)
    expected = Graph.from_edges(src, dst, n=50, weights=weights, client=None)
    frame = pd.DataFrame({"src": src, "dst": dst, "weight": weights})
    lazy = dd.from_pandas(frame, npartitions=4)
    arrays = [da.from_array(a, chunks=77) for a in (src, dst, weights)]
    same(expected, Graph.from_edges(arrays[0], arrays[1], weights=arrays[2]))
    same(expected, Graph.from_edges(lazy))
    same(expected, Graph.from_edges(lazy["src"], lazy["dst"], weights=lazy["weight"]))
    same(expected, Graph.from_edges(frame))
    same(expected, Graph.from_edges(frame["src"], frame["dst"], weights=frame["weight"]))


def test_from_networkx_keeps_labels():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.5), ("b", ("c", 1), 2.5)])
    mine = Graph.from_networkx(graph)
    assert mine.labels == ["a", "b", ("c", 1)]
    assert nx.utils.graphs_equal(mine.to_networkx(), graph)


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_from_scipy(form):
    matrix = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(2))
    both = (matrix + matrix.T).tocsr()
    both.setdiag(0)
    both.eliminate_zeros()
    mine = Graph.from_scipy(form(both), clusters=3)
    assert abs(mine.to_scipy() - both).max() == 0
    pattern = both.astype(bool)
    assert not Graph.from_scipy(form(pattern)).weighted
    with pytest.raises(InputError, match="not symmetric"):
        Graph.from_scipy(form(matrix))
    assert Graph.from_scipy(form(matrix), directed=True).directed


def test_matrix_market(tmp_path):
    matrix = sp.coo_array(nx.to_scipy_sparse_array(nx.gnm_random_graph(20, 40, seed=1)))
    path = tmp_path / "g.mtx"
    scipy.io.mmwrite(path, matrix, symmetry="symmetric")
    same(Graph.from_scipy(matrix), Graph.read_matrix_market(path))
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.0\n")
    with pytest.raises(InputError, match="square"):
        Graph.read_matrix_market(path)
    path.write_text("hello\n")
    with pytest.raises(InputError, match=r"g\.mtx: not a Matrix Market file"):
        Graph.read_matrix_market(path)
    with pytest.raises(InputError, match="no such file"):
        Graph.read_matrix_market(tmp_path / "none.mtx")


def test_edge_lists(tmp_path, monkeypatch):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    text = "# a ring\n0 1\n1\t2\n\n2,3\n3 0  # the last\n"
    path = tmp_path / "ring.txt"
    path.write_text(text)
    same(expected, Graph.read_edge_list(path))
    monkeypatch.setattr("partition.readers.BLOCK", 9)
    same(expected, Graph.read_edge_list(path))
    packed = tmp_path / "ring.txt.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    same(expected, Graph.read_edge_list(packed))
    path.write_text("0 1 2.5\n1 2 0.5\n")
    assert Graph.read_edge_list(path).to_scipy().max() == 2.5
    frame = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "other": 1})
    frame.to_parquet(tmp_path / "ring.parquet")
    same(expected, Graph.read_edge_list(tmp_path / "ring.parquet"))
    frame.rename(columns={"dst": "to"}).to_parquet(tmp_path / "ring.parquet")
    with pytest.raises(InputError, match="no column 'dst'"):
        Graph.read_edge_list(tmp_path / "ring.parquet")


@pytest.mark.parametrize("line", ["1 x", "5", "1 2 3 4", "1 2.5", "a b", "-1 2"])
def test_bad_lines_of_edge_lists(tmp_path, line):
    path = tmp_path / "bad.txt"
    path.write_text(f"0 1\n{line}\n")
    with pytest.raises(InputError, match=r"bad\.txt: '.*' is not an edge|names node -1"):
        Graph.read_edge_list(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([0, 1], [1, 7], n=3), r"edge 1 \(1, 7\) names node 7"),
        (lambda: Graph.from_edges([0, -1], [1, 1]), "names node -1"),
        (lambda: Graph.from_edges([0], [1], weights=[np.nan]), "weight NaN"),
        (lambda: Graph.from_edges([0], [1], weights=["x"]), "weights must be numbers"),
        (lambda: Graph.from_edges([0.5], [1]), "must be integers"),
        (lambda: Graph.from_edges([0, 1], [1]), "as long as each other"),
        (lambda: Graph.from_edges([0], [1], clusters=-2), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=0), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], clusters=1.5), "clusters must be"),
        (lambda: Graph.from_edges([0], [1], partition="metis"), "partition must be"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 1, 2]), "maps 3 nodes"),
        (lambda: Graph.from_edges([0], [1], partition=[0, 5], clusters=2), "node 1 is mapped"),
        (lambda: Graph.from_edges([0], [1], uid=[3, 3]), "nodes 0 and 1 have the same identifier"),
        (lambda: Graph.from_edges([0], [1], uid=[1]), "uid must be 2 integers"),
        (lambda: Graph.from_edges([], []), "at least one node"),
        (lambda: Graph.from_edges([0], [1], n=-1), "n must be"),
        (lambda: Graph.from_scipy(sp.csr_array((2, 3))), "square"),
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1]})), "columns 'src' and 'dst'"),
        (lambda: Graph.from_edges(da.zeros(3, int), [1]), "all be Dask"),
    ],
)
def test_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_repartition():
    graph = nx.gnm_random_graph(30, 60, seed=3)
    whole = Graph.from_networkx(graph, clusters=1)
    for first, second in ((1, 7), (7, 3), (3, 40), (40, 1)):
        cut = Graph.from_networkx(graph, clusters=first).repartition(second)
        same(whole, cut)
        assert len(cut.parts) == second
        assert [p.index for p in cut.parts] == list(range(second))
    mapped = Graph.from_networkx(graph, partition=np.arange(30) % 4)
    with pytest.raises(InputError, match="partition of its own"):
        mapped.repartition(2)


def test_html_is_escaped():
    graph = Graph.from_edges([0], [1], attrs={"<script>": "&"})
    assert "<script>" not in graph._repr_html_()
    assert "2 nodes" in repr(graph)


# ---- on workers


def on_workers(client):
    """Nodes of each cluster, where it is; and that none is in this process."""
    return client.run(lambda dask_worker: len(dask_worker.data))


def test_built_on_workers(client):
    rng = np.random.default_rng(8)
    n, m = 30_000, 400_000
    src, dst = rng.integers(0, n, (2, m))
    weights = rng.random(m)
    here = Graph.from_edges(src, dst, n=n, weights=weights, clusters=1, client=client).gather()
    expected = Graph.from_edges(src, dst, n=n, weights=weights, clusters=3, client=client)
    assert not expected.local
    homes = {p.key: client.who_has([p])[p.key] for p in expected.parts}
    assert len({h for who in homes.values() for h in who}) == 2
    rows = np.repeat(here[0].ids, here[0].degree)
    whole = sp.coo_array((here[0].weights, (rows, here[0].indices)), shape=(n, n))
    assert abs(expected.to_scipy() - whole.tocsr()).max() == 0
    with client.as_current():
        lazy = Graph.from_edges(
            da.from_array(src, chunks=100_000),
            da.from_array(dst, chunks=100_000),
            weights=da.from_array(weights, chunks=100_000),
            n=n,
            clusters=3,
        )
        edges = Graph.from_edges(src, dst, n=n, weights=weights, clusters=3, partition="edges")
    same(expected, lazy)
    same(expected, edges)
    again = expected.repartition(5, client)
    assert not again.local
    same(expected, again)


def test_errors_on_workers_are_the_same(client):
    bad = da.from_array(np.array([0, 1, 99]), chunks=1)
    good = da.from_array(np.array([1, 2, 0]), chunks=1)
    with client.as_current():
        with pytest.raises(InputError, match="names node 99"):
            Graph.from_edges(bad, good, n=3)
        with pytest.raises(InputError, match="weight NaN"):
            Graph.from_edges(good, good, weights=da.from_array(np.full(3, np.nan), chunks=1), n=3)


def test_no_step_gathers_the_graph(client):
    """What the client gets while a graph is built is small."""
    nodes = np.arange(300_000)
    got = []
    gather = client.gather
    client.gather = lambda *a, **k: (got.append(gather(*a, **k)), got[-1])[1]
    try:
        Graph.from_edges(nodes, (nodes + 1) % len(nodes), clusters=4, client=client)
    finally:
        client.gather = gather
    assert got
    assert sum(len(repr(g)) for g in got) < 1000


# ---- IMSuite files


def ring_file(tmp_path, text):
    path = tmp_path / "in.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("kernel", "text", "message"),
    [
        ("mis", "3\n010\n10\n000\n", r"line 3: adjacency row 1 must have 3 digits, found 2"),
        ("mis", "3\n010\n101\n", r"line 4: the file ends where adjacency row 2"),
        ("mis", "3\n010\n1x1\n010\n", r"line 3: .* digits 0 and 1, found 'x'"),
        ("mis", "3\n010\n001\n010\n", r"not symmetric: entries \(0, 1\) and \(1, 0\)"),
        ("mis", "three\n", r"line 1: expected the number of nodes.*'three'"),
        ("mis", "0\n", "must be at least 1"),
        ("mis", "", "the file ends where the number of nodes"),
        ("mis", "2\n01\n10\n7\n", r"line 4: unexpected text after the end: '7'"),
        ("bf", "2\n2\n01\n10\n", r"line 2: the root must be from 0 to 1, found 2"),
        ("lcr", "3\n1\n2\n", "the file ends where an identifier"),
        ("lcr", "3\n1\n2\n2\n", "the same identifier 2"),
        ("lcr", "3\n1\n2\nz\n", r"line 4: .*'z'"),
    ],
)
def test_malformed_imsuite_files(tmp_path, kernel, text, message):
    with pytest.raises(InputError, match=message):
        Graph.read_imsuite(ring_file(tmp_path, text), kernel)


def test_imsuite_file_missing(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Graph.read_imsuite(tmp_path / "none.txt", "mis")
    with pytest.raises(InputError, match="no IMSuite input format"):
        Graph.read_imsuite(ring_file(tmp_path, "1\n"), "nope")


FAMILIES = {
    "bfs": ("bf", "dst"),
    "byzantine": ("by",),
    "mis-ds": ("mis", "ds"),
    "kcommittee": ("kc",),
    "leader-dp": ("dp",),
    "routing": ("dr",),
    "mst": ("mst",),
    "coloring": ("vc",),
    "ring": ("lcr", "hs"),
}
ORIGINALS = {
    "inputbfsBellman": "bf",
    "inputbfsDijkstra": "dst",
    "inputbyzantine": "by",
    "inputdijkstraRouting": "dr",
    "inputdominatingSet": "ds",
    "inputkcommitte": "kc",
    "inputleader_elect_dp": "dp",
    "inputleader_elect_hs": "hs",
    "inputleader_elect_lcr": "lcr",
    "inputmis": "mis",
    "inputmst": "mst",
    "inputvertexColoring": "vc",
}


def test_every_imsuite_file_reads(shared):
    assert {k for ks in FAMILIES.values() for k in ks} == set(KERNELS)
    read = 0
    for path in sorted((shared / "imsuite-inputs" / "generated").iterdir()):
        for kernel in FAMILIES[path.name.split("_")[0]]:
            n = int(path.name.split("_n")[1].split("_")[0])
            assert Graph.read_imsuite(path, kernel, client=None).n == n
            read += 1
    for path in sorted((shared / "imsuite-inputs").glob("original-*/*.txt")):
        kernel = next(k for start, k in ORIGINALS.items() if path.name.startswith(start))
        if path.stat().st_size < 300_000:
            assert Graph.read_imsuite(path, kernel).n >= 8
            read += 1
    assert read > 150
