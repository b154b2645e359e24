"""IMSuite's input generators, bit for bit: the same text for the same seed and options.

A file is a graph, of one of a few kinds, between what the kernel needs before and after it. All of
it comes from one `java.util.Random`, so the order of draws is part of the format; it follows the
generators of Gupta and Nandivada (IMSuite: A benchmark suite for simulating distributed algorithms,
JPDC 75, 2015). The layout is that of `partition.imsuite`, which reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genval.java import Random
from partition.errors import InputError
from partition.imsuite import KERNELS, RINGS

KINDS = ("spmin", "spmax", "cplt", "rn")
COLOURING_KINDS = ("star", "chain", "rn")

PAPER = {"mn": ("spmin", "chain"), "mx": ("spmax", "star"), "ring": ("ring", "ring")}
"""The inputs of the paper's figures: Mn-In, Mx-In and the only ring; the second is for "vc"."""

OPTIONS = {"max": KERNELS, "k": ("kc",), "weights": ("dr",)}
"""Which kernels an option is for; "max" is not for rings and colouring."""

LARGEST, LARGEST_WEIGHTED = 1 << 15, 1 << 13
"""Nodes of a file with a matrix of digits, and with one of weights: some GB in memory."""

BLOCK = 1 << 18
"""Numbers that are made text at a time."""

LARGEST_INT = 2**31 - 1
"""Java's largest int; on the diagonal of weights it says that there is no edge."""


def kinds(kernel: str) -> tuple[str, ...]:
    """The kinds of graph there are for a kernel, its default last."""
    if kernel in RINGS:
        return ("ring",)
    return COLOURING_KINDS if kernel == "vc" else KINDS


def paper(kernel: str, name: str) -> tuple[str, dict[str, Any]]:
    """Kind and options of an input of the paper's figures: "mn", "mx", or "ring".

    The paper's Mn-In and Mx-In of a ring are the same ring.

    Raises
    ------
    InputError
        There is no such input.
    """
    if kernel in RINGS and name in PAPER:
        return PAPER["ring"][0], {}
    if name not in PAPER or name == "ring":
        right = "ring, mn or mx" if kernel in RINGS else "mn or mx"
        raise InputError(f"kind {name!r} is unknown in family 'paper' for {kernel}; it has {right}")
    options: dict[str, dict[str, Any]] = {"kc": {"k": 3}, "dr": {"weights": "weq"}}
    return PAPER[name][kernel == "vc"], options.get(kernel, {})


def plain(name: str) -> str:
    """A kind's name without case, hyphens and underscores, and in the newer of two spellings."""
    name = name.lower().replace("-", "").replace("_", "")
    return {"sparmin": "spmin", "sparmax": "spmax"}.get(name, name)


def generate(
    kernel: str, n: int, kind: str | None = None, seed: int = 101, **options: Any
) -> bytes:
    """The input file that IMSuite's generator for a kernel writes.

    Parameters
    ----------
    kernel
        "bf", "by", "dp", "dr", "ds", "dst", "hs", "kc", "lcr", "mis", "mst" or "vc", in any case.
    n
        Number of nodes.
    kind
        "spmin" (a random tree), "spmax" (n floor(log2 n) - 1 edges), "cplt" (complete) or "rn" (each
        edge with probability 1/2, perhaps not connected); for "vc" "star", "chain" or "rn" (all
        trees); for "lcr" and "hs" "ring". "sp-min" and "SPMIN" are accepted too. By default "rn" or
        "ring".
    seed
        A Java long; of other integers the low 48 bits count.
    max
        Largest number of children in the random tree; by default drawn at random. Not for "lcr",
        "hs" and "vc".
    k
        Committee size of "kc"; by default drawn at random. For "cplt" and "rn" the original writes
        3 whatever it is told, so 3 is all that is accepted.
    weights
        Of "dr": "wrn" (random, the default) or "weq" (all 1).

    Returns
    -------
    ASCII text as the original writes it, which for some kernels does not end with a line break.

    Raises
    ------
    InputError
        Naming the argument and what would be right.

    Examples
    --------
    >>> from genval import generate
    >>> generate("mis", 4, "spmin")
    b'4\\n0100\\n1010\\n0101\\n0010\\n'
    """
    job = _check(kernel, n, kind, seed, options)
    return b"".join(_write(job))


@dataclass(frozen=True)
class _Job:
    kernel: str
    n: int
    kind: str
    seed: int
    max: int | None
    k: int | None
    weights: str


