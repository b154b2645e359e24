"""IMSuite's input generators, bit for bit: the same seed and options give the same text.

A file is a graph of one of a few kinds, with the kernel's other inputs before and after it. One
`java.util.Random` generates all of it, so the order of draws is part of the format. It follows the generators
of Gupta and Nandivada (IMSuite: A benchmark suite for simulating distributed algorithms, JPDC 75, 2015).
`dgsuite.partition.sources.imsuite` reads the files.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.java import Random
from dgsuite.partition.sources.imsuite import KERNELS, RINGS

KINDS = ("spmin", "spmax", "cplt", "rn")
COLOURING_KINDS = ("star", "chain", "rn")

PAPER = {"mn": ("spmin", "chain"), "mx": ("spmax", "star"), "ring": ("ring", "ring")}
"""Kinds of the inputs of the paper's figures: Mn-In, Mx-In and the ring. The second of each is for "vc"."""

OPTIONS = {
    "max": tuple(name for name in KERNELS if name not in RINGS),
    "k": ("kc",),
    "weights": ("dr",),
}
"""The kernels that have an option."""

LARGEST, LARGEST_WEIGHTED = 1 << 15, 1 << 13
"""Maximum number of nodes of a file with a matrix of digits, or of weights. These take some GB of memory."""

BLOCK = 1 << 18
"""Numbers that are converted to text at a time."""

LARGEST_INT = 2**31 - 1
"""Java's largest int; on the diagonal of a matrix of weights it means "no edge"."""


def kinds(kernel: str) -> tuple[str, ...]:
    """The kinds of graph for a kernel. The last one is the default."""
    if kernel in RINGS:
        return ("ring",)
    return COLOURING_KINDS if kernel == "vc" else KINDS


def paper(kernel: str, name: str) -> tuple[str, dict[str, Any]]:
    """Kind and options of an input of the paper's figures: "mn", "mx", or "ring".

    For kernels on rings all three are the same ring.

    Raises
    ------
    InputError
        The kernel has no such input.
    """
    if kernel in RINGS and name in PAPER:
        return PAPER["ring"][0], {}
    if name not in PAPER or name == "ring":
        right = "ring, mn or mx" if kernel in RINGS else "mn or mx"
        raise InputError(f"kind {name!r} is unknown in family 'paper' for {kernel}; it has {right}")
    options: dict[str, dict[str, Any]] = {"kc": {"k": 3}, "dr": {"weights": "weq"}}
    return PAPER[name][kernel == "vc"], options.get(kernel, {})


def normalized(name: str) -> str:
    """The name of a kind in lower case, without hyphens and underscores, and in IMSuite's newer spelling."""
    name = name.lower().replace("-", "").replace("_", "")
    return {"sparmin": "spmin", "sparmax": "spmax"}.get(name, name)


def generate(
    kernel: str, n: int, kind: str | None = None, seed: int = 101, **options: Any
) -> bytes:
    """Generate the input file that IMSuite's generator for a kernel writes.

    Parameters
    ----------
    kernel
        "bf", "by", "dp", "dr", "ds", "dst", "hs", "kc", "lcr", "mis", "mst" or "vc", in upper or lower case.
    n
        Number of nodes.
    kind
        "spmin" (a random tree), "spmax" (n floor(log2 n) - 1 edges), "cplt" (complete) or "rn" (each
        edge with probability 1/2; it may not be connected). For "vc": "star", "chain" or "rn" (all are
        trees). For "lcr" and "hs": "ring". "sp-min" and "SPMIN" also work. By default "rn" or "ring".
    seed
        A Java long; of other integers, only the low 48 bits are used.
    max
        Maximum number of children in the random tree; by default drawn at random. Not for "lcr" and "hs",
        and for "vc" only with "rn", where the original ignores it.
    k
        Committee size of "kc"; by default drawn at random. For "cplt" and "rn" it must be 3, since the
        original ignores the option and writes 3.
    weights
        Weights of "dr": "wrn" (random, the default) or "weq" (all 1).

    Returns
    -------
    ASCII text as the original writes it. For some kernels it does not end with a line break.

    Raises
    ------
    InputError
        The message names the argument and what would be right.

    Examples
    --------
    >>> from dgsuite.genval import generate
    >>> generate("mis", 4, "spmin")
    b'4\\n0100\\n1010\\n0101\\n0010\\n'
    """
    job = _check(kernel, n, kind, seed, options)
    return b"".join(_write(job))


class _Job(NamedTuple):
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
    sort = known[-1] if kind is None else normalized(str(kind))
    if sort not in known:
        raise InputError(f"kind {kind!r} is unknown for {name}; one of {', '.join(known)}")
    unknown = set(options) - set(OPTIONS)
    if unknown:
        raise InputError(f"option {min(unknown)!r} is unknown; one of {', '.join(OPTIONS)}")
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if name not in OPTIONS[option]:
            raise InputError(
                f"option {option!r} has no meaning for {name}; it is for {', '.join(OPTIONS[option])}"
            )
    if name == "vc" and sort != "rn" and "max" in given:
        raise InputError(f"option 'max' has no meaning for a {sort}; it is for the kind rn")
    n = integer("n", n, _least(name, sort, "max" in given), LARGEST_INT)
    most = LARGEST_WEIGHTED if name in ("dr", "mst") else LARGEST
    if name not in RINGS and n > most:
        raise InputError(
            f"n must be at most {most} for {name}, whose file has n x n entries, got {n}; "
            f"the fast family has no such limit"
        )
    if sort == "spmax" and n == 4:
        raise InputError("n must not be 4 for spmax, which needs more edges than 4 nodes can have")
    for option in ("max", "k"):
        if option in given:
            given[option] = integer(option, given[option], 1, LARGEST_INT)
    if "k" in given and sort in ("cplt", "rn") and given["k"] != 3:
        raise InputError(
            f"k must be 3 for {sort}, since the original always writes 3, got {given['k']}"
        )
    if given.get("weights", "wrn") not in ("weq", "wrn"):
        raise InputError(f"weights must be 'weq' or 'wrn', got {given['weights']!r}")
    seed = integer("seed", seed, -inf)
    return _Job(name, n, sort, seed, given.get("max"), given.get("k"), given.get("weights", "wrn"))


