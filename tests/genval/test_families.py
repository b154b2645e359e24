"""The fast families: what they are, and that they are the same however they are made."""

import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.genval import counters
from dgsuite.genval.families import FAMILIES, _pair, plan, quadrants
from tests.support.graphs import same

KINDS = list(FAMILIES)


def size(kind, n):
    return 1 << (n.bit_length() - 1) if kind == "rmat" else n


def edges(made, bounds):
    """Edges and weights, sorted, of the items between bounds."""
    pieces = zip(*(made.edges(lo, hi) for lo, hi in pairwise(bounds)), strict=True)
    columns = [np.concatenate(column) for column in pieces if column[0] is not None]
    order = np.lexsort(columns[1::-1])
    return [column[order] for column in columns]


@given(st.data(), st.integers(0, 2**64 - 1))
def test_permutations(data, key):
    n = data.draw(st.integers(1, 300))
    at = np.arange(n, dtype=np.uint64)
    assert sorted(counters.permute(at, n, key).tolist()) == list(range(n))
    n = data.draw(st.integers(1, 2**63))
    some = data.draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1, max_size=50))
    found = counters.permute(np.array(some, np.uint64), n, key).tolist()
    assert len(set(found)) == len(some)
    assert max(found) < n


@pytest.mark.parametrize("size", [1, 100, 2**20, 2**31 - 5, 2**32, 2**63 - 1])
def test_compiled_loops_draw_the_same(size, monkeypatch):
    rng = np.random.default_rng(1)
    at = rng.integers(0, size, 3000).astype(np.uint64)
    cuts = [int(2**32 * share) for share in (0.57, 0.76, 0.95)]

    def drawn():
        ends = [quadrants(at, n, 7, cuts) for n in (1, 2**19, 2**20, 2**31)]
        narrow = at.astype(np.uint32) if size <= 2**32 else at
        numbers = counters.draw(2**64 - 1, at), counters.draw(3, at.reshape(3, -1).T)
        return [*numbers, counters.permute(at, size, 5), counters.permute(narrow, size, 5), *ends]

    monkeypatch.setattr(counters, "_ready", None)
    expected = drawn()
    assert counters._ready is None
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    for a, b in zip(drawn(), expected, strict=True):
        assert np.array_equal(a, b)


def test_random_numbers_are_spread():
    """Means and correlations as of independent uniform numbers, within five deviations."""
    count, n = 200_000, 10**9 + 7
    at = np.arange(count, dtype=np.uint64)
    drawn = counters.draw(counters.subkey(101, 3), at)
    for share in (counters.unit(drawn), counters.permute(at, n, 5) / n):
        assert abs(share.mean() - 0.5) < 5 * np.sqrt(1 / 12 / count)
        assert abs(np.corrcoef(share[1:], share[:-1])[0, 1]) < 5 / np.sqrt(count)
        counts = np.bincount((share * 1000).astype(int), minlength=1000)
        assert abs(((counts - count / 1000) ** 2 / (count / 1000)).sum() - 999) < 5 * np.sqrt(1998)
    assert counters.below(drawn, 10).max() == 9
    # SplitMix64 with seed 0: its first outputs
    first = counters.draw(0, np.arange(1, 4, dtype=np.uint64))
    assert first.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_pairs_by_rank():
    high, low = np.tril_indices(60, -1)
    u, v = _pair(np.arange(60 * 59 // 2, dtype=np.uint64))
    assert (u.tolist(), v.tolist()) == (low.tolist(), high.tolist())
    n = 3_037_000_499
    v = np.array([2, 10**6, n - 2, n - 1], np.uint64)
    base = v * (v - np.uint64(1)) // np.uint64(2)
    for rank, low_end in ((base, 0), (base + v - np.uint64(1), v - np.uint64(1))):
        u, found = _pair(rank)
        assert (found == v).all()
        assert (u == low_end).all()


@given(st.data(), st.sampled_from(KINDS), st.integers(1, 150), st.integers(-(2**70), 2**70))
def test_any_pieces_make_the_same_graph(data, kind, n, seed):
    made = plan(kind, size(kind, n), seed=seed, weights=True)
    inner = data.draw(st.lists(st.integers(0, made.items), max_size=6))
    whole = edges(made, [0, made.items])
    for column, other in zip(whole, edges(made, sorted([0, made.items, *inner])), strict=True):
        assert (column == other).all()
    nodes = np.arange(made.n)
    assert sorted(made.uid(nodes)) == list(range(1, made.n + 1))
    assert (made.uid(nodes[::-1])[::-1] == made.uid(nodes)).all()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "n", "options"),
    [
        ("er", 20_000, {"m": 400_000, "weights": True}),
        ("geometric", 40_000, {}),
        ("rmat", 2**14, {}),
        ("chain", 200_000, {}),
        ("spmax", 500, {}),
    ],
)
def test_on_workers(client, kind, n, options, monkeypatch):
    there = genval.graph(kind, n, client=client, clusters=3, **options)
    assert there.local == (kind == "spmax")  # small graphs are built here
    by_edges = genval.graph(kind, n, client=client, partition="edges", **options)
    parts = there.gather()
    monkeypatch.setattr("dgsuite.partition.client.session.current_client", lambda client: None)
    here = genval.graph(kind, n, **options)
    assert here.local
    same(here, there)
    assert (np.concatenate([part.uid for part in parts]) == here.parts[0].uid).all()
    assert there.attrs == {"root": 0}
    same(here, by_edges)


