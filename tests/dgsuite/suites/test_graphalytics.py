"""Graphalytics from the command line: files, rules of comparison, outputs beside known ones."""

import json
import math

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.kernels import KERNELS
from dgsuite.suites.graphalytics import files, options, run, setting
from dgsuite.suites.graphalytics.options import ALGORITHMS, UNREACHED, Options
from tests.support import definitions
from tests.support.mains import graphalytics as main
from tests.support.paths import SHARED

EXAMPLES = SHARED / "graphalytics-inputs"

HUGE = 2**63 + 11
"""An identifier that fits unsigned integers alone."""

ITERATIONS, DAMPING = 3, 0.7


@pytest.fixture
def graphalytics(here, client):
    """Runs the command on the tests' cluster."""
    return lambda *arguments: here(main, *arguments, "--scheduler", client.scheduler.address)


def network(directed):
    """A graph with scattered identifiers, two components, sinks, weights of 0, and vertices without edges."""
    made = nx.gnm_random_graph(25, 60, seed=3, directed=directed)
    made.add_edge(30, 31)
    made.add_nodes_from([40, 41])
    for k, (u, v) in enumerate(sorted(made.edges)):
        made[u][v]["weight"] = (k * 7 % 11) / 4
    names = {v: HUGE if v == 24 else 1000 * v + 5 for v in made}
    return nx.relabel_nodes(made, names)


def ranks(net):
    """PageRank by a dense matrix, with the benchmark's number of iterations."""
    nodes = sorted(net)
    n = len(nodes)
    step = nx.to_numpy_array(net, nodes, weight=None)
    out = step.sum(1)
    found = np.full(n, 1 / n)
    for _ in range(ITERATIONS):
        held = found[out == 0].sum()
        moved = step.T @ np.where(out > 0, found / np.maximum(out, 1), 0)
        found = (1 - DAMPING) / n + DAMPING * (moved + held / n)
    return dict(zip(nodes, found.tolist(), strict=True))


def clustering(net, v):
    """The share of ordered pairs of neighbours, in either direction, that are edges."""
    near = {*nx.all_neighbors(net, v)}
    pairs = len(near) * (len(near) - 1)
    return sum(net.has_edge(u, w) for u in near for w in near) / pairs if pairs else 0.0


def labels(net):
    """Label propagation, on numbers in the order of the identifiers."""
    nodes = sorted(net)
    numbered = nx.relabel_nodes(net, {v: k for k, v in enumerate(nodes)})
    found = definitions.propagated(numbered, ITERATIONS).tolist()
    return {nodes[v]: nodes[label] for v, label in zip(numbered, found, strict=True)}


def references(net, source):
    """The benchmark's outputs by networkx and by definition."""
    depth = nx.single_source_shortest_path_length(net, source)
    both = nx.Graph(net)
    length = nx.single_source_dijkstra_path_length(net, source)
    return {
        "bfs": {v: depth.get(v, UNREACHED) for v in net},
        "sssp": {v: length.get(v, math.inf) for v in net},
        "pr": ranks(net),
        "wcc": {v: k for k, part in enumerate(nx.connected_components(both)) for v in part},
        "lcc": {v: clustering(net, v) for v in net},
        "cdlp": labels(net),
    }


def write(folder, net, source, changes=""):
    """The files of a graph, with its references."""
    (folder / "some.v").write_text("".join(f"{v}\n" for v in sorted(net)))
    ends = sorted(tuple(e) if net.is_directed() else tuple(sorted(e)) for e in net.edges)
    lines = [f"{u} {v} 9 {net[u][v]['weight']}\n" for u, v in ends]
    (folder / "some.e").write_text("".join(lines))
    properties = f"""# a graph
graph.some.directed = {str(net.is_directed()).lower()}
graph.some.edge-properties.names = age, weight
graph.some.bfs.source-vertex = {source}
graph.some.sssp.source-vertex = {source}
graph.some.sssp.weight-property = weight
graph.some.pr.damping-factor = {DAMPING}
graph.some.pr.num-iterations = {ITERATIONS}
graph.some.cdlp.max-iterations = {ITERATIONS}
{changes}"""
    (folder / "some.properties").write_text(properties)
    for name, values in references(net, source).items():
        text = "".join(f"{v} {x}\n" for v, x in values.items())  # in no order
        (folder / f"some-{name.upper()}").write_text(text)