def _check(kernel: Any, n: Any, kind: Any, seed: Any, options: dict[str, Any]) -> _Job:
    name = str(kernel).lower()
    if name not in KERNELS:
        raise InputError(f"kernel {kernel!r} is unknown; one of {', '.join(KERNELS)}")
    known = kinds(name)
    sort = known[-1] if kind is None else plain(str(kind))
    if sort not in known:
        raise InputError(f"kind {kind!r} is unknown for {name}; one of {', '.join(known)}")
    unknown = set(options) - set(OPTIONS)
    if unknown:
        raise InputError(f"option {min(unknown)!r} is unknown; one of {', '.join(OPTIONS)}")
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if name not in OPTIONS[option] or (option == "max" and (name in RINGS or name == "vc")):
            raise InputError(f"option {option!r} has no meaning for {name}")
    n = whole("n", n, _least(name, sort, "max" in given), LARGEST_INT)
    most = LARGEST_WEIGHTED if name in ("dr", "mst") else LARGEST
    if name not in RINGS and n > most:
        raise InputError(
            f"n must be at most {most} for {name}, whose file has n x n entries, got {n}; "
            f"the fast family has no such limit"
        )
    if sort == "spmax" and n == 4:
        raise InputError("n must not be 4 for spmax, which asks for more edges than 4 nodes have")
    for option in ("max", "k"):
        if option in given:
            given[option] = whole(option, given[option], 1, LARGEST_INT)
    if "k" in given and sort in ("cplt", "rn") and given["k"] != 3:
        raise InputError(f"k must be 3 for {sort}, the original writes no other, got {given['k']}")
    if given.get("weights", "wrn") not in ("weq", "wrn"):
        raise InputError(f"weights must be 'weq' or 'wrn', got {given['weights']!r}")
    seed = whole("seed", seed, -inf)
    return _Job(name, n, sort, seed, given.get("max"), given.get("k"), given.get("weights", "wrn"))


def _least(kernel: str, kind: str, has_max: bool) -> int:
    """The fewest nodes that the original's draws are defined for."""
    if kernel == "by":
        return 8
    if kernel in RINGS or kind in ("star", "chain") or (has_max and kind in KINDS):
        return 1
    return 2


def whole(name: str, value: Any, least: float, most: float = inf) -> int:
    """An argument as a whole number.

    Raises
    ------
    InputError
        It is none, below the least or above the most.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    if value > most:
        raise InputError(f"{name} must be at most {most}, got {value}")
    return int(value)


# ---- a file


def _write(job: _Job) -> Iterable[bytes]:
    """Parts of a file. The order of draws is the original's."""
    draw, n = Random(job.seed), job.n
    yield b"%d" % n
    if job.kernel in RINGS:
        yield _lines(_identifiers(draw, n))
        return
    if job.kernel == "vc":
        parents = _colouring_parents(draw, n, job.kind)
        yield b"\n0\n" + _rows(_tree_matrix(parents)) + b" " + _lines(parents) + b"\n"
        return
    most = job.max or draw.next_int(n - 1) or 1
    k, traitors = 3, list[int]()
    if job.kernel == "kc":
        drawn = job.k or draw.next_int(n) or 1
        k = 3 if job.kind in ("cplt", "rn") else drawn  # the 3 is the original's slip
    elif job.kernel == "by":
        traitors = _traitors(draw, n)
    matrix = _matrix(draw, n, job.kind, most)
    yield b"\n"
    if job.kernel in ("bf", "dst"):
        yield b"%d\n" % draw.next_int(n)
    elif job.kernel == "kc":
        yield b"%d\n" % k
    yield _rows(matrix)
    if job.kernel == "by":
        votes = (draw.ints(n, 2) + ord("0")).astype(np.uint8).tobytes()
        yield b" \n" + votes + b"\n " + _lines(traitors)
    elif job.kernel in ("dp", "kc"):
        yield b" " + _lines(_identifiers(draw, n))
    elif job.kernel == "dr":
        yield b" " + _lines(_routing_weights(draw, n, job.weights))
    elif job.kernel == "mst":
        yield b" " + _lines(_distinct_weights(draw, n))


def _lines(values: ArrayLike) -> bytes:
    """Numbers, each after a line break."""
    flat = np.asarray(values).ravel()
    return b"".join(
        "".join(f"\n{value}" for value in flat[start : start + BLOCK].tolist()).encode()
        for start in range(0, len(flat), BLOCK)
    )


def _rows(matrix: NDArray[np.bool_]) -> bytes:
    """Rows of digits, each with a line break."""
    text = np.full((len(matrix), len(matrix) + 1), ord("\n"), np.uint8)
    text[:, :-1] = matrix
    text[:, :-1] += ord("0")
    return text.tobytes()


# ---- graphs


