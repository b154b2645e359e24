"""Parameters that kernels refuse: the error says which, and what would be right."""

import numpy as np
import pandas as pd
import pytest

import dgsuite
from dgsuite.partition.graph.graph import Graph

EDGE = Graph.from_edges([0], [1], weights=[-1], uid=[0, -1])
APART = Graph.from_edges([0], [1], n=3)
THREE = Graph.from_edges([0, 1], [1, 2])
FAR = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 1e100])
NEAR = Graph.from_edges([0, 1], [1, 2], weights=[1.0, -1e-100])
TURN = Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2, -3, 1], directed=True)
ONE_WAY = Graph.from_edges([0], [1], weights=[1], directed=True)
PATH = Graph.from_edges([0, 1, 2], [1, 2, 3])
RING = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
LONG_RING = Graph.from_edges(np.arange(9), np.arange(1, 10) % 9)
COMPLETE = Graph.from_edges(*np.triu_indices(6, 1))
LIARS, COSINE = {"model": "byzantine"}, {"measure": "cosine"}


def each(name, values, said):
    """Rows of a parameter with several values, all of which are wrong for one reason."""
    return [({name: value}, said) for value in values]


NAN, INF = float("nan"), float("inf")
DELAYS = [
    ({"rounds": 0}, "rounds must be from 1 to"),
    ({"late": [[0, 1, 2]]}, r"late must have rows of .*, got int64 of shape \(1, 3\)"),
    ({"late": [[0, 1, 2], [0]]}, "rows of several lengths"),
    ({"late": [[0, 1, 2, 0.5]]}, "all whole numbers, got float64"),
    ({"late": [[0, 0, -1, 1], [2, 0, -1, 1]]}, r"got \[2, 0, -1, 1\]"),
    ({"late": [[0, 0, -1, -1]]}, r"from \[0, 0, -1, 0\] to"),
    ({"rounds": 2**40}, "so that 64 bits hold times"),
    ({"delay": -1}, "delay must be from 0"),
    ({"delay": "poisson"}, "delay must be"),
    ({"delay": "uniform", "low": 3, "high": 2}, "0 <= low <= high"),
    ({"delay": "uniform", "low": -1}, "0 <= low <= high"),
    *(({"delay": "geometric", "p": p}, "p must be a probability") for p in (0.0, 1.5, NAN)),
    ({"delay": "weight"}, "needs a graph with weights"),
]

