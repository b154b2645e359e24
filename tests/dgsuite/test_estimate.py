"""What a run is estimated to take, beside what its arrays take."""

from __future__ import annotations

import json
import tomllib
import tracemalloc

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError
from dgsuite.__main__ import main
from dgsuite.core.engine.site import Site
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running import measured, sizes
from dgsuite.core.running.estimate import estimate
from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE, bsp
from dgsuite.partition.arrays import mapped
from tests.support.paths import ROOT
from tests.support.sites import simulate

pytestmark = pytest.mark.usefixtures("alone")

FACTOR = 1.35
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
    return found


def made(directed=False, weighted=False, clusters=1, **more):
    src, dst = np.random.default_rng(1).integers(0, NODES, (2, EDGES))
    weights = np.ones(EDGES, np.float32) if weighted else None
    how = {
        "n": NODES,
        "weights": weights,
        "directed": directed,
        "duplicates": "min",
        **more,
    }
    return Graph.from_edges(src, dst, clusters=clusters, client=None, **how)


@pytest.mark.parametrize("clusters", [1, 3])
@pytest.mark.parametrize(
    ("name", "directed", "weighted"),
    [
        ("pagerank", False, False),
        ("pagerank", True, False),
        ("bfs", False, False),
        ("wcc", False, False),
        ("wcc", True, False),
        ("sssp", False, True),
        ("cdlp", False, False),
        ("mis", False, False),
        ("triangles", False, False),
    ],
)
def test_an_estimate_is_near_what_a_run_takes(name, directed, weighted, clusters, ends):
    graph = made(directed, weighted, clusters)
    ends[0] = graph.parts
    dgsuite.run(name, graph, style="serial", clusters=clusters)
    found = graph.estimate(name)
    assert found.processes == 1
    assert found.parts["graph"].tolist() == [graph.nbytes]
    assert ends[-1] / FACTOR <= found.memory <= ends[-1] * FACTOR


@pytest.mark.parametrize("name", ["pagerank", "wcc"])
def test_of_edges_on_disk(name, ends, monkeypatch):
    """What is mapped is not in memory."""
    monkeypatch.setattr(mapped, "LEAST", 1)
    graph = made(clusters=3, edges="disk")
    dgsuite.run(name, graph, style="serial", clusters=3)
    found = graph.estimate(name)
    assert found.disk > found.memory
    assert ends[-1] / FACTOR <= found.memory <= ends[-1] * FACTOR


@pytest.mark.parametrize("name", ["pagerank", "wcc", "cdlp"])
def test_of_several_processes(name, ends):
    """Each is estimated."""
    graph = made(clusters=4)
    simulate(make_kernel(name, graph, None, {}), graph, 2)
    found = graph.estimate(name, workers=2)
    (each,) = {len(part) for part in found.parts.values()}
    assert each == found.processes == 2
    taken, said = np.array(ends[1:3]), sum(found.parts.values())
    assert (taken / FACTOR <= said).all()
    assert (said <= taken * FACTOR).all()
    assert found.memory == said.max()
    assert found.total == said.sum()


def test_sizes_alone_are_enough():
    """A graph whose clusters are alike has the estimate of its sizes."""
    nodes = np.arange(4096)
    graph = Graph.from_edges(nodes, (nodes + 1) % 4096, clusters=4, client=None)
    there = graph.estimate("bfs", workers=2)
    sized = estimate("bfs", graph.n, graph.m, workers=2, clusters=4)
    assert sized.total == pytest.approx(there.total, rel=1e-3)
    assert sized.saved == pytest.approx(graph.nbytes, rel=1e-3)
    assert (sized.construction > sized.parts["graph"]).all()
    assert sized.peak == max(sized.memory, sized.construction.max())
    assert sized.bounds["Messages"][1] == 2 * graph.m
    assert sized.bounds["Rounds"][1] is None


def test_construction():
    """Of a graph, the peak of memory while it is made."""
    src, dst = np.random.default_rng(1).integers(0, 20_000, (2, 600_000))
    how = {"n": 20_000, "duplicates": "min", "clusters": 2, "client": None}
    Graph.from_edges(src[:50_000], dst[:50_000], **how)  # it has imported what it needs
    tracemalloc.start()
    try:
        graph = Graph.from_edges(src, dst, **how)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    found = graph.estimate("bfs")
    assert peak / FACTOR <= found.construction.sum() <= peak * FACTOR
    there = graph.estimate("bfs", edges="disk")
    assert (there.construction < found.construction).all()
    assert (there.spooled > found.spooled).all()


def test_options_of_the_adjacency():
    plain = estimate("pagerank", 10**7, 10**8, workers=2)
    disk = estimate("pagerank", 10**7, 10**8, workers=2, edges="disk")
    assert disk.total + disk.disk == plain.total
    rows = 4 * (10**7 + 2)  # pointers
    assert disk.disk == plain.parts["graph"].sum() + plain.parts["edges"].sum() - rows
    assert (disk.parts["graph"].sum(), disk.parts["edges"].sum()) == (rows, 0)
    whole = estimate("triangles", 10**7, 10**8, workers=2, edges="disk")  # does not stream
    assert (whole.disk, whole.total) == (0, estimate("triangles", 10**7, 10**8, workers=2).total)
    wide = estimate("pagerank", 2**31, 2**31)
    assert wide.saved == 8 * (2**31 + 1) + 8 * 2**32
    heavy = estimate("pagerank", 10**7, 10**8, workers=2, weights="float64")
    assert heavy.saved - plain.saved == 8 * 2 * 10**8
    directed = estimate("pagerank", 10**7, 10**8, workers=2, directed=True)
    assert directed.parts["view"].sum() == pytest.approx(directed.saved, rel=1e-6)


