"""Odd arguments and weights: the backend of networkx answers as networkx does, or leaves the call to it."""

import inspect
import math
import random
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite.faces import nx_backend
from dgsuite.faces.nx_backend.offers import ANSWERS
from tests.support import nx_inputs
from tests.support.cases import in_turn
from tests.support.nx_inputs import graphs

known = nx_inputs.known
pytestmark = pytest.mark.filterwarnings("ignore")

EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]


class Roads(nx.Graph):
    """A class of a user's."""


def weighted(kind, weights=(3, 1, 2, 5, 4), **attributes):
    graph = kind(**attributes)
    for (u, v), weight in zip(EDGES, weights, strict=True):
        graph.add_edge(u, v, weight=weight)
    return graph


GRAPHS = {
    "null": nx.Graph,
    "null, directed": nx.DiGraph,
    "node": lambda: nx.empty_graph(1),
    "graph": lambda: weighted(nx.Graph, name="graph"),
    "directed": lambda: weighted(nx.DiGraph),
    "of a class": lambda: weighted(Roads),
    "multigraph": lambda: nx.MultiGraph([*EDGES, (0, 1)]),
    "parts and a loop": lambda: nx.Graph([*EDGES, (1, 1), (5, 6)]),
}

NODES = [0, "none", None, [0], {}, True, 0.0, np.int64(0), math.nan, (0, [1]), Fraction(1)]
NODES_OF = [[], [0, 0], [[0]], [[0], [1]], (0, [1]), {0: 1}, np.array([0, 1]), [None]]
SOME = [None, "none", 5, 0, *NODES_OF]
NUMBERS = [0, 1, -1, 0.5, math.nan, math.inf, "x", None, True, Fraction(1, 2), 1j, [], 2**70]
INFINITE = [math.inf, -math.inf, math.nan]
LIMITS = [0, 0.5, 1.5, 2.5, -1, True, "1", np.float64(1.5), 2**70, [], *INFINITE]
COUNTS = [0, 1, 100, -1, 1.5, 100.0, "3", True, None, math.inf, np.int64(100), 2**63 - 1, 2**70]
FLAGS = [True, False, 0, 2, "", "x", None, np.bool_(True)]
ATTRIBUTES = [None, "weight", "nothing", lambda *_: 1, 5, ["weight"], "", True]
DEGREES = ["out", "in", "in+out", "", None, 1, [], True]
GIVEN = [None, {0: 1}, {}, []]
ODD = {
    **dict.fromkeys(("source", "target", "n", "u", "root"), NODES),
    **dict.fromkeys(("nodes", "nbunch", "v", "sources", "center_nodes"), SOME),
    **dict.fromkeys(("weight", "distance"), ATTRIBUTES),
    **dict.fromkeys(("alpha", "beta", "tol"), NUMBERS),
    **dict.fromkeys(("normalized", "endpoints", "wf_improved", "count_zeros", "keys", "data"), FLAGS),
    **dict.fromkeys(("heuristic", "ignore_nan", "interchange", "usebounds"), FLAGS),
    **dict.fromkeys(("nstart", "dangling", "e", "sp"), GIVEN),
    "ebunch": [None, [], [(0, 3), (3, 0), (0, 3)], ((0, 1), [1, 2]), [(0, "none")], [(2, 2)], [(0, [1])],
               [0, 1], [(0, 1, 2)], "ab", 5, np.array([[0, 1]]), [(0.0, True)], iter([(0, 3)])],
    "cutoff": LIMITS,
    "max_iter": COUNTS,
    "k": [0, 2, 5, 6, -1, 1.5, 5.0, True, "2", np.int64(2)],
    "seed": [3, "x", 1.5, random.Random(3), np.random.RandomState(1), np.random.default_rng(1)],
    "personalization": [{}, {0: -1, 1: 1}, {0: math.nan}, {"none": 1}, {0: "1"}, {0: 1e308, 1: 1e308}],
    "strategy": ["largest_first", "bogus", None, []],
    **dict.fromkeys(("x", "y"), DEGREES),
    "Q": [1, "x", None],
    "algorithm": ["kruskal", "prim", "bogus", None, []],
    "method": ["unweighted", "dijkstra", "power_iteration", "svd", "bogus", []],
    "n_samples": [1, 0, "x", None],
}  # fmt: skip
"""Arguments, by the names of parameters."""