@given(st.sampled_from(KINDS), st.integers(1, 200), st.integers(0, 9))
def test_sizes(kind, n, seed):
    n = size(kind, n)
    graph = genval.graph(kind, n, seed=seed)
    pairs = n * (n - 1) // 2
    columns = int(np.ceil(np.sqrt(n)))
    expected = {
        "ring": {1: 0, 2: 1}.get(n, n),
        "spmax": max(min(n * (n.bit_length() - 1), pairs), n - 1),
        "cplt": pairs,
        "er": min(8 * n, pairs),
        "grid": n - -(-n // columns) + max(n - columns, 0),
        **dict.fromkeys(("star", "chain", "tree", "spmin"), n - 1),
    }
    assert graph.n == n
    assert graph.m == expected.get(kind, graph.m)
    assert graph.m <= pairs
    if (kind in expected and kind != "er") or kind == "road":
        assert connected_components(graph.to_scipy())[0] == 1
    if kind != "geometric":  # of others nothing is repeated or dropped but where it is said
        made = plan(kind, n, seed=seed)
        drawn = len(made.edges(0, made.items)[0])
        assert drawn == graph.m or kind in ("rmat", "powerlaw", "web")


@given(st.integers(2, 300), st.none() | st.integers(1, 9), st.integers(0, 99))
def test_trees(n, most, seed):
    made = plan("tree", n, seed=seed, max=most)
    parent, child, _ = made.edges(0, made.items)
    assert child.tolist() == list(range(1, n))
    assert (parent < child).all()
    if most:
        assert (np.diff(parent) >= 0).all()
        counts = np.bincount(parent, minlength=n)
        assert counts.max() <= most
        assert counts[: parent[-1]].min(initial=1) >= 1
        assert most > 1 or (parent == child - 1).all()
    more = plan("spmax", n, seed=seed, max=most, m=n - 1)
    assert (more.edges(0, more.items)[0] == parent).all()


def test_degrees():
    n = 20_000
    degree = {kind: genval.graph(kind, n).to_scipy().sum(axis=0) for kind in ("er", "powerlaw")}
    assert degree["er"].mean() == 16
    assert abs(degree["er"].var() - 16) < 1  # Poisson's
    assert degree["er"].max() < 50
    tail = np.sort(degree["powerlaw"])[::-1]
    assert tail[0] > 300
    # the largest degrees fall as rank^(-1 / (exponent - 1))
    ranks = np.array([50, 500])
    slope = np.diff(np.log(tail[ranks]))[0] / np.diff(np.log(ranks))[0]
    assert abs(slope + 1 / 1.5) < 0.1
    rmat = genval.graph("rmat", 2**14).to_scipy().sum(axis=0)
    assert rmat.max() > 20 * rmat.mean()
    assert abs(np.argmax(rmat) - 2**13) < 2**13  # scrambled: node 0 is nothing special
    assert rmat[0] < rmat.max()
    half = genval.graph("rn", 400)
    assert abs(half.m - 400 * 399 / 4) < 5 * np.sqrt(400 * 399 / 8)


def test_grid():
    graph = genval.graph("grid", 12, columns=4).to_networkx()
    assert nx.is_isomorphic(graph, nx.grid_2d_graph(3, 4))
    assert genval.graph("grid", 5, columns=1).m == 4
    assert genval.graph("grid", 5, columns=2**70).m == 4
    assert genval.graph("tree", 5, max=2**70).m == 4


@pytest.mark.parametrize(("n", "degree"), [(2000, 10), (500, 0.5), (300, 60), (60, 200), (1, 1)])
def test_geometric(n, degree):
    """All pairs that are near enough, and no others."""
    made = plan("geometric", n, degree=degree, seed=4)
    options = made.make.keywords
    strips, key = options["strips"], options["key"]
    nodes = np.arange(n, dtype=np.uint64)
    x, y = (counters.unit(counters.draw(counters.subkey(key, axis), nodes)) for axis in range(2))
    strip = np.searchsorted([n * s // strips for s in range(strips + 1)], nodes, "right") - 1
    y = (strip + y) / strips
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= degree / (np.pi * n)
    expected = np.argwhere(np.triu(near, 1))
    src, dst = edges(made, [0, made.items])
    found = np.unique(np.sort(np.stack([src, dst], axis=1), axis=1), axis=0)
    assert len(found) == len(src)
    assert (found == expected).all()
    if n == 2000:
        assert abs(2 * len(src) / n - degree) < 1
        assert abs(y.mean() - 0.5) < 0.01


def test_weights_are_distinct():
    graph = genval.graph("cplt", 300, weights=True)
    assert graph.weight_dtype == np.int64
    weights = graph.to_scipy().data
    assert weights.min() > 0
    assert len(np.unique(weights)) == graph.m == 300 * 299 // 2
    other = genval.graph("cplt", 300, weights=True, seed=102).to_scipy().data
    assert not np.isin(other, weights).any()
    assert weights.max() > 2**62


def test_imsuite_graphs():
    graph = genval.graph("spmax", 64, family="imsuite", kernel="bf", clusters=3)
    assert (graph.n, graph.m, graph.attrs, len(graph.parts)) == (64, 383, {"root": 34}, 3)
    graph = genval.graph("spmin", 64, family="imsuite", kernel="KC", k=5, clusters=1)
    assert graph.attrs == {"k": 5}
    assert sorted(graph.parts[0].uid) == list(range(1, 65))
    graph = genval.graph("spmin", 16, family="imsuite", kernel="dr", weights="weq")
    assert (graph.to_scipy().data == 1).all()
    graph = genval.graph("rn", 16, family="imsuite", kernel="mst", weights=True)
    assert graph.weighted
    graph = genval.graph("chain", 9, family="imsuite", kernel="vc")
    assert graph.attrs == {"root": 0, "parents": [0, *range(8)]}


@pytest.mark.parametrize(
    ("kind", "n", "options", "message"),
    [
        ("nope", 8, {}, "kind 'nope' is unknown; one of ring, star"),
        ("ring", 0, {}, "n must be at least 1, got 0"),
        ("ring", "8", {}, "n must be an integer, got '8'"),
        ("ring", 10**10, {}, "n must be at most 3037000499"),
        ("ring", 8, {"m": 9}, "option 'm' has no meaning for ring; it has none"),
        ("grid", 8, {"rows": 9}, "option 'rows' has no meaning for grid; there are columns"),
        ("grid", 8, {"columns": 0}, "columns must be at least 1, got 0"),
        ("er", 8, {"m": 29}, "m must be at most 28, got 29"),
        ("er", 8, {"m": -1}, "m must be at least 0, got -1"),
        ("spmax", 8, {"m": 6}, "m must be at least 7, got 6"),
        ("tree", 8, {"max": 0}, "max must be at least 1, got 0"),
        ("rmat", 12, {}, "n must be a power of two for rmat, got 12"),
        ("rmat", 8, {"a": 0.9}, "a + b + c must be below 1, got 1.28"),
        ("rmat", 8, {"a": 1}, "a must be above 0 and below 1, got 1"),
        ("powerlaw", 8, {"exponent": 2}, "exponent must be above 2, got 2"),
        ("geometric", 8, {"degree": -1}, "degree must be above 0, got -1"),
        ("geometric", 8, {"degree": "x"}, "degree must be a number, got 'x'"),
        ("geometric", 8, {"degree": float("nan")}, "degree must be above 0, got nan"),
        ("ring", 8, {"seed": 1.5}, "seed must be an integer, got 1.5"),
        ("ring", 8, {"weights": "weq"}, "weights must be True, False or the largest weight, got"),
        ("ring", 8, {"family": "slow"}, "family must be 'fast', 'imsuite' or 'paper', got 'slow'"),
        ("rn", 8, {"family": "imsuite"}, "kernel must be given"),
        ("rn", 8, {"family": "imsuite", "kernel": "mis", "m": 9}, "m has no meaning"),
        ("rn", 8, {"family": "imsuite", "kernel": "mis", "weights": True}, "weights must be False"),
        ("rn", 8, {"family": "imsuite", "kernel": "mis", "directed": True}, "directed=True has no"),
        ("rn", 8, {"family": "imsuite", "kernel": "mis", "k": 3}, "'k' has no meaning for mis"),
    ],
)
def test_bad_arguments(kind, n, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        genval.graph(kind, n, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_directed_graphs_have_the_same_edges(kind):
    n = size(kind, 40)
    graph = genval.graph(kind, n, directed=True, weights=9)
    assert graph.directed
    same(graph.to_undirected(), genval.graph(kind, n, weights=9))


def test_weights_up_to_a_largest():
    graph = genval.graph("spmax", 500, weights=9)
    weights = graph.weights.compute()
    assert set(weights.tolist()) == set(range(1, 10))
    assert (graph.to_scipy() != graph.to_scipy().T).nnz == 0
    for wrong in (0, 2**33, "wrn", 0.5):
        with pytest.raises(InputError, match="weights"):
            genval.graph("spmax", 500, weights=wrong)