def offered(directed):
    """Algorithms for such graphs."""
    return [
        name
        for name, one in ALGORITHMS.items()
        if not directed or KERNELS[one.kernel].both_ways or not KERNELS[one.kernel].undirected
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("directed", [False, True])
def test_outputs_are_those_of_networkx(graphalytics, tmp_path, directed):
    net = network(directed)
    write(tmp_path, net, HUGE)
    (tmp_path / "out").mkdir()
    names = offered(directed)
    asked = (".", "--graph", "some", "--algorithms", ",".join(names))
    found = graphalytics(*asked, "--output", "out", "--validate", "--json")
    assert found.returncode == 0, found.stderr + found.stdout
    figures = json.loads(found.stdout)
    assert (figures["n"], figures["m"], figures["directed"]) == (29, 61, directed)
    assert list(figures["algorithms"]) == names
    for name, one in figures["algorithms"].items():
        assert one["matches"], name
        assert len(one["makespans"]) == len(one["processing"]) == 3
        assert 0 < one["processing_seconds"] < one["makespan_seconds"]
        assert one["eps"] == pytest.approx(61 / one["processing_seconds"])
        assert one["evps"] == pytest.approx(90 / one["processing_seconds"])
        lines = (tmp_path / f"out/some-{name.upper()}").read_text().splitlines()
        number = int if ALGORITHMS[name].rule == "equal" else float
        written = {int(v): number(x) for v, x in map(str.split, lines)}
        assert list(written) == sorted(net)
        right = references(net, HUGE)[name]
        if ALGORITHMS[name].rule != "parts":
            assert written == (right if number is int else pytest.approx(right, rel=1e-12))
    ds = dgsuite.open(tmp_path / figures["output"])
    of_sssp = figures["algorithms"]["sssp"]["processing"]
    assert ds.processing.sel(algorithm="sssp").values.tolist() == of_sssp


def test_a_value_that_differs_ends_it_with_status_1(graphalytics, tmp_path):
    net = network(False)
    write(tmp_path, net, 5)
    wrong = references(net, 5)["bfs"]
    wrong[5] += 1
    (tmp_path / "some-BFS").write_text("".join(f"{v} {x}\n" for v, x in wrong.items()))
    found = graphalytics(".", "--graph", "some", "--algorithms", "bfs,sssp", "--repetitions", 1)
    assert found.returncode == 1
    assert "error: some: bfs differ from their references" in found.stderr
    title, _, bfs, sssp, _ = found.stdout.splitlines()
    assert title.startswith("some: 29 vertices, 61 edges, undirected; scale 1.9, size -; ")
    assert bfs.endswith("1 differ")
    assert sssp.endswith("matches")


DIRECTIONS = [("1 2\n2 3\n", False, 2), ("3 2\n", True, 1), ("", False, 0)]


@pytest.mark.parametrize(("lines", "directed", "edges"), DIRECTIONS)
def test_without_properties_the_edges_tell_the_direction(tmp_path, client, lines, directed, edges):
    """Parameters are then those of the benchmark's examples, unless options give them."""
    (tmp_path / "g.v").write_text("3\n1\n2\n" if edges == 2 else "1\n2\n3\n")
    (tmp_path / "g.e").write_text(lines)
    options = Options(folder=str(tmp_path), graph="g", damping=0.5)
    found = setting.read(options)
    for own in (None, client):
        graph = files.read(found, own)
        assert (graph.n, graph.m, graph.directed) == (3, edges, directed)
        assert list(graph.labels) == [1, 2, 3]
    assert setting.parameters("bfs", found, options, 1) == {"root": 1}
    assert setting.parameters("pr", found, options, 1) == {"damping": 0.5, "iterations": 2}
    forced = setting.read(Options(folder=str(tmp_path), graph="g", directed=True))
    assert files.read(forced, None).directed


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the benchmark's examples are not there")
@pytest.mark.parametrize("name", ["example-directed", "example-undirected"])
def test_the_examples_of_the_benchmark(graphalytics, name):
    names = offered(name == "example-directed")
    arguments = (EXAMPLES, "--graph", name, "--algorithms", ",".join(names), "--repetitions", 1)
    found = graphalytics(*arguments, "--json")
    assert found.returncode == 0, found.stdout + found.stderr
    assert all(one["matches"] for one in json.loads(found.stdout)["algorithms"].values())


def test_rules_of_comparison():
    inf = np.inf
    found = np.array([1.0, 1.0001, 1.00011, 0.0, 1e-300, inf, inf, 5.0, np.nan])
    right = np.array([1.0, 1.0, 1.0, 0.0, 0.0, inf, 5.0, inf, 1.0])
    assert run.far(found, right).tolist() == [False] * 2 + [True, False, True, False] + [True] * 3
    parts = np.array([7, 7, 2, 2, 9])
    assert not run.other_parts(parts, np.array([1, 1, 8, 8, 3])).any()
    assert run.other_parts(parts, np.array([1, 1, 8, 8, 8])).tolist() == [False] * 4 + [True]
    assert run.other_parts(parts, np.array([1, 1, 8, 3, 5])).tolist() == [0, 0, 0, 1, 0]


def test_sizes():
    assert options.size(2_396_657, 64_155_735) == (7.8, "S")
    assert options.size(9, 12) == (1.3, "-")
    shirts = {6.5: "2XS", 7.0: "XS", 8.4: "M", 8.5: "L", 9.0: "XL", 10.5: "XL"}
    for scale, shirt in shirts.items():
        assert options.size(0, math.ceil(10**scale)) == (scale, shirt)


FILES = {
    "v": "1\n2\n4\n",
    "e": "1 2 0.5\n2 4 1\n",
    "properties": "graph.g.directed = false\ngraph.g.bfs.source-vertex = 1\n",
}


WRONG = [
    ("v", "1\n2\n-4\n", "g.v, line 3: '-4' is not a vertex"),
    ("v", f"1\n{2**64}\n", f"g.v, line 2: '{2**64}' is not a vertex"),
    ("v", "", "g.v: a graph needs at least one vertex"),
    ("v", "1\n2\n4\n2\n", "g.v: 1 vertices occur more than once"),
    ("v", None, "g.v: no such file"),
    ("e", "1 2 0.5\n2 3 1\n", "g.e: an edge names vertex 3, which is not in"),
    ("e", "1 2 0.5\n2 4\n", "g.e, line 2: '2 4' is not an edge"),
    ("e", "1 2 0.5\n2 x 1\n", "g.e, line 2: '2 x 1' is not an edge"),
    ("e", "1 2\n2 4\n", "g.e: has no weights, which sssp needs"),
    ("e", "1 2 -1\n", "has the negative weight -1.0"),
    ("properties", "graph.g.directed = maybe\n", "directed = 'maybe': must be true or false"),
    ("properties", "graph.g.directed\n", "line 1: 'graph.g.directed' is not KEY = VALUE"),
    ("properties", "graph.g.sssp.source-vertex = x\n", "= 'x': must be an integer"),
    ("properties", "graph.g.sssp.source-vertex = 3\n", "root 3 is not a node"),
    ("properties", "graph.g.sssp.weight-property = w\n", "must be one of edge-properties.n"),
    ("SSSP", "1 0\n2 0.5\n", "g-SSSP: has other vertices than the graph"),
    ("SSSP", "1 0\n2 0.5\n4 x\n", "g-SSSP, line 3: '4 x' is not a vertex and a number"),
    ("--algorithms", "bfs,dfs", "--algorithms dfs: unknown; one of bfs, "),
    ("--repetitions", "0", "--repetitions 0: must be at least 1"),
    ("--damping", "1.5", "--damping 1.5: must be at most 1"),
    ("--source", "-1", "--source -1: must be at least 0"),
    ("--iterations", "0", "--iterations 0: must be at least 1"),
    ("--output", "nowhere", "--output nowhere: there is no such folder"),
    ("--protocol", "tcp", "--protocol is for workers of our own"),
]


@pytest.mark.few(8)
@pytest.mark.parametrize(("ending", "text", "message"), WRONG)
def test_bad_files_and_options_are_one_line(graphalytics, tmp_path, ending, text, message):
    for name, right in FILES.items():
        (tmp_path / f"g.{name}").write_text(right)
    option = ending.startswith("-")
    if not option:
        path = tmp_path / ("g-SSSP" if ending == "SSSP" else f"g.{ending}")
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
    more = (ending, text) if option else ()
    found = graphalytics(".", "--graph", "g", "--algorithms", "sssp", *more)
    assert (found.returncode, found.stdout) == (2, "")
    (line,) = found.stderr.strip().splitlines()
    assert message in line


def test_algorithms_that_there_are_not(tmp_path):
    def chosen(names):
        (tmp_path / "g.properties").write_text(f"graph.g.algorithms = {names}\n")
        options = Options(folder=str(tmp_path), graph="g")
        return run.algorithms(setting.read(options), options)

    assert chosen("BFS, other, pr") == ["bfs", "pr"]
    with pytest.raises(InputError, match="algorithms = other: must have one of bfs, "):
        chosen("other")