HOPS = [0, 1, -1, 1.0, 1.5, "1", None, True, math.inf, math.nan, []]

NEEDED = {"source": 0, "target": 3, "n": 0, "distance": 1, "center_nodes": [0, 3]}
"""Where a function has no default."""

WEIGHTS = {
    "above 2^53": [2**53 + 1, 2**53, 2**53 + 2, 2**53 + 1, 2**53],
    "above 2^53 and floats": [2**53 + 1, 2.0**53, 1, 2, 3],
    "sums above 2^53 and floats": [2**52, 2**52, 2**53 - 1, 1, 0.5],
    "least int64": [-(2**63), 2**63 - 1, 0, 1, -1],
    "above 2^63": [2**63, 2**64, 2**70, 1, 2],
    "subnormal": [5e-324, 5e-324, 1e-320, 5e-324, 1e-300],
    "1e200": [1e200, 2e200, 3e200, 1e200, 1e200],
    "1e-200": [1e-200, 2e-200, 3e-200, 1e-200, 1e-200],
    "1e308": [1e308] * 5,
    "zeros": [0] * 5,
    "infinite": [math.inf, 1, 2, 3, 4],
    "nan": [math.nan, 1, 2, 3, 4],
    "complex": [1j, 1, 2, 3, 4],
    "negative": [-0.5, 2, 3, 4, 5],
    "text and none": ["text", None, 1, 2, 3],
    "fractions": [Fraction(1, 3), Fraction(1, 2), 1, 2, 3],
    "np.float32": np.array([0.5, 0.25, 1.5, 2.0, 1.0], np.float32),
    "np.int32": np.array([3, 1, 2, 5, 4], np.int32),
    "np.uint8": np.array([3, 1, 2, 5, 4], np.uint8),
    "np.bool_": np.array([1, 1, 1, 1, 1], np.bool_),
    "of NumPy": [np.uint64(2**64 - 1), np.float32(0.1), np.int8(2), np.bool_(True), 2],
}

ALONE = {"hits", "leiden_communities"}
"""Functions that are tested apart: networkx's are rounded otherwise, or there are none."""

ANY = {"greedy_color", "maximal_independent_set", "maximal_matching", "voronoi_cells"}
"""Functions whose results may be others than networkx's; `test_nx_results` says which are right."""

UNORDERED = {
    *("articulation_points", "biconnected_components", "bridges", "center"),
    "single_target_shortest_path_length",  # pairs, before networkx 3.5
    "strongly_connected_components",
}
"""Functions whose results come in another order than networkx's."""


def outcome(function, graph, arguments, **backend):
    """The result of a call, or the type of its error, whatever that is."""
    try:
        found = function(graph, **deepcopy(arguments), **backend)  # generators have a state
        return list(found) if isinstance(found, Iterator) else found
    except Exception as error:
        return type(error)


SETS = {
    *("all_pairs_shortest_path_length", "color", "greedy_color", "harmonic_centrality"),
    *("multi_source_dijkstra_path_length", "square_clustering", "voronoi_cells"),
}
"""Functions whose keys may come in another order than networkx's, with those that begin with ``single_``."""

ROUNDED = {
    *("adamic_adar_index", "betweenness_centrality", "edge_betweenness_centrality"),
    *("eigenvector_centrality", "harmonic_centrality", "jaccard_coefficient", "katz_centrality"),
    *("pagerank", "resource_allocation_index"),
}
"""Functions whose results are floats that are added up in another order than networkx's."""