def _least(kernel: str, kind: str, has_max: bool) -> int:
    """The smallest number of nodes for which the original's draws are defined."""
    if kernel == "by":
        return 8
    if kernel in RINGS or kind in ("star", "chain") or (has_max and kind in KINDS):
        return 1
    return 2


def integer(name: str, value: Any, least: float, most: float = inf) -> int:
    """An argument as an int.

    Raises
    ------
    InputError
        It is not an integer from `least` to `most`.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    if value > most:
        raise InputError(f"{name} must be at most {most}, got {value}")
    return int(value)


def _write(job: _Job) -> Iterable[bytes]:
    """The parts of a file. Random numbers are drawn in the original's order."""
    draw, n = Random(job.seed), job.n
    yield b"%d" % n
    if job.kernel in RINGS:
        yield _lines(_identifiers(draw, n))
        return
    if job.kernel == "vc":
        parents = _colouring_parents(draw, n, job.kind, job.max)
        yield b"\n0\n" + _rows(_tree_matrix(parents)) + b" " + _lines(parents) + b"\n"
        return
    most = job.max or draw.next_int(n - 1) or 1
    k, traitors = 3, list[int]()
    if job.kernel == "kc":
        drawn = job.k or draw.next_int(n) or 1
        k = 3 if job.kind in ("cplt", "rn") else drawn  # a mistake of the original
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
    """Rows of digits, each followed by a line break."""
    text = np.full((len(matrix), len(matrix) + 1), ord("\n"), np.uint8)
    text[:, :-1] = matrix
    text[:, :-1] += ord("0")
    return text.tobytes()


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
    """A tree made depth first: node i gets `wanted[i]` children, until there are n nodes.

    Parameters
    ----------
    wanted
        Number of children of each node, int64, shape (n,), from 1.

    Returns
    -------
    int64, shape (n,): parents, less than their children. Node 0 is the root and its own parent.
    """
    parents = [0] * n
    open_slots: list[int] = []  # each node as often as it still gets a child
    total = 1
    for node, count in enumerate(wanted.tolist()):
        if node:
            parents[node] = open_slots.pop()
        count = min(count, n - total)
        total += count
        open_slots += [node] * count
    return np.array(parents, np.int64)


def _colouring_parents(draw: Random, n: int, kind: str, most: int | None) -> NDArray[np.int64]:
    """The tree of a file for vertex colouring, with so many children of a node at most; see `_parents`."""
    most = {"chain": 1, "star": n}.get(kind) or most or draw.next_int(n - 1) + 1
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
    """Add `count` edges with random ends; draws that give existing edges are ignored."""
    n = len(matrix)
    flat = matrix.reshape(-1)
    while count > 0:  # each iteration adds at most `count` edges
        ends = np.sort(draw.ints(2 * count, n).reshape(-1, 2), axis=1)
        low, high = ends[ends[:, 0] < ends[:, 1]].T
        new = np.unique(low * n + high)
        new = new[~flat[new]]
        flat[new] = True
        flat[new % n * n + new // n] = True
        count -= len(new)


def _remainders(draw: Random, count: int, n: int) -> list[int]:
    """`count` draws of ``|nextInt() % n|``."""
    return (abs(draw.ints(count)) % n).tolist()


def _identifiers(draw: Random, n: int) -> NDArray[np.int64]:
    """1 to n, shuffled by 4 n swaps."""
    ids = list(range(1, n + 1))
    positions = iter(_remainders(draw, 8 * n, n))
    for x, y in zip(positions, positions, strict=True):
        ids[x], ids[y] = ids[y], ids[x]
    return np.array(ids, np.int64)


def _traitors(draw: Random, n: int) -> list[int]:
    """n / 8 - 1 distinct nodes, in the order of draws."""
    found: dict[int, None] = {}
    while (missing := n // 8 - 1 - len(found)) > 0:
        found.update(dict.fromkeys(draw.ints(missing, n).tolist()))
    return list(found)


def _routing_weights(draw: Random, n: int, weights: str) -> NDArray[np.int64]:
    """Symmetric matrix, shape (n, n). The second of the two draws for an edge is its weight."""
    matrix = np.ones((n, n), np.int64)
    if weights == "wrn":
        matrix[~np.eye(n, dtype=bool)] = draw.ints(n * (n - 1), 20 * n)
        matrix = np.tril(matrix, -1)
        matrix += matrix.T
    np.fill_diagonal(matrix, LARGEST_INT)
    return matrix


def _distinct_weights(draw: Random, n: int) -> NDArray[np.int64]:
    """Symmetric matrix, shape (n, n): absolute values of draws that are not yet in the matrix.

    The test precedes the absolute value, so a negative draw is accepted even if its absolute value is
    already a weight. The smallest int stays negative, as in Java.
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
