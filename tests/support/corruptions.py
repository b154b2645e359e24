"""Wrong results of every kernel: by kernel and kind, changes of a right one that its rule must see."""

from __future__ import annotations

import networkx as nx
import numpy as np

from tests.support.definitions import predecessors, propagated
from tests.support.references import N, last, network


def at(values, node, value):
    changed = np.array(values)
    changed[node] = value
    return changed


def swapped(values, a, b):
    changed = np.array(values)
    changed[[a, b]] = changed[[b, a]]
    return changed


def sets(name):
    return {
        "empty": {name: lambda v: v & False},
        "everyone": {name: lambda v: v | True},
        "flipped": {name: lambda v: ~v},
        "one more": {name: lambda v: at(v, np.flatnonzero(~v)[0], True)},
        "last one more": {name: lambda v: at(v, np.flatnonzero(~v)[-1], True)},
        "one less": {name: lambda v: at(v, np.flatnonzero(v)[0], False)},
        "last one less": {name: lambda v: at(v, np.flatnonzero(v)[-1], False)},
        "every fourth": {name: lambda v: np.arange(len(v)) % 4 == 0},
        "not a flag": {name: lambda v: v * 2},
        "negative": {name: lambda v: -1 * v},
        "one moved": {name: lambda v: swapped(v, np.flatnonzero(v)[0], np.flatnonzero(~v)[0])},
        "backwards": {name: lambda v: v[::-1]},
    }


def counts(name):
    return {
        "none": {name: lambda v: v * 0},
        "doubled": {name: lambda v: v * 2},
        "one more": {name: lambda v: at(v, 5, v[5] + 1)},
        "three more": {name: lambda v: at(v, 5, v[5] + 3)},
        "one less": {name: lambda v: at(v, np.argmax(v), v.max() - 1)},
        "last one more": {name: lambda v: at(v, -1, v[-1] + 1)},
        "first one less": {name: lambda v: at(v, 0, v[0] - 1)},
        "negative": {name: lambda v: at(v, 5, -1)},
        "all one": {name: lambda v: v * 0 + 1},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "moved": {name: lambda v: swapped(v, np.argmin(v), np.argmax(v))},
    }


OVER = ("source", "target", "betweenness")
"""Columns of the table of edges."""


def nearness(name):
    return {
        "all zero": {name: lambda v: v * 0},
        "all one": {name: lambda v: v * 0 + 1},
        "a little more": {name: lambda v: at(v, 5, v[5] * (1 + 1e-8))},
        "a little less": {name: lambda v: at(v, -1, v[-1] * (1 - 1e-8))},
        "negative": {name: lambda v: at(v, 5, -v[5])},
        "no number": {name: lambda v: at(v, 5, np.nan)},
        "infinite": {name: lambda v: at(v, 5, np.inf)},
        "one zero": {name: lambda v: at(v, 0, 0)},
        "doubled": {name: lambda v: v * 2},
        "normalised": {name: lambda v: v / v.sum()},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "rounded": {name: lambda v: v.astype(np.float32)},
    }


def reals(name):
    """Of values that are fixed to many digits."""
    return {
        "uniform": {name: lambda v: v * 0 + 1 / len(v)},
        "nothing": {name: lambda v: v * 0},
        "a little more": {name: lambda v: at(v, 5, v[5] + 1e-6)},
        "a little less": {name: lambda v: at(v, -1, v[-1] - 1e-6)},
        "negative": {name: lambda v: at(v, 5, -v[5])},
        "no number": {name: lambda v: at(v, 5, np.nan)},
        "infinite": {name: lambda v: at(v, 5, np.inf)},
        "shifted": {name: lambda v: np.roll(v, 1)},
        "backwards": {name: lambda v: v[::-1]},
        "two swapped": {name: lambda v: swapped(v, np.argmin(v), np.argmax(v))},
        "of three digits": {name: lambda v: v.round(3)},
    }


LEADERS = {
    "second best": {"leader": lambda v: v * 0 + v.max() - 1},
    "smallest": {"leader": lambda v: v * 0 + 1},
    "no such node": {"leader": lambda v: v * 0 + v.max() + 1},
    "everyone itself": {"leader": lambda v: np.arange(len(v)) + 1},
    "one disagrees": {"leader": lambda v: at(v, 7, v[7] - 1)},
    "last disagrees": {"leader": lambda v: at(v, -1, v[7] - 1)},
    "first disagrees": {"leader": lambda v: at(v, 0, v[0] - 1)},
    "none": {"leader": lambda v: v * 0},
    "negative": {"leader": lambda v: -v},
    "half": {"leader": lambda v: np.where(np.arange(len(v)) < 20, v, v - 1)},
    "one larger": {"leader": lambda v: at(v, 3, v[3] + 5)},
}


DISTANCES = {
    "all zero": {"distance": lambda v: v * 0},
    "one farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
    "one nearer": {"distance": lambda v: at(v, 5, v[5] - 1)},
    "one unreached": {"distance": lambda v: at(v, 5, -1)},
    "all unreached": {"distance": lambda v: v * 0 - 1},
    "doubled": {"distance": lambda v: v * 2},
    "negative": {"distance": lambda v: at(v, 5, -3)},
    "shifted": {"distance": lambda v: np.roll(v, 1)},
    "all farther": {"distance": lambda v: v + 1},
    "root not at root": {"distance": lambda v: at(v, 0, 1)},
    "farthest farther": {"distance": lambda v: at(v, np.argmax(v), v.max() + 1)},
}


TICKS = {
    "none": {"time": lambda v: v * 0},
    "one earlier": {"time": lambda v: at(v, 5, v[5] - 1)},
    "one later": {"time": lambda v: at(v, 5, v[5] + 1)},
    "first later": {"time": lambda v: at(v, 0, v[0] + 1)},
    "last earlier": {"time": lambda v: at(v, -1, v[-1] - 1)},
    "all later": {"time": lambda v: v + 1},
    "all at once": {"time": lambda v: v * 0 + v.max()},
    "shifted": {"time": lambda v: np.roll(v, 1)},
    "backwards": {"time": lambda v: v[::-1]},
    "negative": {"time": lambda v: at(v, 5, -1)},
    "a pulse later": {"pulse_time": lambda v: at(v, 1, v[1] + 1)},
    "a pulse earlier": {"pulse_time": lambda v: at(v, -1, v[-1] - 1)},
    "a pulse less": {"rounds": lambda v: v - 1, "pulse_time": lambda v: v[:-1]},
    "another law": {"delay": lambda v: "geometric"},
}