def test_wrong_values():
    for given, text in (
        ({"n": 0}, "n must be a whole number from 1 on, got 0"),
        ({"m": 10**16}, "at most 1,000,000,000,000,000 edges, got m=10,000,000,000,000,000"),
        ({"m": 1.5}, "m must be a whole number from 0 on, got 1.5"),
        ({"workers": 0}, "workers must be a whole number from 1 on"),
        ({"n": 1 << 32}, "at most 3,037,000,499 nodes"),
        ({"edges": "tape"}, "unknown edges .tape."),
        ({"kernel": "pagerang"}, "did you mean 'pagerank'"),
        ({"damp": 1}, "damp"),
    ):
        with pytest.raises(InputError, match=text):
            estimate(**{"kernel": "pagerank", "n": 10, "m": 10, **given})


def test_how_it_is_shown():
    found = estimate("pagerank", 1000, 5000, workers=2, iterations=7)
    text, page = repr(found), found._repr_html_()
    for shown in (text, page):
        assert "pagerank on 1,000 nodes and 5,000 edges, in 2 processes" in shown
        assert "Here at most 7." in shown
        assert "Here at most 70,000." in shown
        assert "making the graph, at the peak" in shown
    assert max(map(len, text.splitlines()[1:9])) < 100
    assert json.loads(json.dumps(found.to_dict()))["rounds"] == 7


def test_figures_are_those_of_benchmarks():
    for figure in measured.RUNS.values():
        rows = json.loads((ROOT / "benchmarks" / "results" / figure.file).read_text())["rows"]
        said = figure.what, figure.conditions, figure.unit, figure.value
        assert said in [(r["what"], r["conditions"], r["unit"], r["value"]) for r in rows]


def test_the_page():
    """Its table and its example are what the code says."""
    import runpy

    page = (ROOT / "docs" / "howto" / "large.md").read_text()
    assert runpy.run_path(str(ROOT / "docs" / "large_table.py"))["table"]() in page
    shown = estimate("pagerank", n=100_000_000, m=1_000_000_000, workers=4, iterations=20)
    assert repr(shown) in page
    assert "n=100_000_000, m=1_000_000_000, workers=4, iterations=20" in page


def test_the_command(capsys):
    """Nothing is generated or read."""
    told = ["kernel", "pagerank", "rmat", "--scale", "30", "--workers", "2", "--dry-run"]
    assert main(told) == 0
    shown = capsys.readouterr().out
    assert "pagerank on 1,073,741,824 nodes and 17,179,869,184 edges, in 2 processes" in shown
    assert main([*told, "--json", "--set", "iterations=3"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"] == 3
    assert main(["kernel", "bfs", "none.txt", "--n", "1000", "--m", "5000", "--dry-run"]) == 0
    assert "bfs on 1,000 nodes and 5,000 edges, in one process" in capsys.readouterr().out
    assert main(["kernel", "bfs", "none.txt", "--dry-run"]) == 2
    assert "give --n and --m, the sizes of none.txt" in capsys.readouterr().err
    assert main(["gap", "--kron", "12", "--kernels", "sssp,bc", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert tomllib.loads(shown)["kron"] == 12
    for kernel in ("sssp", "bc"):
        assert f"# {kernel} on 4,096 nodes and 65,536 edges, in 2 processes" in shown
    assert main(["graph500", "--scale", "12", "--kernel", "sssp", "--dry-run"]) == 0
    assert "# sssp on 4,096 nodes and 65,536 edges, in 2 processes" in capsys.readouterr().out
    assert main(["graph500", "--scale", "12", "--partition", "2d", "--dry-run"]) == 0
    assert "processes" not in capsys.readouterr().out


def test_types_of_fields():
    assert sizes.per_node(KERNELS["bfs"](), 100) == 4 + 4 + 1
    assert sizes.per_node(KERNELS["bfs"](), 1 << 31) == 4 + 8 + 1
    assert sizes.per_node(KERNELS["pagerank"](), 100) >= 8
    pairs = estimate("all_pairs", 10**5, 10**6).parts["state"]
    assert pairs - estimate("bfs_many", 10**5, 10**6).parts["state"] == 4 * 10**10
    walks = estimate("random_walks", 1000, 1000, length=9, walks=2).parts["state"]
    assert 4 * 2 * 10 * 1000 <= walks <= 4 * 2 * 12 * 1000


@pytest.mark.parametrize("weighted", [False, True])
def test_a_replicated_kernel_holds_the_whole_graph(weighted):
    """In CSR: ends in 32 bits, and weights in 64."""
    weights = np.int64 if weighted else None
    few, many = (estimate("bc", 10**6, m, weights=weights) for m in (10**6, 2 * 10**6))
    assert many.parts["state"] - few.parts["state"] == 2 * 10**6 * (12 if weighted else 4)


def test_a_state_whose_type_is_not_there_is_left_out():
    """As where it is imported for type checkers alone."""

    class Odd(bsp.Kernel):
        def start(self, c: bsp.Cluster, net: bsp.Net) -> NoSuchState: ...  # noqa: F821

    assert sizes.per_node(Odd(), 100) == 0


@pytest.mark.parametrize("kernels", [KERNELS, RECURSIVE, BLOCK])
def test_the_state_of_every_kernel_has_a_size(kernels):
    for kernel in kernels.values():
        assert sizes.per_node(kernel(), 100) >= 0