REFUSED = {
    ("alpha", THREE): DELAYS,
    ("beta", THREE): DELAYS,
    ("floodmax", THREE): [({"iterations": -1}, "iterations must be at least 0, got -1")],
    **{
        (kernel, TURN): [
            ({"weighted": True, **form}, "weights must be above 0, got -3 from node 1 to node 2")
            for form in ({}, {"graph_form": "partitioned"})
        ]
        for kernel in ("bc", "edge_betweenness")
    },
    ("bc", THREE): [
        ({"sources": 4}, "sources must be from 1 to 3, the number of nodes, got 4"),
        ({"sources": 0}, "sources must be from 1 to 3"),
        ({"sources": [0, 3]}, "sources 3 is not a node"),
        ({"sources": [1, 1]}, "sources must be different nodes"),
        *each(
            "sources", [0.5, [0.5]], "sources must be a 64-bit integer or a sequence of nodes or No"
        ),
        ({"deal": "fair"}, "deal must be one of block, cyclic, got 'fair'"),
        ({"graph_form": "cut"}, "graph_form must be one of replicated, partitioned"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"source": [1]}, "did you mean 'sources'"),
    ],
    ("benor", RING): [({}, "node 0 has 2 neighbours: in a complete graph")],
    ("beta", APART): [({}, "not connected")],
    ("gossip", APART): [({}, "not connected")],
    ("cliques", THREE): [({"k": 2}, "k must be at least 3, got 2")],
    ("hyperball", THREE): each("log2m", (3, 17), "log2m must be from 4 to 16"),
    ("echo", EDGE): [
        ({"root": 2}, "root 2 is not a node"),
        ({"value": "weight"}, "value"),
        ({"value": "uid"}, "identifier -1 of node 1 is not 0 to 2\\^32 - 1"),
    ],
    ("phase_king", COMPLETE): [
        ({"f": 2}, "f must be from 0 to 1, as many of 6 nodes as may fail, got 2"),
        ({"inputs": [0, 1]}, "inputs must be 0 or 1 for each of 6 nodes"),
        ({"ones": -0.5}, "ones must be from 0 to 1, got -0.5"),
    ],
    ("leiden", THREE): [
        ({"resolution": 0.0}, "resolution must be above 0 and finite, got 0.0"),
        ({"objective": "size"}, "objective must be one of modularity, cpm, got 'size'"),
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
    ],
    ("leiden", EDGE): [({}, "weights must not be negative, got -1")],
    ("louvain", THREE): [({"resolution": 0.0}, "resolution must be above 0 and finite, got 0.0")],
    ("louvain", EDGE): [({}, "weights must not be negative, got -1")],
    ("token_ring", RING): [
        *each("k", (1, 2**40), "k must be from 2 to 2"),
        ({"probability": 0.0}, "probability must be above 0 and at most 1, got 0.0"),
        ({"probability": 1.5}, "probability must be above 0 and at most 1, got 1.5"),
        ({"after": -1}, "after must be from 0 on, got -1"),
        *each("begin", ([0, 1], [0, 1, 2, 5]), "a value from 0 to 4 for each of 4 nodes"),
        ({"begin": "somehow"}, "begin must be one of arbitrary, legitimate or a seq"),
        ({"daemon": "fair"}, "daemon must be one of synchronous, "),
    ],
    ("dijkstra_scholten", EDGE): [
        ({"work": 0}, "work must be at least 1, got 0"),
        ({"root": 2}, "root 2 is not a node"),
    ],
    ("cdlp", EDGE): [
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
        ({"weighted": True}, r"weights must not be negative, got -1"),
        ({"labels": [0]}, "labels must have one for each of 2 nodes, got 1"),
        ({"labels": [0, 2]}, "labels 2 is not a node: nodes are 0 to 1"),
        ({"labels": {2: 0}}, "labels 2 is not a node: nodes are 0 to 1"),
        ({"labels": {0: -1}}, "labels -1 is not a node: nodes are 0 to 1"),
        ({"labels": {0: "a"}}, "labels must be a mapping from nodes to nodes or a sequence"),
        ({"fixed": [2]}, "fixed 2 is not a node: nodes are 0 to 1"),
    ],
    ("fastrp", EDGE): [
        ({"dimensions": 0}, "dimensions must be from 1 to 65536, got 0"),
        ({"powers": ()}, "powers must be finite numbers, at least one, got \\(\\)"),
        ({"powers": (1.0, NAN)}, "powers must be finite numbers"),
        ({"beta": 2.0}, "beta must be from -1 to 1, got 2.0"),
        ({"sparsity": 0.5}, "sparsity must be at least 1, got 0.5"),
        ({}, "weights must not be negative, got -1"),
    ],
    ("random_walks", ONE_WAY): [({"q": 2.0}, "p and q must be 1 on a directed graph")],
    ("densest", EDGE): [({"epsilon": -0.5}, r"epsilon must be from 0 on and finite, got -0\.5")],
    ("random_walks", EDGE): [
        ({"length": 0}, "length must be from 1 to 16777216, got 0"),
        ({"p": 0.0}, "p must be from 0.01 to 100, got 0.0"),
        ({"q": INF}, "q must be from 0.01 to 100, got inf"),
        ({"walks": 0}, "walks must be at least 1, got 0"),
        ({"restart": 1.5}, "restart must be from 0 to 1, got 1.5"),
        ({"weighted": True}, "weights must not be negative, got -1"),
    ],
    ("stable_mis", PATH): [
        *each("faults", ({0: 0.5}, {3: 1.5}), "faults must map rounds, from 1 on, to shares"),
        ({"faults": "often"}, "faults must be a mapping or None"),
        ({"begin": {"colour": 0}}, "begin names 'colour'; variables are in_mis"),
        ({"begin": {"in_mis": 3}}, "'in_mis' must have a value from 0 to 2 for each of 4"),
        ({"begin": {"in_mis": [0, 1]}}, "'in_mis' must have a value from 0 to 2"),
    ],
    ("stable_bfs", PATH): [
        ({"begin": {"parent": [1, 3, 1, 2]}}, "'parent' of node 1 must be a neighbour"),
        ({"root": 9}, "root 9 is not a node"),
    ],
    ("stable_colouring", PATH): [({"coin": 0.0}, "coin must be above 0 and at most 1, got 0.0")],
    ("stable_matching", PATH): [
        ({"protocol": "luby"}, "protocol must be one of manne, hsu-huang"),
        ({"probability": 2.0}, "probability must be above 0 and at most 1"),
        ({"daemon": "fair"}, "daemon must be one of synchronous, distributed"),
        ({"after": -1}, "after must be from 0 on, got -1"),
    ],
    ("distance_vector", THREE): [
        ({"infinity": 0}, "infinity must be from 1 to 2147483647, got 0"),
        ({"timeout": 0}, "timeout must be at least 1, got 0"),
        ({"least": -1}, "least must be at least 0, got -1"),
        ({"root": 3}, "root 3 is not a node"),
        ({"split": "all"}, "split"),
    ],
    ("gossip", THREE): [({"root": 3}, "root 3 is not a node"), ({"mode": "flood"}, "mode")],
    ("snapshot", THREE): [
        ({"inputs": [1, 2]}, "inputs must have one for each of 3 nodes, got 2"),
        ({"inputs": -1}, "inputs must be from 0 to 2\\^31, got -1 to -1"),
        ({"inputs": [0, 1, 2**32]}, "inputs must be from 0 to 2\\^31, got 0 to 4294967296"),
        ({"after": -1}, "after must be at least 0, got -1"),
        ({"root": 3}, "root 3 is not a node"),
    ],
    ("push_sum", THREE): [
        ({"tolerance": -0.1}, "tolerance must be at least 0, got -0.1"),
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
        ({"inputs": [1.0, 2.0]}, "inputs must have one for each of 3 nodes, got 2"),
        ({"inputs": [1.0, 2.0, 1e300]}, "inputs must be from -2\\^900 to 2\\^900, got 1e\\+300"),
    ],
    ("floodset", THREE): [
        ({"f": -1}, "f must be at least 0, got -1"),
        ({"inputs": 0}, "inputs must be from 1 to 64, got 0"),
        ({"inputs": 65}, "inputs must be from 1 to 64, got 65"),
        ({"inputs": [0, 1]}, "inputs must have one for each of 3 nodes, got 2"),
        ({"inputs": [0, 1, 64]}, "inputs must be from 0 to 63, got 64 for node 2"),
        ({"default": 64}, "default must be from 0 to 63, got 64"),
        ({"early": True}, "early needs a complete graph, and node 0 has 1 neighbours instead of 2"),
        ({"early": True, "opt": True}, "early counts messages, and opt leaves some out"),
    ],
    ("benor", COMPLETE): [
        ({"f": 3}, "f must be from 0 to 2, as many of 6 nodes as may fail, got 3"),
        ({"f": -1}, "f must be from 0 to 2"),
        ({**LIARS, "f": 2}, "f must be from 0 to 1, as many of 6 nodes as may fail, got 2"),
        *each("inputs", ([0, 1], [0, 1, 2, 0, 0, 0]), "inputs must be 0 or 1 for each of 6 nodes"),
        ({"ones": 1.5}, "ones must be from 0 to 1, got 1.5"),
        ({"model": "omission"}, "model must be one of crash, byzantine"),
    ],
    ("similarity", THREE): [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"k": 2, "pairs": [(0, 1)]}, "k finds pairs, and pairs names them"),
        ({"measure": "sine"}, "measure must be one of jaccard, overlap"),
        ({"measure": "adamic_adar", "weighted": True}, "adamic_adar has no usual form with wei"),
        ({"pairs": [(0, 9)]}, "pairs 9 is not a node|no node|pairs"),
        ({"pairs": [0, 1]}, "pairs must be a dataframe with columns 'source' and 'target'"),
        ({"pairs": np.zeros((2, 3), int)}, r"pairs must have shape \(p, 2\), got \(2, 3\)"),
        ({"pairs": [(0.5, 1)]}, "pairs must be node ids"),
        ({"pairs": pd.DataFrame({"a": [0], "b": [1]})}, "no column 'source'"),
    ],
    ("similarity", EDGE): [
        ({"measure": "jaccard"}, "jaccard takes no negative weights, got -1"),
        ({"measure": "overlap"}, "overlap takes no negative weights"),
    ],
    ("similarity", FAR): [
        (COSINE, r"weights must be 0 or from 2\^-200 to 2\^200 in size, got 1e\+100")
    ],
    ("similarity", NEAR): [(COSINE, "weights must be 0 or from")],
    ("wcc", THREE): [
        ({"thresholds": [0.9]}, "the graph has none; give some, or name their column"),
        ({"single": [0, 1, 2]}, "the graph has none"),
    ],
    ("wcc", FAR): [
        ({"thresholds": []}, "thresholds must be finite numbers, at least one"),
        *each("thresholds", ([0.9, NAN], [INF], ["high"], [[0.9, 0.8]]), "must be finite numbers"),
        ({"thresholds": [True]}, "must be finite numbers"),
        ({"thresholds": [0.9, 0.8, 0.9]}, "0.9 is there more than once"),
        ({"thresholds": [1, 1.0]}, "1.0 is there more than once"),
        *each("thresholds", (0.9, "0.9"), "thresholds must be a sequence"),
        ({"single": ["a", "b"]}, r"single must have a source for each of 3 .* got shape \(2,\)"),
        ({"single": ["a", None, "b"]}, "single: 1 of 3 rows have no value"),
        ({"single": "file"}, "single must be a sequence"),
    ],
    ("wcc", ONE_WAY): [({"single": [0, 1]}, "undirected graph")],
    ("pagerank", EDGE): [({"weighted": True}, "weights must not be negative, got -1")],
    ("pagerank", THREE): [
        ({"damping": 1.5}, "damping must be from 0 to 1, got 1.5"),
        ({"damping": NAN}, "damping must be from 0 to 1"),
        ({"tolerance": 0}, "tolerance must be above 0"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"sinks": "kept"}, "sinks must be one of spread, lost"),
        *each("personalisation", ({}, {1: 0}), "prefer a node"),
        ({"personalisation": {9: 1}}, "node 9 is not a node"),
        ({"personalisation": {1: -1}}, "none of them negative"),
        ({"personalisation": {1: "x"}}, "a mapping from nodes to numbers"),
        ({"personalisation": [1, 2]}, "a number for each of 3 nodes, got 2"),
        ({"personalisation": [1, 2, np.inf]}, "finite numbers"),
        ({"personalisation": ["a", "b", "c"]}, "must be numbers"),
        ({"personalisation": 3}, "a mapping from nodes to numbers or a sequence"),
    ],
    ("all_pairs", LONG_RING): [
        ({"sources": []}, "sources must be at least one node"),
        ({"sources": 10}, "sources must be from 1 to 9"),
    ],
    ("bfs_many", LONG_RING): [
        ({"sources": []}, "sources must be at least one node"),
        *each("sources", (0, 10), "sources must be from 1 to 9"),
        ({"sources": [0, 9]}, "sources 9 is not a node"),
        ({"sources": [2, 2]}, "sources must be different nodes"),
        ({"sources": 1.5}, "sources must be"),
    ],
    ("closeness", LONG_RING): [
        ({"samples": 0}, "samples must be from 1 to 9"),
        ({"samples": [1, 2]}, "samples must be"),
        ({"wf_improved": 2}, "wf_improved must be True or False"),
    ],
    ("harmonic", LONG_RING): [({"samples": 10}, "samples must be from 1 to 9")],
}
"""By kernel and graph: parameters, and what the error says of them."""


@pytest.mark.parametrize(
    ("kernel", "graph", "how", "said"),
    [(*where, *row) for where, rows in REFUSED.items() for row in rows],
)
def test_parameters_that_are_wrong_are_named(kernel, graph, how, said):
    with pytest.raises(dgsuite.InputError, match=said):
        dgsuite.run(kernel, graph, style="serial", **how)
    if kernel == "similarity" and said.startswith("weights"):
        dgsuite.run(kernel, graph, style="serial", **how, weighted=False)