COMPONENTS = {
    "own ids": {"component": lambda v: np.arange(len(v))},
    "all one": {"component": lambda v: v * 0},
    "two joined": {"component": lambda v: np.where(v == np.unique(v)[1], 0, v)},
    "last two joined": {"component": lambda v: np.where(v == v.max(), np.unique(v)[-2], v)},
    "one apart": {"component": lambda v: at(v, 39, 39)},
    "one elsewhere": {"component": lambda v: at(v, 39, np.unique(v)[int(v[39] == 0)])},
    "smallest elsewhere": {"component": lambda v: at(v, 0, 1)},
    "another's name": {"component": lambda v: np.where(v == 0, np.flatnonzero(v == 0)[1], v)},
    "numbered anew": {"component": lambda v: np.unique(v, return_inverse=True)[1][::-1]},
    "shifted": {"component": lambda v: np.roll(v, 1)},
    "no such node": {"component": lambda v: at(v, 5, 400)},
    "negative": {"component": lambda v: at(v, 5, -1)},
    "one more": {"component": lambda v: v + 1},
}


COMMUNITIES = {
    "all alone": {"community": lambda v: np.arange(len(v))},
    "one alone": {"community": lambda v: at(v, last(v), last(v))},
    "named by the largest": {"community": lambda v: len(v) - 1 - v[::-1]},
    "negative": {"community": lambda v: at(v, 5, -1)},
    "no such node": {"community": lambda v: at(v, 5, 400)},
    "one higher": {"community": lambda v: v + 1},
    "shifted": {"community": lambda v: np.roll(v, 1)},
    "backwards": {"community": lambda v: v[::-1]},
    "numbered anew": {"community": lambda v: np.unique(v, return_inverse=True)[1]},
    "names swapped": {
        "community": lambda v: np.where(v == 0, v.max(), np.where(v == v.max(), 0, v))
    },
    "of higher resolution": {"resolution": lambda v: 0.01},
    "halves": {"community": lambda v: np.where(np.arange(len(v)) % 2, np.maximum(v, 1), v)},
}

SHORTEST = {
    **{
        what: {"distance": lambda v, change=change["distance"]: change(v.copy())}
        for what, change in DISTANCES.items()
    },
    "infinite": {"distance": lambda v: at(v, 5, np.inf)},
    "no number": {"distance": lambda v: at(v, 5, np.nan)},
    "a little farther": {"distance": lambda v: at(v, 5, v[5] + 1e-9)},
    "no parents": {"parent": lambda v: v * 0 - 1},
    "own parent": {"parent": lambda v: at(v, 5, 5)},
    "orphan": {"parent": lambda v: at(v, 5, -1)},
    "all the root's": {"parent": lambda v: v * 0},
    "shifted parents": {"parent": lambda v: np.roll(v, 1)},
    "no such parent": {"parent": lambda v: at(v, 5, 400)},
}

PARENTS = {
    "no parents": {"parent": lambda v: v * 0 - 1},
    "own parent": {"parent": lambda v: at(v, 5, 5)},
    "orphan": {"parent": lambda v: at(v, 5, -1)},
    "root's parent": {"parent": lambda v: at(v, 0, 1)},
    "no such parent": {"parent": lambda v: at(v, 5, 400)},
    "all the root's": {"parent": lambda v: v * 0},
    "shifted parents": {"parent": lambda v: np.roll(v, 1)},
    "a child as parent": {"parent": lambda v: at(v, v[-1], len(v) - 1)},
}

AGREEMENT = {
    "one disagrees": {"decision": lambda v: at(v, 9, 0)},
    "last disagrees": {"decision": lambda v: at(v, -1, 0)},
    "half": {"decision": lambda v: np.arange(N) % 2},
    "one undecided": {"decision": lambda v: at(v, 9, -1)},
    "nobody decides": {"decision": lambda v: v * 0 - 1},
    "all two": {"decision": lambda v: v * 2},
    "nobody's input": {"input": lambda v: v * 0, "inputs": lambda v: [0] * N},
    "input of two": {"input": lambda v: at(v, 9, 2)},
    "other inputs": {"inputs": lambda v: v[::-1]},
    "live, and another decision": {
        "crashed": lambda v: at(v, 5, 3),
        "decision": lambda v: at(at(v, 5, 0), 6, 0),
    },
}