def same(found, wanted, close):
    if isinstance(wanted, np.generic):
        wanted = wanted.item()
        found = found.item() if isinstance(found, np.generic) else found
    if isinstance(wanted, int | float) and type(found) is not type(wanted):
        return False
    if isinstance(found, type) or isinstance(wanted, type):
        return found is wanted
    if isinstance(wanted, nx.Graph):
        return type(found) is type(wanted) and nx.utils.graphs_equal(found, wanted)
    if isinstance(wanted, tuple | list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(same(*pair, close) for pair in pairs)
    if isinstance(wanted, dict):
        ordered = found.keys() if isinstance(found, Unordered) else list(found)
        keys = wanted.keys() if isinstance(found, Unordered) else list(wanted)
        return ordered == keys and all(same(found[k], wanted[k], close) for k in wanted)
    if isinstance(wanted, float) and close is not None:
        return found == pytest.approx(wanted, abs=close, nan_ok=True)
    return found == wanted or (found != found and wanted != wanted)


def arguments_of(name):
    """Sets of arguments of a function; in each one is odd."""
    parameters = getattr(nx_backend, name).theirs.parameters
    needed = {n: v for n, v in NEEDED.items() if n in parameters}
    needed = {n: v for n, v in needed.items() if parameters[n].default is inspect._empty}
    if name == "greedy_color":
        needed["strategy"] = "random_sequential"
    yield needed
    sample = {"k": 2, "seed": 3} if "k" in parameters else {}
    for parameter in [p for p in parameters if p not in {"G", "how"}]:
        hops = (name, parameter) == ("descendants_at_distance", "distance")
        for value in HOPS if hops else ODD[parameter]:
            yield {**needed, **(sample if parameter in sample else {}), parameter: value}
            if parameter == "cutoff" and "weight" in parameters:
                yield {**needed, "cutoff": value, "weight": None}


def differences(name, graphs, sets, close=1e-9):
    """Calls whose outcome is not networkx's."""
    function = getattr(nx, name, None) or getattr(nx.bipartite, name)
    for label, make in graphs.items():
        for arguments in sets:
            found = outcome(function, make(), arguments, backend="dgsuite")
            if found is NotImplementedError:  # left to networkx
                continue
            wanted = outcome(function, make(), arguments)
            if wanted is ValueError and isinstance(arguments.get("target"), np.integer):
                continue  # networkx compares it with a node that is a tuple, as arrays
            free = name in ANY and not isinstance(found, type) and not isinstance(wanted, type)
            paths = name.endswith(("_path", "single_source_dijkstra"))
            if paths and isinstance(found, dict | tuple):  # of several shortest paths any may come
                found, wanted = map(without_paths, (found, wanted))
            if name in SETS or name.startswith("single_"):
                found = unordered(found)
            if name in UNORDERED and isinstance(found, list) and isinstance(wanted, list):
                found, wanted = (sorted(map(ends_of, each), key=repr) for each in (found, wanted))
            if not free and not same(found, wanted, close):
                yield label, arguments, found, wanted


class Unordered(dict):
    """A dictionary whose keys may come in any order."""


def unordered(found):
    """A result whose dictionaries may have any order."""
    if isinstance(found, dict):
        return Unordered(found)
    return type(found)(map(unordered, found)) if type(found) in (list, tuple) else found


def ends_of(each):
    """A set, or an edge, with its nodes in one order."""
    return sorted(each, key=repr) if isinstance(each, set | tuple) else each


def without_paths(found):
    """The lengths that are there, or whose paths."""
    if isinstance(found, tuple):
        return found[0]
    return set(found) if isinstance(found, dict) else found


NAMES = sorted(ANSWERS.keys() - ALONE)


OTHERS = in_turn(NAMES, [label for label in GRAPHS if label != "graph"])


@pytest.mark.parametrize(("name", "graph"), [*((name, "graph") for name in NAMES), *OTHERS])
def test_odd_arguments_are_answered_as_by_networkx(name, graph):
    """On a graph, and on odd ones."""
    assert list(differences(name, {graph: GRAPHS[graph]}, list(arguments_of(name)))) == []


@pytest.mark.parametrize("name", NAMES)
def test_odd_graphs_are_taken_as_by_networkx(name):
    assert list(differences(name, GRAPHS, [next(arguments_of(name))])) == []


@pytest.mark.parametrize("name", NAMES)
@given(graph=graphs(), data=st.data())
def test_drawn_graphs_are_taken_as_by_networkx(name, graph, data):
    """To the last bit, but where sums are rounded; plain graphs are not left to it."""
    usual, *odd = arguments_of(name)
    ends = {0: nx_inputs.first(graph), 3: [*graph, "none"][max(len(graph) - 1, 0)]}
    usual = {k: ends.get(v, v) if isinstance(v, int) else v for k, v in usual.items()}
    usual |= {"center_nodes": [*ends.values()]} if "center_nodes" in usual else {}
    if any("ebunch" in each for each in odd):
        usual["ebunch"] = [*combinations(graph, 2)]
    sets = [usual, {**data.draw(st.sampled_from(odd or [{}])), **usual}]
    close = 1e-9 if name in ROUNDED else None
    assert list(differences(name, {"": lambda: graph}, sets, close)) == []
    function = getattr(nx, name, None) or getattr(nx.bipartite, name)
    weights = [weight for *_, weight in graph.edges(data="weight", default=1)]
    odd_graph = graph.is_multigraph() or graph.is_directed() or nx.number_of_selfloops(graph)
    if not odd_graph and all(weights):
        assert outcome(function, graph, usual, backend="dgsuite") is not NotImplementedError


def test_odd_arguments_of_hits():
    """Its tolerance says how exact results are, so large ones are not compared."""
    sets = list(arguments_of("hits"))
    small = [a for a in sets if not (isinstance(a.get("tol"), int | float) and a["tol"] > 1e-6)]
    assert list(differences("hits", GRAPHS, small, close=1e-5)) == []


WEIGHTY = [
    name
    for name in sorted(ANSWERS.keys() - {"leiden_communities"})
    if "weight" in inspect.signature(getattr(nx_backend, name)).parameters
]


@pytest.mark.parametrize("name", WEIGHTY)
def test_odd_weights_are_answered_as_by_networkx(name):
    first = next(arguments_of(name))
    for kind in (nx.Graph, nx.DiGraph):
        for label, weights in WEIGHTS.items():
            graphs = {label: partial(weighted, kind, weights)}
            close = 1e-5 if label == "np.float32" else 1e-9  # to which networkx rounds
            assert list(differences(name, graphs, [{**first, "weight": "weight"}], close)) == []


@pytest.mark.parametrize("name", WEIGHTY)
def test_weights_of_short_types_are_answered(name):
    """What is answered for Python's numbers is answered for those of NumPy."""
    function, first = getattr(nx, name), {**next(arguments_of(name)), "weight": "weight"}
    for label in ("np.float32", "np.int32", "np.uint8", "np.bool_"):
        plain = weighted(nx.Graph, WEIGHTS[label].tolist())
        if outcome(function, plain, first, backend="dgsuite") is not NotImplementedError:
            graph = weighted(nx.Graph, WEIGHTS[label])
            found = outcome(function, graph, first, backend="dgsuite")
            assert found is not NotImplementedError, label


def test_views_are_counted_as_they_are():
    graph = nx.path_graph(6)
    weakly, number = nx.number_weakly_connected_components, nx.number_connected_components
    views = [
        (number, graph.subgraph([0, 1, 2])),
        (number, graph.edge_subgraph([(0, 1), (1, 2)])),
        (number, nx.subgraph_view(graph, filter_node=lambda node: node < 3)),
        (weakly, graph.to_directed(as_view=True)),
    ]
    for parts in (1, 2):
        for count, view in views:
            assert count(view, backend="dgsuite") == count(view) == parts
        graph.remove_edges_from([(0, 1)])
    several = nx.MultiGraph(nx.path_graph(6))
    view = nx.subgraph_view(several, filter_edge=lambda u, v, key: {u, v} != {2, 3})
    assert number(view, backend="dgsuite") == number(view) == 2


def test_a_converted_graph_has_the_attributes_that_it_was_converted_with():
    """Those of edges that are changed by hand are either all seen, or none."""
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 1, "weight")
    nx.set_edge_attributes(graph, 1, "cost")
    converted = nx_backend.convert_from_nx(graph, preserve_edge_attrs=True)
    assert converted.weight("weight") is None
    graph[0][1]["weight"] = graph[0][1]["cost"] = 2
    assert converted.weight("weight") is None
    assert converted.weight("cost") is None


@pytest.mark.parametrize("root", [None, 0, 4])
def test_bridges_have_the_direction_of_networkx(root):
    graph = nx.Graph([(7, 3), (3, 1), (1, 0), (0, 3), (5, 4), (4, 2), (8, 9), (9, 8), (10, 11)])
    with nx.config.backend_priority(algos=["dgsuite"]), nx.config.backends.dgsuite(threshold=0):
        found = list(nx.bridges(graph, root))
    assert found == list(nx.bridges(graph, root, backend="networkx"))


@pytest.mark.parametrize("seed", [np.random.RandomState(1), np.random.default_rng(1), 1])
def test_independent_sets_take_any_generator(seed):
    graph = nx.path_graph(50)
    found = nx.maximal_independent_set(graph, seed=seed, backend="dgsuite")
    assert not graph.subgraph(found).edges
    assert set(found).union(*(graph[node] for node in found)) == set(graph)
