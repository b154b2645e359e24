"""What a run is estimated to take, beside what its arrays take."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.__main__ import main
from dgsuite.core.engine.site import Site
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.estimate import _per_node, estimate, parts_of
from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE, bsp
from dgsuite.partition.arrays import mapped
from tests.support.paths import ROOT
from tests.support.sites import simulate

pytestmark = pytest.mark.usefixtures("alone")

FACTOR = 2
"""Between an estimate and what is there at the end of a run, for nodes in random order."""

NODES, EDGES = 2000, 40_000
"""Enough for compiled loops."""


def arrays(*roots):
    """Bytes in memory of all arrays that objects of dgsuite refer to, each counted once."""
    seen, found, left = set(), {}, list(roots)
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            while isinstance(value.base, np.ndarray):
                value = value.base
            found[id(value)] = 0 if mapped.is_mapped(value) else value.nbytes
        elif isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        elif type(value).__module__.startswith("dgsuite") and hasattr(value, "__dict__"):
            left += vars(value).values()
    return sum(found.values())


@pytest.fixture
def ends(monkeypatch):
    """Bytes of each site, and of the clusters in this process that come first, as a run ends."""
    found, outputs = [()], Site.outputs

    def noted(self):
        found.append(arrays(self, found[0]))
        return outputs(self)

    monkeypatch.setattr(Site, "outputs", noted)
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    return found


def made(directed=False, weighted=False, clusters=1, **more):
    src, dst = np.random.default_rng(1).integers(0, NODES, (2, EDGES))
    how = {"n": NODES, "directed": directed, "duplicates": "min", "client": None, **more}
    weights = np.ones(EDGES, np.float32) if weighted else None
    return Graph.from_edges(src, dst, clusters=clusters, weights=weights, **how)


RUNS = [
    *((name, {}) for name in ("pagerank", "bfs", "wcc", "cdlp", "mis", "triangles")),
    *((name, {"directed": True}) for name in ("pagerank", "wcc")),
    ("sssp", {"weighted": True}),
]


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize(("name", "how"), RUNS)
def test_an_estimate_is_near_what_a_run_takes(name, how, clusters, ends):
    graph = made(clusters=clusters, **how)
    ends[0] = graph.parts
    dgsuite.run(name, graph, style="serial", clusters=clusters)
    found = estimate(name, graph)
    assert (len(found.parts["graph"]), found.memory) == (1, found.total)
    assert ends[-1] / FACTOR <= found.memory <= ends[-1] * FACTOR


@pytest.mark.parametrize("name", ["pagerank", "wcc"])
def test_of_edges_on_disk(name, ends, monkeypatch):
    """What is mapped is not in memory."""
    monkeypatch.setattr(mapped, "LEAST", 1)
    graph = made(clusters=3, edges="disk")
    dgsuite.run(name, graph, style="serial", clusters=3)
    found = estimate(name, graph)
    assert found.memory < estimate(name, made(clusters=3)).memory
    assert ends[-1] / FACTOR <= found.memory <= ends[-1] * FACTOR


@pytest.mark.parametrize("name", ["pagerank", "wcc", "cdlp"])
def test_of_several_processes(name, ends):
    """Each is estimated."""
    graph = made(clusters=4)
    simulate(make_kernel(name, graph, None, {}), graph, 2)
    found = estimate(name, graph, workers=2)
    taken, said = np.array(ends[1:3]), np.sum([*found.parts.values()], axis=0)
    assert (taken / FACTOR <= said).all()
    assert (said <= taken * FACTOR).all()
    assert found.memory == said.max()
    assert found.total == said.sum()


def test_sizes_alone_are_enough():
    """A graph whose clusters are alike has the estimate of its sizes."""
    nodes = np.arange(4096)
    graph = Graph.from_edges(nodes, (nodes + 1) % 4096, clusters=4, client=None)
    there = estimate("bfs", graph, workers=2)
    sized = estimate("bfs", graph.n, graph.m, workers=2)
    assert sized.total == pytest.approx(there.total, rel=1e-3)
    assert sum(sized.parts["graph"]) == pytest.approx(graph.nbytes, rel=1e-3)


def test_options_of_the_adjacency():
    def parts(kernel="pagerank", n=10**7, m=10**8, **options):
        found = estimate(kernel, n, m, workers=2, **options)
        return {name: sum(part) for name, part in found.parts.items()}

    plain, disk = parts(), parts(edges="disk")
    assert (disk["graph"], disk["state"]) == (4 * (10**7 + 2), plain["state"])
    assert parts("triangles", edges="disk") == parts("triangles")  # does not stream
    assert parts(n=2**31, m=2**31)["graph"] == 8 * (2**31 + 2) + 8 * 2**32
    assert parts(weights="float64")["graph"] - plain["graph"] == 8 * 2 * 10**8
    both_ways = parts(directed=True)["graph"]  # also the edges that come in
    assert both_ways == pytest.approx(plain["graph"], 0.1)


WRONG = [
    ({"n": 0}, "n must be a whole number from 1 to 3,037,000,499, got 0"),
    ({"m": 1.5}, "m must be a whole number from 0 to 1,000,000,000,000,000, got 1.5"),
    ({"workers": 0}, "workers must be a whole number from 1 to"),
    ({"n": 1 << 32}, "from 1 to 3,037,000,499, got 4294967296"),
    ({"edges": "tape"}, "unknown edges .tape."),
    ({"kernel": "pagerang"}, "did you mean 'pagerank'"),
    ({"damp": 1}, "damp"),
]


@pytest.mark.parametrize(("given", "text"), WRONG)
def test_wrong_values(given, text):
    with pytest.raises(InputError, match=text):
        estimate(**{"kernel": "pagerank", "n": 10, "m": 10, **given})


def test_the_page():
    """Its table and its example are what the code says."""
    import runpy

    page = (ROOT / "docs" / "howto" / "large.md").read_text()
    assert runpy.run_path(str(ROOT / "docs" / "large_table.py"))["table"]() in page
    shown = estimate("pagerank", n=100_000_000, m=1_000_000_000, workers=4, iterations=20)
    assert repr(shown) in page
    assert "n=100_000_000, m=1_000_000_000, workers=4, iterations=20" in page


def test_the_command(here):
    """Nothing is generated or read."""
    told = "pagerank rmat --scale 30 --workers 2"
    for arguments, said in (
        (told, "pagerank on 1,073,741,824 nodes and 17,179,869,184 edges, in 2 processes"),
        ("bfs none.txt --n 1000 --m 5000", "bfs on 1,000 nodes and 5,000 edges, in one process"),
        ("bfs none.txt", "give --n and --m, the sizes of none.txt"),
    ):
        done = here(main, "kernel", *arguments.split(), "--dry-run")
        assert said in done.stdout + done.stderr
    done = here(main, "kernel", *told.split(), "--dry-run", "--json", "--set", "iterations=3")
    assert sum(json.loads(done.stdout)["parts"]["graph"]) > 2**37


def test_a_run_on_a_graph_needs_at_least_what_is_declared():
    graph = made(clusters=4)
    least, most = (parts_of(KERNELS["wcc"](), graph, 2, halo) for halo in (False, True))
    assert sum(least["graph"]) == pytest.approx(graph.nbytes, rel=1e-4)
    assert least["halo"] == [0, 0]
    assert all(least[name][0] <= most[name][0] for name in most)


def test_types_of_fields():
    """Each state has a size, but for fields whose type is imported for type checkers alone."""
    assert _per_node(KERNELS["bfs"](), 100) == 4 + 4 + 1
    assert _per_node(KERNELS["bfs"](), 1 << 31) == 4 + 8 + 1
    assert _per_node(KERNELS["pagerank"](), 100) >= 8
    for kernel in (*KERNELS.values(), *RECURSIVE.values(), *BLOCK.values()):
        assert _per_node(kernel(), 100) >= 0

    class Odd(bsp.Kernel):
        def start(self, c: bsp.Cluster, net: bsp.Net) -> NoSuchState: ...  # noqa: F821

    assert _per_node(Odd(), 100) == 0
    (pairs,) = estimate("all_pairs", 10**5, 10**6).parts["state"]
    (others,) = estimate("bfs_many", 10**5, 10**6).parts["state"]
    assert pairs - 4 * 10**10 == others - 4 * 10**5
    (walks,) = estimate("random_walks", 1000, 1000, length=9, walks=2).parts["state"]
    assert 4 * 2 * 10 * 1000 <= walks <= 4 * 2 * 12 * 1000
    # one that is replicated holds the whole graph in CSR: ends in 32 bits, and weights in 64
    for weights, each in ((None, 4), (np.int64, 12)):
        states = [estimate("bc", 10**6, m, weights=weights).parts["state"] for m in (10**6, 10**7)]
        assert states[1][0] - states[0][0] == 2 * 9 * 10**6 * each