KINDS = {
    "wcc": COMPONENTS,
    "scc": COMPONENTS,
    "sssp": SHORTEST,
    "bellman_ford": SHORTEST,
    "bfs": {
        **{
            what: {"level": change["distance"]}
            for what, change in DISTANCES.items()
            if what != "all zero"
        },
        "all zero": {"level": lambda v: v * 0},
        **PARENTS,
    },
    "alpha": TICKS,
    "beta": {
        **TICKS,
        **PARENTS,
    },
    "all_pairs": {
        "all zero": {"level": lambda v: v * 0},
        "one farther": {"level": lambda v: at(v, (5, 1), v[5, 1] + 1)},
        "one nearer": {"level": lambda v: at(v, (-1, 2), v[-1, 2] - 1)},
        "one unreached": {"level": lambda v: at(v, (5, 0), -1)},
        "all unreached": {"level": lambda v: v * 0 - 1},
        "negative": {"level": lambda v: at(v, (5, 1), -3)},
        "doubled": {"level": lambda v: v * 2},
        "all farther": {"level": lambda v: v + 1},
        "shifted": {"level": lambda v: np.roll(v, 1, 0)},
        "columns swapped": {"level": lambda v: v[:, ::-1]},
        "one column for all": {"level": lambda v: np.repeat(v[:, :1], 3, 1)},
        "other sources": {"source": lambda v: v + 1},
    },
    "bfs_many": {
        "all zero": {"distance": lambda v: v * 0},
        "one farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
        "one nearer": {"distance": lambda v: at(v, -1, v[-1] - 1)},
        "doubled": {"distance": lambda v: v * 2},
        "shifted": {"distance": lambda v: np.roll(v, 1)},
        "negative": {"distance": lambda v: at(v, 5, -v[5])},
        "one less reached": {"reached": lambda v: at(v, 5, v[5] - 1)},
        "one more reached": {"reached": lambda v: at(v, 5, v[5] + 1)},
        "none reached": {"reached": lambda v: v * 0},
        "sources reach themselves": {"reached": lambda v: v * 0 + v.max()},
        "farthest farther": {"eccentricity": lambda v: at(v, 5, v[5] + 1)},
        "farthest nearer": {"eccentricity": lambda v: at(v, 5, v[5] - 1)},
        "all as far": {"eccentricity": lambda v: v * 0 + v.max()},
        "other sources": {"source": lambda v: np.roll(v, 1)},
        "a source less": {"source": lambda v: at(v, 3, False)},
        "all sources": {"source": lambda v: v | True},
    },
    "closeness": nearness("closeness"),
    "harmonic": nearness("harmonic"),
    "eccentricity": {
        **counts("eccentricity"),
        "no limit": {"limit": lambda v: v * 0 + 39},
        "one limit higher": {"limit": lambda v: at(v, 5, v[5] + 1)},
        "all farther": dict.fromkeys(("eccentricity", "limit"), lambda v: v + 1),
        "one farther": dict.fromkeys(("eccentricity", "limit"), lambda v: at(v, 5, v[5] + 1)),
        "all nearer": dict.fromkeys(("eccentricity", "limit"), lambda v: v - 1),
        "all as far": dict.fromkeys(("eccentricity", "limit"), lambda v: v * 0 + v.max()),
    },
    "hyperball": {
        "none reached": {"reached": lambda v: v * 0},
        "one more reached": {"reached": lambda v: at(v, 5, v[5] - 1)},
        "all reach themselves": {"reached": lambda v: v + 1},
        "negative": {"distance": lambda v: at(v, 5, -v[5])},
        "one farther": {"distance": lambda v: at(v, -1, v[-1] + 1)},
        "one hop away": {"distance": lambda v: v * 0 + 39, "closeness": lambda v: v * 0 + 1},
        "shifted": {"distance": lambda v: np.roll(v, 1)},
        "a little closer": {"closeness": lambda v: at(v, 5, v[5] * (1 + 1e-8))},
        "no number": {"closeness": lambda v: at(v, 5, np.nan)},
        "not improved": {"closeness": lambda v: 1 / v},
        "harmonic of one hop": {"harmonic": lambda v: v * 0 + 39},
        "harmonic as one hop more": {"harmonic": lambda v: at(v, 0, 40)},
        "harmonic infinite": {"harmonic": lambda v: at(v, 5, np.inf)},
        "harmonic nearly none": {"harmonic": lambda v: v / v.sum()},
        "half of all": {
            **dict.fromkeys(("reached", "distance"), lambda v: v // 2),
            "harmonic": lambda v: v / 2,
            "closeness": lambda v: 0 * v + 1,
        },
    },
    "cdlp": {
        "no such label": {"label": lambda v: at(v, 5, 400)},
        "negative": {"label": lambda v: at(v, 5, -1)},
        "own ids": {"label": lambda v: np.arange(len(v))},
        "all one": {"label": lambda v: v * 0},
        "one moved": {"label": lambda v: at(v, 5, v[5] + 1)},
        "first moved": {"label": lambda v: at(v, 0, v[0] + 1)},
        "last moved": {"label": lambda v: at(v, -1, v[-1] + 1)},
        "shifted": {"label": lambda v: np.roll(v, 1)},
        "backwards": {"label": lambda v: v[::-1]},
        "numbered anew": {"label": lambda v: np.unique(v, return_inverse=True)[1]},
        "a step less": {"label": lambda v: propagated(network("cdlp"), 2)},
        "a step more": {"label": lambda v: propagated(network("cdlp"), 4)},
        "one was fixed": {"label": lambda v: propagated(network("cdlp"), 3, fixed=[5])},
        "first labels": {"label": lambda v: propagated(network("cdlp"), 3, labels=v[::-1])},
    },
    "eigenvector": {
        **reals("centrality"),
        "doubled": {"centrality": lambda v: v * 2},
    },
    "hits": {
        **reals("hub"),
        **{
            f"{kind}, both": {**change, "authority": change["hub"]}
            for kind, change in reals("hub").items()
        },
        **{
            kind + " authority": {"authority": change["hub"]}
            for kind, change in reals("hub").items()
        },
    },
    "katz": {
        **reals("centrality"),
        "doubled": {"centrality": lambda v: v * 2},
        "of another alpha": {"alpha": lambda v: 0.11},
        "not scaled": {"normalised": lambda v: False},
    },
    "pagerank": {
        **reals("rank"),
        "doubled": {"rank": lambda v: v * 2},
        "all a little more": {"rank": lambda v: v * (1 + 1e-8)},
        "of other damping": {"damping": lambda v: 0.8},
        "after ten steps": {"iterations": lambda v: 10, "tolerance": lambda v: None},
        "for one node": {"personalisation": lambda v: np.arange(N) == 3},
    },
    "core_number": counts("core"),
    "colouring": {
        "one colour": {"colour": lambda v: v * 0},
        "negative": {"colour": lambda v: at(v, 5, -1)},
        "too large": {"colour": lambda v: at(v, 5, N)},
        "one higher": {"colour": lambda v: at(v, 5, v.max() + 1)},
        "from 1 on": {"colour": lambda v: v + 1},
        "a gap": {"colour": lambda v: v + (v == v.max())},
        "doubled": {"colour": lambda v: v * 2},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "first as the last": {"colour": lambda v: at(v, 0, v.max())},
        "ids": {"colour": lambda v: np.arange(len(v))},
        "two merged": {"colour": lambda v: np.maximum(v - 1, 0)},
    },
    "trial_colouring": {
        "one colour": {"colour": lambda v: v * 0},
        "none": {"colour": lambda v: at(v, 5, -1)},
        "none at all": {"colour": lambda v: v * 0 - 1},
        "too large": {"colour": lambda v: at(v, 5, N)},
        "one above its neighbours": {"colour": lambda v: at(v, 5, network("mis").degree[5] + 1)},
        "that of a neighbour": {"colour": lambda v: at(v, 5, v[min(network("mis")[5])])},
        "that of a node that has crashed": {"crashed": lambda v: at(v, 9, -1)},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "ids": {"colour": lambda v: np.arange(len(v))},
        "two merged": {"colour": lambda v: np.maximum(v - 1, 0)},
        "no round": {"settled": lambda v: at(v, 5, -1)},
        "before the first round": {"settled": lambda v: at(v, 5, -2)},
    },
    "matching": {
        "nobody": {"mate": lambda v: v * 0 - 1},
        "own mate": {"mate": lambda v: at(v, 5, 5)},
        "all their own": {"mate": lambda v: np.arange(len(v))},
        "one leaves": {"mate": lambda v: at(v, np.argmax(v), -1)},
        "a pair leaves": {"mate": lambda v: at(v, [v.max(), np.argmax(v)], -1)},
        "first pair leaves": {"mate": lambda v: np.where((v == v[v >= 0][0]) | (v[v] == v), -1, v)},
        "no such mate": {"mate": lambda v: at(v, 5, 400)},
        "below none": {"mate": lambda v: at(v, 5, -2)},
        "shifted": {"mate": lambda v: np.roll(v, 1)},
        "backwards": {"mate": lambda v: v[::-1]},
        "pairs of ids": {"mate": lambda v: np.arange(len(v)) ^ 1},
        "all one's": {"mate": lambda v: v * 0 + 7},
    },
    "leiden": {
        **COMMUNITIES,
        "by cpm": {"objective": lambda v: "cpm", "resolution": lambda v: 1e-4},
    },
    "louvain": COMMUNITIES,
    "bridges": {
        "no bridge": {name: lambda v: v[:0] for name in ("source", "target")},
        "a bridge less": {name: lambda v: v[:-1] for name in ("source", "target")},
        "a bridge twice": {name: lambda v: np.append(v[:1], v) for name in ("source", "target")},
        "backwards": {name: lambda v: v[::-1] for name in ("source", "target")},
        "another edge": {"target": lambda v: at(v, 0, v[0] - 1)},
        "no such node": {"target": lambda v: at(v, 0, 400)},
        "no node": {"source": lambda v: at(v, 0, -1)},
        "no cut node": {"articulation": lambda v: v & False},
        "all cut nodes": {"articulation": lambda v: v | True},
        "a cut node more": {"articulation": lambda v: at(v, np.flatnonzero(~v)[-1], True)},
        "a cut node less": {"articulation": lambda v: at(v, np.flatnonzero(v)[-1], False)},
        "one component": {"component": lambda v: v * 0},
        "all alone": {"component": lambda v: np.arange(len(v))},
        "one of another component": {"component": lambda v: at(v, -1, (v[-1] + 1) % len(v))},
        "a component of another name": {"component": lambda v: np.where(v == 0, last(v), v)},
        "no component": {"component": lambda v: at(v, 5, -1)},
    },
    "biconnected": {
        "nothing": {name: lambda v: v[:0] for name in ("member", "block")},
        "a row less": {name: lambda v: v[:-1] for name in ("member", "block")},
        "a row twice": {name: lambda v: np.append(v[:1], v) for name in ("member", "block")},
        "backwards": {name: lambda v: v[::-1] for name in ("member", "block")},
        "numbered from 1": {"block": lambda v: v + 1},
        "numbered otherwise": {"block": lambda v: v.max() - v},
        "two merged": {"block": lambda v: np.where(v == 1, 0, v)},
        "one component": {"block": lambda v: v * 0},
        "no such number": {"block": lambda v: at(v, 5, 400)},
        "negative": {"block": lambda v: at(v, 5, -1)},
        "shifted": {"block": lambda v: np.roll(v, 1)},
        "no such node": {"member": lambda v: at(v, 5, 400)},
        "no node": {"member": lambda v: at(v, 5, -1)},
        "another node": {"member": lambda v: at(v, 5, v[5] + 1)},
    },
    "cliques": {
        **counts("cliques"),
        "of three nodes": {"k": lambda v: 3},
        "of five nodes": {"k": lambda v: 5},
    },
    "motifs": {
        "none": {"orbits": lambda v: v * 0},
        "doubled": {"orbits": lambda v: v * 2},
        "one more path": {"orbits": lambda v: at(v, (5, 4), v[5, 4] + 1)},
        "two more paths": {"orbits": lambda v: at(v, (slice(5, 7), 4), v[5:7, 4] + 1)},
        "a square less": {"orbits": lambda v: at(v, (np.argmax(v[:, 8]), 8), v[:, 8].max() - 1)},
        "negative": {"orbits": lambda v: at(v, (5, 14), -1)},
        "not by induced motifs": {"orbits": lambda v: at(v, (..., 1), v[:, 1] + 2 * v[:, 3])},
        "ends for the middle": {"orbits": lambda v: v[:, [0, 2, 1, *range(3, 15)]]},
        "leaves for the centre": {"orbits": lambda v: v[:, [*range(6), 7, 6, *range(8, 15)]]},
        "shifted": {"orbits": lambda v: np.roll(v, 1, axis=0)},
        "backwards": {"orbits": lambda v: v[::-1]},
        "moved": {"orbits": lambda v: swapped(v, 0, 39)},
    },
    "square_clustering": {
        **nearness("coefficient"),
        "no number": {"coefficient": lambda v: at(v, 5, np.nan)},
        "a little more": {"coefficient": lambda v: at(v, np.argmax(v), v.max() + 1e-9)},
        "of triangles": {
            "coefficient": lambda v: np.array([*nx.clustering(network("lcc")).values()])
        },
    },
    "random_walks": {
        "stands still": {"walk": lambda v: np.repeat(v[:, :1], 4, axis=1)},
        "starts elsewhere": {"walk": lambda v: v[::-1]},
        "shifted": {"walk": lambda v: np.roll(v, 1, axis=0)},
        "no start": {"walk": lambda v: np.where(np.arange(4) == 0, -1, v)},
        "no such node": {"walk": lambda v: at(v, (5, 2), 400)},
        "below none": {"walk": lambda v: at(v, (5, 2), -2)},
        "ends early": {"walk": lambda v: at(v, (5, 3), -1)},
        "goes on after its end": {"walk": lambda v: at(v, (5, 1), -1)},
        "a step less": {"walk": lambda v: v[:, :-1]},
        "ends, with restarts": {"walk": lambda v: at(v, (5, 3), -1), "restart": lambda v: 0.5},
        "of other length": {"length": lambda v: 4},
        "one jumps": {"walk": lambda v: at(v, (5, 3), v[5, 2])},
        "all jump": {"walk": lambda v: np.where(np.arange(4) == 3, v[:, :1], v)},
    },
    "triangles": counts("triangles"),
    "ktruss": counts("truss"),
    "lcc": {
        **counts("coefficient"),
        "no number": {"coefficient": lambda v: at(v, 5, np.nan)},
        "a little more": {"coefficient": lambda v: at(v, 5, v[5] + 1e-9)},
        "of directed pairs": {"coefficient": lambda v: v / 2},
    },
    "fastrp": {
        "nothing": {"embedding": lambda v: v * 0},
        "doubled": {"embedding": lambda v: v * 2},
        "negative": {"embedding": lambda v: -v},
        "shifted": {"embedding": lambda v: np.roll(v, 1, axis=0)},
        "dimensions swapped": {"embedding": lambda v: v[:, ::-1]},
        "a dimension less": {"embedding": lambda v: v[:, 1:]},
        "no number": {"embedding": lambda v: at(v, (5, 2), np.nan)},
        "infinite": {"embedding": lambda v: at(v, (5, 2), np.inf)},
        "one number off": {"embedding": lambda v: at(v, (5, 2), v[5, 2] + 1e-3)},
        "rounded": {"embedding": lambda v: v.round(2)},
        "of another seed": {"seed": lambda v: 102},
        "of other powers": {"powers": lambda v: [1.0, 1.0]},
        "of another length": {"normalise": lambda v: False},
    },
    "neighbourhood": {
        "all at the source": {"hop": lambda v: v * 0},
        "a hop further": {"hop": lambda v: v + 1},
        "a hop nearer": {"hop": lambda v: np.where(v == 2, 1, v)},
        "one a hop further": {"hop": lambda v: at(v, np.flatnonzero(v == 1)[0], 2)},
        "negative": {"hop": lambda v: at(v, 1, -1)},
        "shifted": {"hop": lambda v: np.roll(v, 1)},
        "fewer hops": {"hops": lambda v: 1},
        "more hops": {"hops": lambda v: 3},
        "another source": {"sources": lambda v: [3, 16]},
        "one more source": {"sources": lambda v: [3, 17, 20]},
        "no such node": {"target": lambda v: at(v, 5, 400)},
        "no node": {"source": lambda v: at(v, 5, -1)},
        "one source": {"source": lambda v: v * 0 + 3},
        "a row twice": {
            name: lambda v: np.append(v[:1], v) for name in ("target", "source", "hop")
        },
        "a row less": {name: lambda v: v[1:] for name in ("target", "source", "hop")},
        "backwards": {name: lambda v: v[::-1] for name in ("target", "source", "hop")},
    },
    "sample": {
        "other ends": {"target": lambda v: np.roll(v, 1)},
        "an end swapped": {"target": lambda v: at(v, 0, (v[0] + 1) % N)},
        "no such node": {"target": lambda v: at(v, 5, 400)},
        "no node": {"source": lambda v: at(v, 0, -1)},
        "another place": {"place": lambda v: v + 1},
        "no place": {"place": lambda v: at(v, 1, -1)},
        "all at once": {"hop": lambda v: v * 0},
        "too late": {"hop": lambda v: at(v, np.flatnonzero(v == 0)[0], 1)},
        "one more hop": {"hop": lambda v: at(v, np.flatnonzero(v == 1)[0], 2)},
        "before the first": {"hop": lambda v: v - 1},
        "another source": {"sources": lambda v: [3, 16]},
        "a source less": {"sources": lambda v: [3]},
        "more to draw": {"fanouts": lambda v: [3, 1]},
        "less to draw": {"fanouts": lambda v: [1, 1]},
        "all to draw": {"fanouts": lambda v: [2, -1]},
        "a row less": {name: lambda v: v[1:] for name in ("source", "target", "place", "hop")},
        "a row twice": {
            name: lambda v: np.append(v[:1], v) for name in ("source", "target", "place", "hop")
        },
        "backwards": {name: lambda v: v[::-1] for name in ("source", "target", "place", "hop")},
    },
    "similarity": {
        "nothing in common": {"similarity": lambda v: v * 0},
        "all alike": {"similarity": lambda v: v * 0 + 1},
        "a little more": {"similarity": lambda v: at(v, np.argmax(v), v.max() * (1 + 1e-9))},
        "no number": {"similarity": lambda v: at(v, 5, np.nan)},
        "negative": {"similarity": lambda v: -v},
        "distance": {"similarity": lambda v: 1 - v},
        "shifted": {"similarity": lambda v: np.roll(v, 1)},
        "rounded": {"similarity": lambda v: v.astype(np.float32)},
        "of another measure": {"measure": lambda v: "overlap"},
        "best only": {"k": lambda v: 1},
        "no such node": {"target": lambda v: at(v, 5, 400)},
        "no node": {"source": lambda v: at(v, 5, -1)},
        "no edge": {"target": lambda v: at(v, 0, 0)},
        "an edge twice": {
            name: lambda v: np.append(v[:1], v) for name in ("source", "target", "similarity")
        },
        "an edge less": {name: lambda v: v[:-1] for name in ("source", "target", "similarity")},
        "backwards": {name: lambda v: v[::-1] for name in ("source", "target", "similarity")},
        "ends swapped": {"source": lambda v: v[::-1]},
    },
    "edge_betweenness": {
        "no paths": {"betweenness": lambda v: v * 0},
        "doubled": {"betweenness": lambda v: v * 2},
        "normalised": {"betweenness": lambda v: v * 2 / (N * (N - 1))},
        "a little more": {"betweenness": lambda v: v * (1 + 1e-6)},
        "one less": {"betweenness": lambda v: at(v, np.argmax(v), v.max() - 1)},
        "no number": {"betweenness": lambda v: at(v, 5, np.nan)},
        "infinite": {"betweenness": lambda v: at(v, 5, np.inf)},
        "negative": {"betweenness": lambda v: -v},
        "shifted": {"betweenness": lambda v: np.roll(v, 1)},
        "of some sources": {"start": lambda v: np.arange(N) < 5},
        "no such node": {"target": lambda v: at(v, 5, 400)},
        "no node": {"source": lambda v: at(v, 5, -1)},
        "no edge": {"target": lambda v: at(v, 0, 0)},
        "an edge twice": {name: lambda v: np.append(v[:1], v) for name in OVER},
        "an edge less": {name: lambda v: v[:-1] for name in OVER},
        "backwards": {name: lambda v: v[::-1] for name in OVER},
    },
    "densest": sets("densest"),
    "topological": {
        "no generations": {"generation": lambda v: v * 0 - 1},
        "all at once": {"generation": lambda v: v * 0},
        "one later": {"generation": lambda v: v + 1},
        "one moved": {"generation": lambda v: at(v, np.argmax(v), v.max() - 1)},
        "one without": {"generation": lambda v: at(v, 0, -1)},
        "one on a cycle": {"generation": lambda v: at(v, np.argmin(v), 1)},
        "shifted": {"generation": lambda v: np.roll(v, 1)},
        "negative": {"generation": lambda v: at(v, np.argmin(v), -2)},
        "no cycle": {"cycle": lambda v: v * 0 - 1},
        "a cycle of one": {"cycle": lambda v: at(v * 0 - 1, 3, 0)},
        "a node less": {"cycle": lambda v: np.where(v == 0, -1, v)},
        "a node more": {"cycle": lambda v: at(v, 0, v.max() + 1)},
        "the other way": {"cycle": lambda v: np.where(v > 0, v.max() + 1 - v, v)},
        "two first": {"cycle": lambda v: at(v, 3, 0)},
        "counted from 1": {"cycle": lambda v: v + (v >= 0)},
    },
    "bipartite": {
        "one colour": {"colour": lambda v: v * 0},
        "other colours": {"colour": lambda v: np.where(v < 0, v, 1 - v)},
        "one changed": {"colour": lambda v: at(v, 1, 1 - v[1])},
        "no colours": {"colour": lambda v: v * 0 - 1},
        "of an odd cycle": {"colour": lambda v: np.abs(v)},
        "a third": {"colour": lambda v: at(v, 0, 2)},
        "negative": {"colour": lambda v: at(v, np.argmin(v), -2)},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "no cycle": {"cycle": lambda v: v * 0 - 1},
        "a node less": {"cycle": lambda v: at(v, np.argmax(v), -1)},
        "a node more": {"cycle": lambda v: at(v, 0, v.max() + 1)},
        "two first": {"cycle": lambda v: at(v, 3, 0)},
        "counted from 1": {"cycle": lambda v: v + (v >= 0)},
        "elsewhere": {"cycle": lambda v: np.roll(v, 1)},
    },
    "mis": sets("in_mis"),
    "ds": sets("in_ds"),
    "lcr": LEADERS,
    "hs": LEADERS,
    "dp": LEADERS,
    "floodmax": {
        **LEADERS,
        "no such node": {"leader": lambda v: v * 0 + N + 1},
        "no crash": {"crashed": lambda v: v * 0 - 1},
        "one that has crashed, as some say": {"leader": lambda v: at(v, 3, N)},
    },
    "benor": {
        **AGREEMENT,
        "never": {"decided": lambda v: at(v, 9, -1)},
        "two rounds late": {"decided": lambda v: at(v, 9, 3)},
        "all but one late": {"decided": lambda v: at(v + 1, 9, 0)},
        "late, with one input": {"input": lambda v: v | 1, "inputs": lambda v: [1] * N},
    },
    "phase_king": AGREEMENT,
    "token_ring": {
        "out of range": {"value": lambda v: at(v, 5, N + 1)},
        "negative": {"value": lambda v: at(v, 5, -1)},
        "one other value": {"value": lambda v: at(v, 20, (v[20] + 3) % N)},
        "all different": {"value": lambda v: np.arange(len(v))},
        "two tokens": {"value": lambda v: np.where(np.arange(N) % 20 < 10, 3, 4)},
        "shifted": {"value": lambda v: np.roll(v, 1)},
        "every second another": {"value": lambda v: np.where(np.arange(N) % 2, v, N - v)},
        "a move more": {"moves": lambda v: at(v, np.argmax(v), v.max() + 1)},
        "moves below zero": {"moves": lambda v: at(v, 5, -1)},
        "node 0 alone moves": {"moves": lambda v: at(v * 0, 0, 2)},
        "too many moves": {"moves": lambda v: v + 3 * N},
        "began legitimate": {"begin": lambda v: "legitimate"},
        "a privilege more on the way": {"privileges": lambda v: at(v, 3, v[2] + 1)},
        "no privilege": {"privileges": lambda v: at(v, -2, 0)},
        "two at the end": {"privileges": lambda v: np.maximum(v, 2)},
    },
    "bf": DISTANCES,
    "dst": {
        **DISTANCES,
        **PARENTS,
        "all the root's": {"parent": lambda v: at(v * 0, 0, -1)},
    },
    "mst": {
        "no parents": {"parent": lambda v: v * 0 - 1},
        "two roots": {"parent": lambda v: at(v, 5, -1)},
        "no root": {"parent": lambda v: at(v, np.flatnonzero(v < 0)[0], v[0] if v[0] >= 0 else 1)},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
        "negative parent": {"parent": lambda v: at(v, 5, -2)},
        "all the root's": {"parent": lambda v: at(v * 0, 0, -1)},
        "shifted": {"parent": lambda v: np.roll(v, 1)},
        "a cycle": {"parent": lambda v: at(v, v[5], 5)},
        "backwards": {"parent": lambda v: v[::-1]},
        "a heavier tree": {"parent": lambda v: heavier_tree()},
        "a tree in two": {
            "parent": lambda v: at(v, len(v) - 1, -1) if v[-1] >= 0 else at(v, 0, -1)
        },
    },
    "vc": {
        "one colour": {"colour": lambda v: v * 0},
        "four colours": {"colour": lambda v: at(v, 5, 3)},
        "negative": {"colour": lambda v: at(v, 5, -1)},
        "one flipped": {"colour": lambda v: at(v, 5, 1 - v[5])},
        "root flipped": {"colour": lambda v: at(v, 0, 1 - v[0])},
        "last flipped": {"colour": lambda v: at(v, -1, 1 - v[-1])},
        "ids": {"colour": lambda v: np.arange(len(v))},
        "shifted": {"colour": lambda v: np.roll(v, 1)},
        "all two": {"colour": lambda v: v * 0 + 2},
        "doubled twice": {"colour": lambda v: v * 4},
        "parity of ids": {"colour": lambda v: np.arange(len(v)) % 2},
    },
    "distance_vector": {
        "all zero": {"distance": lambda v: v * 0},
        "one farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
        "one nearer": {"distance": lambda v: at(v, 5, v[5] - 1)},
        "one without a way": {"distance": lambda v: at(v, 5, 16)},
        "no way": {"distance": lambda v: at(v * 0 + 16, 0, 0)},
        "beyond infinite": {"distance": lambda v: at(v, 39, 17)},
        "shifted": {"distance": lambda v: np.roll(v, 1)},
        "a smaller infinity": {"infinity": lambda v: 2},
        "another root": {"root": lambda v: 7},
        "no crash": {"crashed": lambda v: v * 0 - 1},
        "own next hop": {"next_hop": lambda v: at(v, 5, 5)},
        "none": {"next_hop": lambda v: at(v, 5, -1)},
        "a next hop of the root": {"next_hop": lambda v: at(v, 0, 1)},
        "no such node": {"next_hop": lambda v: at(v, 5, 400)},
        "a node that has crashed": {"crashed": lambda v: at(v, 0, 3)},
    },
    "dr": {
        "free": {"cost": lambda v: v * 0},
        "doubled": {"cost": lambda v: v * 2},
        "one dearer": {"cost": lambda v: at(v, (3, 9), v[3, 9] + 1)},
        "one cheaper": {"cost": lambda v: at(v, (3, 9), v[3, 9] - 1)},
        "both ways cheaper": {"cost": lambda v: at(at(v, (3, 9), 1), (9, 3), 1)},
        "not free at home": {"cost": lambda v: at(v, (3, 3), 1)},
        "shifted": {"cost": lambda v: np.roll(v, 1)},
        "away from home": {"next_hop": lambda v: at(v, (3, 3), v[3, 4])},
        "own next hop": {"next_hop": lambda v: at(v, (3, 9), 3)},
        "straight there": {"next_hop": lambda v: v * 0 + np.arange(len(v))},
        "no such node": {"next_hop": lambda v: at(v, (3, 9), 400)},
        "negative": {"next_hop": lambda v: at(v, (3, 9), -1)},
        "backwards": {"next_hop": lambda v: v.T},
    },
    "by": {
        "one disagrees": {"decision": lambda v: at(v, 9, 0)},
        "last disagrees": {"decision": lambda v: at(v, -1, 0)},
        "no flag": {"decision": lambda v: at(v, 9, 2)},
        "all two": {"decision": lambda v: v * 0 + 2},
        "undecided": {"decision": lambda v: at(v, 9, -1)},
        "half": {"decision": lambda v: np.arange(len(v)) % 2},
        "as voted": {"decision": lambda v: 1 - np.arange(len(v)) % 2},
        "vote of two": {"vote": lambda v: at(v, 9, 2)},
        "against all votes": {"vote": lambda v: v * 0},
        "many traitors": {"traitor": lambda v: np.arange(len(v)) < 9},
        "strange traitor": {"traitor": lambda v: at(v * 1, 3, 7)},
        "all but one": {"decision": lambda v: at(v * 0, 20, 1)},
    },
    "kc": {
        "no such leader": {"committee": lambda v: at(v, 5, 400)},
        "negative": {"committee": lambda v: at(v, 5, -1)},
        "all one": {"committee": lambda v: v * 0},
        "everyone alone": {"committee": lambda v: np.arange(len(v))},
        "in a member's": {"committee": lambda v: at(v, 5, largest(v)[1][1])},
        "one too many": {"committee": lambda v: at(v, alone(v)[0], largest(v)[0])},
        "a leader leaves": {"committee": lambda v: at(v, largest(v)[0], alone(v)[0])},
        "a leader lost": {"committee": lambda v: at(v, largest(v)[0], largest(v)[1][1])},
        "shifted": {"committee": lambda v: np.roll(v, 1)},
        "a member leaves": {"committee": lambda v: at(v, largest(v)[1][-1], largest(v)[1][-1])},
        "pairs": {"committee": lambda v: np.arange(len(v)) // 2 * 2},
        "K too small": {"k": lambda k: 2},
    },
    "dijkstra_scholten": {
        "not over": {"announced": lambda v: v * 0 - 1},
        "too early": {"announced": lambda v: at(v, 0, v[0] - 6)},
        "much later": {"announced": lambda v: at(v, 0, v[0] + N)},
        "over at another node": {"announced": lambda v: at(v, 5, v[0])},
        "over everywhere": {"announced": lambda v: v * 0 + v[0]},
        "one that goes on": {"last": lambda v: at(v, 5, 99)},
        "one that never begins": {"last": lambda v: at(v, 5, -1)},
        "one that is silent": {"told": lambda v: at(v, 5, 0)},
        "one that tells twice": {"told": lambda v: at(v, 5, 2)},
        "nobody told": {name: lambda v: v * 0 for name in ("told", "acknowledged")},
        "an acknowledgement more": {"acknowledged": lambda v: at(v, 5, v[5] + 1)},
        "one not acknowledged": {"acknowledged": lambda v: at(v, 5, v[5] - 1)},
        "acknowledged by another": {"acknowledged": lambda v: v + (v == v[5]) - (v == v[5] + 1)},
        "farther": {"distance": lambda v: at(v, 5, v[5] + 1)},
        "unreached": {"distance": lambda v: at(v, 5, -1)},
        "another root": {"root": lambda v: 5},
    },
    "snapshot": {
        "money that is missing": {"recorded": lambda v: at(v, 5, v[5] - 1)},
        "money counted twice": {"recorded": lambda v: v + v[5] * (np.arange(N) == 7)},
        "money of another": {"recorded": lambda v: swapped(v, np.argmin(v), np.argmax(v))},
        "nothing recorded": {"recorded": lambda v: v * 0 - 1},
        "nothing in transit": {"in_transit": lambda v: v * 0},
        "in transit to another": {"in_transit": lambda v: np.roll(v, 1)},
        "more in transit": {"in_transit": lambda v: at(v, 5, v[5] + 1)},
        "one not done": {"done": lambda v: at(v, 5, False)},
        "nobody done": {"done": lambda v: v & False},
        "recorded later": {"when": lambda v: at(v, np.argmax(v), v.max() + 1)},
        "all at once": {"when": lambda v: v * 0 + 3},
        "never": {"when": lambda v: at(v, 5, -1)},
        "a later start": {"after": lambda v: 4},
        "another root": {"root": lambda v: 5},
        "another seed": {"seed": lambda v: 8},
        "more money at first": {"input": lambda v: at(v, 5, v[5] + 1)},
        "inputs that are not given": {"inputs": lambda v: v + 1},
    },
    "echo": {
        "not over": {"decided": lambda v: v & False},
        "over at another node": {"decided": lambda v: at(v, 5, True)},
        "over everywhere": {"decided": lambda v: v | True},
        "a node more": {"size": lambda v: at(v, 0, v[0] + 1)},
        "one not counted": {"size": lambda v: at(v, 0, v[0] - 1)},
        "a leaf of two": {"size": lambda v: at(v, np.argmin(v), 2)},
        "shifted sizes": {"size": lambda v: np.roll(v, 1)},
        "a greater total": {"total": lambda v: at(v, 5, v[5] + 1)},
        "no total": {"total": lambda v: v * 0},
        "a total of identifiers": {"value": lambda v: "uid"},
        "a parent at the root": {"parent": lambda v: at(v, 0, 0)},
        "orphan": {"parent": lambda v: at(v, 5, -1)},
        "own parent": {"parent": lambda v: at(v, 5, 5)},
        "no such parent": {"parent": lambda v: at(v, 5, 400)},
        "a larger parent": {"parent": lambda v: later_parent(v)},
        "a level deeper": {"level": lambda v: at(v, 5, v[5] + 1)},
        "not reached": {"level": lambda v: at(v, 5, -1)},
        "levels from 1": {"level": lambda v: v + 1},
    },
    "push_sum": {
        "all zero": {"average": lambda v: v * 0},
        "a little more": {"average": lambda v: at(v, 5, v[5] * (1 + 1e-8))},
        "no number": {"average": lambda v: at(v, 5, np.nan)},
        "infinite": {"average": lambda v: at(v, 5, np.inf)},
        "lost mass": {"mass": lambda v: at(v, 5, v[5] / 2)},
        "mass of another": {"mass": lambda v: swapped(v, 5, 6)},
        "more mass": {"mass": lambda v: v * 2, "average": lambda v: v * 2},
        "mass without number": {"mass": lambda v: at(v, 5, np.nan)},
        "lost weight": {"weight": lambda v: at(v, 5, 0)},
        "negative weight": {"weight": lambda v: at(v, 5, -v[5])},
        "another input": {"input": lambda v: at(v, 5, v[5] + 1)},
        "inputs that are not given": {"inputs": lambda v: v + 1},
        "not mixed": {name: lambda v: np.arange(N) % 7 / 4 for name in ("average", "mass")}
        | {"weight": lambda v: v * 0 + 1},
        "degrees": {"inputs": lambda v: None},
    },
    "gossip": {
        "all at once": {"informed": lambda v: np.minimum(v, 1)},
        "one earlier": {"informed": lambda v: at(v, np.argmax(v), v.max() - 1)},
        "one later": {"informed": lambda v: at(v, np.argmax(v), v.max() + 1)},
        "one never": {"informed": lambda v: at(v, -1, -1)},
        "nobody": {"informed": lambda v: v * 0 - 1},
        "only the root": {"informed": lambda v: np.where(v == 0, 0, -1)},
        "another root": {"root": lambda v: 1},
        "two roots": {"informed": lambda v: at(v, 5, 0)},
        "no root": {"informed": lambda v: at(v, 0, 1)},
        "counted from 1": {"informed": lambda v: v + 1},
        "negative": {"informed": lambda v: at(v, 5, -2)},
        "after a long time": {"informed": lambda v: at(v, 5, 1 << 40)},
        "two swapped": {"informed": lambda v: swapped(v, np.argmax(v), np.flatnonzero(v == 1)[0])},
        "shifted": {"informed": lambda v: np.roll(v, 1)},
        "of pushes": {"mode": lambda v: "push"},
        "of pulls": {"mode": lambda v: "pull"},
        "of another seed": {"seed": lambda v: 8},
    },
    "floodset": {
        "one disagrees": {"decision": lambda v: at(v, 6, 0)},
        "last disagrees": {"decision": lambda v: at(v, -1, 0)},
        "first disagrees": {"decision": lambda v: at(v, 0, 0)},
        "half": {"decision": lambda v: np.where(np.arange(N) < 20, np.arange(N) % 3, v)},
        "everyone its own": {"decision": lambda v: np.arange(N) % 3},
        "nobody's value": {"decision": lambda v: v * 0 + 7},
        "another's value": {"decision": lambda v: v * 0 + 2},
        "one undecided": {"decision": lambda v: at(v, 5, -1)},
        "all undecided": {"decision": lambda v: v * 0 - 1},
        "another default": {"default": lambda v: 2},
        "no crash": {"crashed": lambda v: v * 0 - 1},
        "another input": {"input": lambda v: at(v, 5, v[5] + 1)},
        "inputs of others": {"input": lambda v: np.roll(v, 1)},
        "drawn inputs": {"inputs": lambda v: 3},
        "inputs that are all the same": {"input": lambda v: v * 0, "inputs": lambda v: v * 0},
    },
}


STEPS = {
    "moves below zero": {"moves": lambda v: at(v, 5, -1)},
    "a move more": {"moves": lambda v: at(v, 5, v[5] + 1)},
    "no moves": {"moves": lambda v: v * 0},
    "a step more": {"moved": lambda v: at(v, -1, v[-1] + 1)},
    "enabled at last": {"enabled": lambda v: at(v, -1, 1)},
}
MANY = {"moves": lambda v: at(v, 5, v[5] + 999), "moved": lambda v: at(v, -1, v[-1] + 999)}
KINDS |= {
    f"stable_{name}": {**KINDS[name], **STEPS, **({} if name == "bfs" else {"too many": MANY})}
    for name in ("bfs", "colouring", "matching", "mis")
}
"""What recovers from any state, and how it does."""


def later_parent(parent):
    """A node has another parent that is as near to the root, and the sums are not said to change."""
    net = network("echo")
    level = nx.single_source_shortest_path_length(net, 0)
    ways = {v: [u for u in net[v] if level[u] < level[v]] for v in net}
    node = next(v for v in net if len(ways[v]) > 1)
    return at(parent, node, max(ways[node]))


def largest(committee):
    """The largest committee's leader, and its members from the leader on."""
    leader = int(np.bincount(committee).argmax())
    members = np.flatnonzero(committee == leader)
    return leader, [leader, *members[members != leader].tolist()]


def alone(committee):
    size = np.bincount(committee, minlength=len(committee))
    return np.flatnonzero((size[committee] == 1) & (committee == np.arange(len(committee))))


def heavier_tree():
    tree = nx.maximum_spanning_tree(network("mst"))
    above = predecessors(tree, 0)
    return np.array([above.get(v, -1) for v in range(N)])
