"""Read the input files of IMSuite.

Each file starts with the number of nodes. Most have an adjacency matrix of n lines of n digits. What comes
before and after it depends on the kernel. (Source: the readers and generators of the original.)
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, check_path
from dgsuite.partition.sources.text import MARK

INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")

RINGS = ("lcr", "hs")
ROOTED = ("bf", "dst", "vc")
KERNELS = ("bf", "by", "dp", "dr", "ds", "dst", "hs", "kc", "lcr", "mis", "mst", "vc")

Source = str | os.PathLike[str] | bytes
"""A path, or the content of a file."""


@dataclass
class Input:
    """The content of an input file.

    Attributes
    ----------
    n
        Number of nodes.
    src, dst
        Ends of each edge, shape (m,). Each edge occurs once.
    weights
        Weight of each edge, for DR and MST.
    uid
        Identifier of each node, for DP, HS, KC and LCR.
    attrs
        Other values: ``root``, ``k``, ``votes``, ``traitors``, ``parents``.
    """

    n: int
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None
    uid: NDArray[np.int64] | None = None
    attrs: dict[str, Any] = field(default_factory=dict)


def recognised(path: str) -> bool:
    """Whether a file looks like an input of IMSuite's: its first line is one number.

    A line of an edge list has at least two. A file that cannot be read is none.
    """
    try:
        with open(path, "rb") as file:
            first = next((line for line in file if line.strip()), b"")
    except OSError:
        return False
    return first.strip().isdigit()


class _Lines:
    """The lines of a file, and errors that name them."""

    def __init__(self, source: Source) -> None:
        self.path = "<generated>" if isinstance(source, bytes) else source
        try:
            if isinstance(source, bytes):
                content = source
            else:
                with open(source, "rb") as file:
                    content = file.read()
            self.lines = content.removeprefix(MARK).decode("ascii").split("\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"{self.path}, line {line}: not a text file in ASCII") from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None
        self.at = 0
        self._split_first_line()

    def _split_first_line(self) -> None:
        """Insert the line break between the number of nodes and row 0, which some IMSuite files lack."""
        first = self.lines[0].strip()
        rows = sum(bool(line.strip()) for line in self.lines)
        if first.startswith(str(rows)) and len(first) == len(str(rows)) + rows:
            self.lines[0] = str(rows)
            self.lines.insert(1, first[len(str(rows)) :])

    def fail(self, what: str) -> NoReturn:
        raise InputError(f"{self.path}, line {self.at}: {what}")

    def next(self, what: str) -> str:
        """The next line that is not blank; `what` describes it in errors."""
        while self.at < len(self.lines):
            line = self.lines[self.at].strip(" \t\r")
            self.at += 1
            if line:
                return line
        self.fail(f"the file ends where {what} should be")

    def integer(self, what: str, low: int, high: int | None = None) -> int:
        text = self.next(what)
        if not INTEGER.fullmatch(text):
            self.fail(f"expected {what}, an integer, found {text[:80]!r}")
        value = int(text)
        if value < low or (high is not None and value > high):
            limits = f"at least {low}" if high is None else f"from {low} to {high}"
            self.fail(f"{what} must be {limits}, found {value}")
        if value > np.iinfo(np.int64).max:
            self.fail(f"{what} does not fit into 64 bits: {value}")
        return value

    def rest(self) -> None:
        for line in self.lines[self.at :]:
            self.at += 1
            if line.strip():
                self.fail(f"unexpected text after the end: {line.strip()!r}")


def read(source: Source, kernel: str) -> Input:
    """Read the input file of a kernel.

    Parameters
    ----------
    source
        Path of the file, or its content as bytes.
    kernel
        One of `KERNELS`, in upper or lower case.

    Raises
    ------
    InputError
        The message names the file ("<generated>" for bytes), the line, and what was expected.
    """
    check_path(source, bytes_too=True)
    name = str(kernel).lower()
    if name not in KERNELS:
        raise InputError(
            f"no IMSuite input format for kernel {kernel!r}; one of {', '.join(KERNELS)}"
        )
    lines = _Lines(source)
    n = lines.integer("the number of nodes", 1)
    if name in RINGS:
        ids = _ids(lines, n)
        lines.rest()
        nodes = np.arange(n)
        return Input(n, nodes, (nodes + 1) % n, uid=ids)
    attrs: dict[str, Any] = {}
    if name in ROOTED:
        attrs["root"] = lines.integer("the root", 0, n - 1)
    elif name == "kc":
        attrs["k"] = lines.integer("the committee size K", 1)
    src, dst = _adjacency(lines, n)
    found = Input(n, src, dst, attrs=attrs)
    if name in ("kc", "dp"):
        found.uid = _ids(lines, n)
    elif name == "by":
        attrs["votes"] = list(map(int, _digits(lines, n, "the votes")))
        attrs["traitors"] = [lines.integer("a traitor", 0, n - 1) for _ in range(n // 8 - 1)]
    elif name in ("dr", "mst"):
        found.weights = _weights(lines, n, src, dst)
    elif name == "vc":
        attrs["parents"] = [lines.integer("a parent", 0, n - 1) for _ in range(n)]
    lines.rest()
    return found


def _ids(lines: _Lines, n: int) -> NDArray[np.int64]:
    return np.array([lines.integer("an identifier", 0) for _ in range(n)], np.int64)


def _weights(
    lines: _Lines, n: int, src: NDArray[np.int64], dst: NDArray[np.int64]
) -> NDArray[np.int64]:
    values = [lines.integer("a weight", -(2**31), 2**31 - 1) for _ in range(n * n)]
    matrix = np.array(values, np.int64).reshape(n, n)
    differ = np.flatnonzero(matrix[src, dst] != matrix[dst, src])
    if len(differ):
        i, j = int(src[differ[0]]), int(dst[differ[0]])
        lines.fail(
            f"edge ({i}, {j}) has two weights: {matrix[i, j]} in row {i}, {matrix[j, i]} in row {j}"
        )
    return matrix[src, dst]


def _digits(lines: _Lines, n: int, what: str) -> str:
    text = lines.next(what)
    if len(text) != n:
        lines.fail(f"{what} must have {n} digits, found {len(text)}")
    if wrong := text.lstrip("01")[:1]:
        lines.fail(f"{what} must be digits 0 and 1, found {wrong!r}")
    return text


def _adjacency(lines: _Lines, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = [_digits(lines, n, f"adjacency row {i}") for i in range(n)]
    matrix = np.frombuffer("".join(rows).encode(), np.uint8).reshape(n, n) == ord("1")
    one_way = np.argwhere(matrix != matrix.T)
    if len(one_way):
        i, j = map(int, one_way[0])
        lines.fail(f"the adjacency is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ")
    src, dst = np.nonzero(np.triu(matrix))
    return src, dst
