"""Printed formulas: their letters on the paper's inputs, and their values."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import NamedTuple

import numpy as np

from dgsuite import genval
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.report.arithmetic import evaluate


class Letters(NamedTuple):
    """What the letters of a formula stand for.

    Attributes
    ----------
    D
        Eccentricity of the root, if the graph names one; else the diameter. BY's programs have the least
        eccentricity, of the first n - t nodes among themselves, t = n/8 - 1 being the traitors.
    Delta
        Largest degree.
    K
        Largest committee.
    """

    n: int
    m: int
    D: int
    Delta: int
    K: int


@cache
def letters(kernel: str, kind: str, n: int, seed: int = 101) -> Letters:
    """The letters on an input of the paper's."""
    return of(genval.graph(kind, n, seed=seed, family="paper", kernel=kernel), kernel)


def of(graph: Graph, kernel: str) -> Letters:
    """The letters on a graph."""
    from scipy.sparse.csgraph import shortest_path

    matrix = graph.to_scipy()
    distances = shortest_path(matrix, unweighted=True)
    far = distances.max(axis=1)
    depth = far[graph.attrs.get("root", int(far.argmax()))]
    if kernel == "by":
        first = slice(graph.n - max(graph.n // 8 - 1, 0))
        depth = distances[first, first].max(axis=1).min()
    degree = int(np.diff(matrix.indptr).max())
    return Letters(graph.n, graph.m, int(depth), degree, int(graph.attrs.get("k", 3)))


def value(formula: str, given: Letters) -> float:
    """A printed formula's value; logarithms without a base are to base 2.

    Parameters
    ----------
    formula
        As in the claims, such as ``log(n)*(6*n + 1) + 1``; ``O( )`` around it is dropped, ``log*`` is the
        iterated logarithm, ``log^2(x)`` the square of ``log(x)``.
    """
    text = re.sub(r"^O\((.*)\)$", r"\1", formula.strip())
    text = text.replace("log*(", "iterated(").replace("log_{4/3}(", "log43(")
    text = re.sub(r"log\^2\((\w+)\)", r"log(\1)**2", text).replace("^", "**")
    known = {"log": math.log2, "log43": lambda x: math.log(x, 4 / 3), "iterated": _iterated}
    return float(evaluate(text, {**known, **given._asdict()}))


def _iterated(x: float) -> int:
    """How often a logarithm is taken until 1 or less is left."""
    count = 0
    while x > 1:
        x, count = math.log2(x), count + 1
    return count