def _matrix(draw: Random, n: int, kind: str, most: int) -> NDArray[np.bool_]:
    """Adjacency matrix, bool, shape (n, n)."""
    if kind == "cplt":
        return ~np.eye(n, dtype=bool)
    if kind == "rn":
        matrix = np.zeros((n, n), bool)
        upper = np.triu(np.ones((n, n), bool), 1)
        matrix[upper] = draw.ints(n * (n - 1) // 2, 2)
        return matrix | matrix.T
    draw.ints(4 * n)  # the original shuffles names that it never uses
    matrix = _tree_matrix(_parents(n, draw.ints(n, most) + 1))
    if kind == "spmax":
        _add_edges(draw, matrix, n * (n.bit_length() - 1) - n)
    return matrix


def _parents(n: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """A tree made depth first: node i asks for a number of children, until there are n nodes.

    Parameters
    ----------
    wanted
        int64, shape (n,), from 1: how many children each node asks for.

    Returns
    -------
    int64, shape (n,): parents, less than their children; the root, 0, is its own.
    """
    parents = [0] * n
    waiting: list[int] = []  # a node as often as it has children to come
    total = 1
    for node, count in enumerate(wanted.tolist()):
        if node:
            parents[node] = waiting.pop()
        count = min(count, n - total)
        total += count
        waiting += [node] * count
    return np.array(parents, np.int64)


def _colouring_parents(draw: Random, n: int, kind: str) -> NDArray[np.int64]:
    """The tree of a file for vertex colouring, as `_parents`."""
    most = {"chain": 1, "star": n}.get(kind) or draw.next_int(n - 1) + 1
    draw.ints(4 * n)
    wanted = draw.ints(n, most) + 1 if 1 < most < n else np.full(n, most)
    return _parents(n, wanted)


def _tree_matrix(parents: NDArray[np.int64]) -> NDArray[np.bool_]:
    n = len(parents)
    matrix = np.zeros((n, n), bool)
    matrix[np.arange(n), parents] = matrix[parents, np.arange(n)] = True
    matrix[0, 0] = False
    return matrix


def _add_edges(draw: Random, matrix: NDArray[np.bool_], count: int) -> None:
    """Add edges with random ends, without those that are there."""
    n = len(matrix)
    flat = matrix.reshape(-1)
    while count > 0:  # no round can add too many
        ends = np.sort(draw.ints(2 * count, n).reshape(-1, 2), axis=1)
        low, high = ends[ends[:, 0] < ends[:, 1]].T
        new = np.unique(low * n + high)
        new = new[~flat[new]]
        flat[new] = True
        flat[new % n * n + new // n] = True
        count -= len(new)


# ---- what comes before and after a graph


def _remainders(draw: Random, count: int, n: int) -> list[int]:
    """``|nextInt() % n|``, as often as asked."""
    return (abs(draw.ints(count)) % n).tolist()


def _identifiers(draw: Random, n: int) -> NDArray[np.int64]:
    """1 to n, shuffled by 4 n exchanges."""
    ids = list(range(1, n + 1))
    places = iter(_remainders(draw, 8 * n, n))
    for x, y in zip(places, places, strict=True):
        ids[x], ids[y] = ids[y], ids[x]
    return np.array(ids, np.int64)


def _traitors(draw: Random, n: int) -> list[int]:
    """n / 8 - 1 distinct nodes, in the order they were drawn."""
    found: dict[int, None] = {}
    while (missing := n // 8 - 1 - len(found)) > 0:
        found.update(dict.fromkeys(draw.ints(missing, n).tolist()))
    return list(found)


def _routing_weights(draw: Random, n: int, weights: str) -> NDArray[np.int64]:
    """Symmetric, shape (n, n). Of the two draws for an edge the later one stays."""
    matrix = np.ones((n, n), np.int64)
    if weights == "wrn":
        matrix[~np.eye(n, dtype=bool)] = draw.ints(n * (n - 1), 20 * n)
        matrix = np.tril(matrix, -1)
        matrix += matrix.T
    np.fill_diagonal(matrix, LARGEST_INT)
    return matrix


def _distinct_weights(draw: Random, n: int) -> NDArray[np.int64]:
    """Symmetric, shape (n, n): numbers that were not in the matrix, then without their sign.

    A negative number is therefore accepted also where its absolute value is in the matrix. The sign
    of the smallest int stays, as in Java.
    """
    seen = {0, LARGEST_INT}
    found: list[int] = []
    while (missing := n * (n - 1) // 2 - len(found)) > 0:
        for value in draw.ints(missing).tolist():
            if value not in seen:
                value = abs(value) if value > -(2**31) else value
                seen.add(value)
                found.append(value)
    matrix = np.zeros((n, n), np.int64)
    matrix[np.triu(np.ones((n, n), bool), 1)] = found
    matrix += matrix.T
    np.fill_diagonal(matrix, LARGEST_INT)
    return matrix
