"""Centralities that repeat a step, and vectors."""

import networkx as nx
import numpy as np

from dgsuite.kernels.tools import _draws
from dgsuite.kernels.tools import rng as counters
from tests.cards.card import Card, N, at, by_node
from tests.cards.picks import BOTH, weighted

CLOSE = {"tol": 1e-13 / N, "max_iter": 10**5}


def few(net, pick):
    """Some steps, which end before values hardly change or after."""
    return {"iterations": pick(range(1, 6)), "tolerance": pick([None, 0.01]), **weighted(net, pick)}


def pagerank(net, pick):
    return {
        **few(net, pick),
        "damping": pick([0.85, 0.0, 0.5, 1.0]),
        "sinks": pick(["spread", "lost"]),
        "personalisation": pick([None, [float(v % 3 == 0) for v in net]]),
    }


def katz(net, pick):
    return {**few(net, pick), "alpha": pick([0.01, 0.5]), "normalised": pick(BOTH)}


def rank(output, look, *both, parameters=few, example=None, **more):
    """A card of ranks, whose right values networkx or NumPy finds."""

    def rest(net, found):
        return {"iterations": None, **dict.fromkeys((output, *both), by_node(net, look(net)))}

    wrong = {
        kind: dict.fromkeys((output, *both), change)
        for kind, change in {
            "uniform": lambda v: v * 0 + 1 / N,
            "a millionth higher": lambda v: at(v, 5, v[5] + 1e-6),
            "a millionth lower": lambda v: at(v, -1, v[-1] - 1e-6),
            **({"negative": lambda v: at(v, 5, -v[5])} if both else {}),
        }.items()
    }
    return Card(
        parameters,
        "any",
        example={"tolerance": 1e-10, **(example or {})},
        rest=rest,
        wrong={**wrong, **more.pop("wrong", {})},
        **more,
    )


def first_vector(net):
    """The eigenvector of the largest eigenvalue, scaled to a sum of 1."""
    _, vectors = np.linalg.eigh(nx.to_numpy_array(net, sorted(net)))
    first = np.abs(vectors[:, -1])
    return dict(enumerate(first / first.sum()))


def embedded(net, found):
    """Vectors of 6 dimensions, by the definition."""
    ways = nx.to_numpy_array(net, weight=None)
    ways /= ways.sum(axis=1, keepdims=True)
    key = counters.key(101, 0)[0]
    keys = [np.uint64(_draws.keyed(key, v)) for v in net]
    luck = [[_draws.uniform(mine, j) * 3 for j in range(6)] for mine in keys]
    vectors = np.sqrt(3) * np.select([np.array(luck) < 0.5, np.array(luck) < 1], [1, -1])
    first, second = ways @ ways @ vectors, ways @ ways @ ways @ vectors
    return {"embedding": sum(v / np.linalg.norm(v, axis=1, keepdims=True) for v in (first, second))}


def walked(net, found):
    """Walks to the smallest neighbour."""
    walk = [np.arange(N)]
    for _ in range(3):
        walk.append(np.array([min(net[v]) for v in walk[-1]]))
    return {"walk": np.stack(walk, axis=1)}


CARDS = {
    "eigenvector": rank(
        "centrality",
        lambda net: nx.eigenvector_centrality(net, **CLOSE),
        harmless=("centrality a little higher", "centrality a little lower"),
    ),
    "fastrp": Card(
        lambda net, pick: {
            "dimensions": pick(range(1, 10)),
            "normalise": pick(BOTH),
            "beta": pick([-0.5, 0.0]),
            "powers": [pick([0.0, 0.5, 1.0]) for _ in range(pick([1, 2, 3]))],
            **weighted(net, pick),
        },
        "any",
        example={"dimensions": 6, "seed": 101, "powers": [0.0, 1.0, 1.0], "normalise": True},
        rest=embedded,
        wrong={
            "dimensions swapped": {"embedding": lambda v: v[:, ::-1]},
            "a dimension less": {"embedding": lambda v: v[:, 1:]},
            "rounded": {"embedding": lambda v: v.round(2)},
        },
        false={"seed": 102, "powers": [1.0, 1.0], "normalise": False},
        harmless=("embedding a little higher", "embedding a little lower"),
    ),
    "hits": rank("hub", first_vector, "authority"),
    "katz": rank(
        "centrality",
        lambda net: nx.katz_centrality(net, **CLOSE),
        parameters=katz,
        example={"alpha": 0.1, "normalised": True},
        false={"alpha": 0.11, "normalised": False},
    ),
    "pagerank": rank(
        "rank",
        lambda net: nx.pagerank(net, **CLOSE),
        parameters=pagerank,
        example={"damping": 0.85, "personalisation": np.ones(N)},
        wrong={
            "all a little more": {"rank": lambda v: v * (1 + 1e-8)},
            "after ten steps": {"iterations": 10, "tolerance": None},
        },
        false={"damping": 0.8, "personalisation": np.arange(N) == 3},
    ),
    "random_walks": Card(
        lambda net, pick: {
            "length": pick(range(1, 6)),
            "walks": pick([1, 1, 3]),
            "p": 1.0 if net.is_directed() else pick([1.0, 0.5]),
            "restart": pick([0.0, 0.3]),
            **weighted(net, pick),
        },
        "any",
        example={"length": 3, "restart": 0.0},
        rest=walked,
        wrong={
            "stands still": {"walk": lambda v: np.repeat(v[:, :1], 4, axis=1)},
            "ends early": {"walk": lambda v: at(v, (5, 3), -1)},
            "a step less": {"walk": lambda v: v[:, :-1]},
            "ends, with restarts": {"walk": lambda v: at(v, (5, 3), -1), "restart": 0.5},
            "one jumps": {"walk": lambda v: at(v, (5, 3), v[5, 2])},
        },
        false={"length": 4},
    ),
}

RANKS = ("eigenvector", "hits", "katz", "pagerank")
"""Kernels that repeat a step until real values hardly change."""
