"""Readers of text x tokens: a number is read as it stands, or one error names the file and the line."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from dgsuite import Graph, InputError
from dgsuite.partition.sources import readers
from dgsuite.partition.sources.readers import nodes_of
from dgsuite.suites.graphalytics import files

TOKENS = [
    *(b"0", b"1", b"-0", b"+1", b"01", b"-1", b"0.0", b"1.0", b"1.", b".5", b"1.5", b"1e0", b"0.1e1"),
    *(b"9007199254740992", b"9007199254740993", b"9007199254740993.0", b"1e16", b"1e400", b"1e-400"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551615"),
    *(b"18446744073709551616", b"-9223372036854775808", b"-9223372036854775809"),
    *(b"nan", b"inf", b"-inf", b"Infinity", b"1_000", b"0x10", b"0b1", b"1L", b"1j", b"1d0", b"true"),
    *("\u0661".encode(), "\uff11".encode()),
    *(b"\xa01", b"1\xa0", b"1\x85", b"1\x0b", b"1\x0c", b"1\x1c", b"\x1f1"),
    *(b"1\x00", b"\x001", b'"1"', b"(1)", b"--1", b"1e", b"e1", b"+", b"-", b".", b"\xff"),
    *(b"0" * 5000 + b"1", b"1" * 5000, b"0." + b"3" * 5000),
]  # fmt: skip
INTEGER = re.compile(rb"[+-]?[0-9]+")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def integer(token, least, most):
    """The integer that a token is, or None."""
    if not INTEGER.fullmatch(token) or len(token.lstrip(b"+-0")) > 20:
        return None
    value = int(token.lstrip(b"+").lstrip(b"0") or b"0") if token[:1] != b"-" else int(token)
    return value if least <= value <= most else None


def weight(token):
    """The weight that a token is, among integers; or None."""
    whole = integer(token, -(2**63), 2**64 - 1)
    if whole is not None or INTEGER.fullmatch(token):
        return whole
    value = float(token) if NUMBER.fullmatch(token) else math.inf
    return value if math.isfinite(value) else None


def among_floats(token):
    """The same among floats, which do not hold all integers."""
    if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
        return None
    exact = INTEGER.fullmatch(token) and len(token) < 100
    held = not exact or (int(float(token)) == int(token) and -(2**63) <= int(token) < 2**64)
    return float(token) if held else None


def wide(token):
    return None if token.startswith(b"-") else integer(token, 0, 2**64 - 1)


def short(token):
    """IMSuite's files have no number of thousands of digits."""
    return integer(token, 0, 2**63 - 1) if len(token) < 1000 else None


def ids(path, token, where):
    path.write_bytes(b"7 3\n%s\n5 2\n" % (where % token))
    pieces = readers.read_edge_list(path)
    ((src, dst, _),) = (piece.compute() for piece in pieces)
    return (src if where.startswith(b"%") else dst)[1].item()


def weights(path, token, rest):
    path.write_bytes(b"0 1 1\n1 2 %s\n2 3 %s\n" % (token, rest))
    return Graph.read_edge_list(path, clusters=1, directed=True).gather()[0].weights[1].item()


def matrix(path, token, field):
    text = b"%%%%MatrixMarket matrix coordinate %s general\n%% \xff\n3 3 2\n1 2 1\n2 3 %s\n"
    path.write_bytes(text % (field, token))
    return readers.read_matrix_market(str(path)).data[1].item()


def row(path, token):
    head = b"%%MatrixMarket matrix coordinate pattern general\n9 9 2\n1 2\n"
    path.write_bytes(head + token + b" 3\n")
    return readers.read_matrix_market(str(path)).coords[0][1].item()


def imsuite(path, token):
    path.write_bytes(b"3\n5\n%s\n7\n" % token)
    return Graph.read_imsuite(path, "lcr", clusters=1).gather()[0].uid[1].item()


def vertex(path, token):
    path.write_bytes(b"3\n%s\n7\n" % token)
    return files._identifiers(str(path), 0)[1].item()


def nodes(path, token):
    path.write_bytes(b"7\n%s\n" % token)
    return nodes_of(str(path)).tolist()[1]


def named(token):
    """A node: an integer, text as it stands, or None."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return None
    return int(text) if re.fullmatch(r"-?[0-9]{1,1000}", text) else text


SIGNED, UNSIGNED = (-(2**63), 2**63 - 1), (0, 2**64 - 1)
READERS = {
    "sources of edges": (lambda p, t: ids(p, t, b"%s 1"), lambda t: integer(t, 0, 2**63 - 1)),
    "targets of edges": (lambda p, t: ids(p, t, b"1 %s"), lambda t: integer(t, 0, 2**63 - 1)),
    "weights": (lambda p, t: weights(p, t, b"2"), weight),
    "weights among floats": (lambda p, t: weights(p, t, b"0.5"), among_floats),
    "rows of a matrix": (row, lambda t: (lambda v: None if v is None else v - 1)(integer(t, 1, 9))),
    "a matrix of integers": (lambda p, t: matrix(p, t, b"integer"), lambda t: integer(t, *SIGNED)),
    "a matrix of unsigned integers": (lambda p, t: matrix(p, t, b"unsigned-integer"), wide),
    "identifiers of IMSuite": (imsuite, short),
    "nodes": (nodes, named),
    "vertices of Graphalytics": (vertex, wide),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_number_is_read_as_it_stands_or_refused(tmp_path, reader):
    read, expected = READERS[reader]
    path = tmp_path / "numbers.txt"
    wrong = []
    for token in TOKENS:
        right = expected(token)
        try:
            found = read(path, token)
        except InputError as error:
            text = str(error)
            found = None
            named = str(path) in text and re.search(r"[Ll]ine \d", text)
            if right is not None or not named or len(text) > 20_000:
                wrong.append((token[:30], right, text[:200]))
            continue
        if found != right or type(found) is not type(right):
            wrong.append((token[:30], right, found))
    assert not wrong


def test_arrays_of_integers_that_floats_do_not_hold_are_refused():
    for dtype, value in ((np.int64, 2**53 + 1), (np.int64, 2**63 - 1), (np.uint64, 2**64 - 1)):
        weights = np.array([value], dtype), np.array([0.5])
        pieces = readers.Pieces([(np.array([i]), np.array([i + 1]), weights[i]) for i in (0, 1)])
        with pytest.raises(InputError, match=f"float64 does not hold, such as {value}"):
            Graph.from_edges(pieces, client=None)


def test_ids_written_as_floats_are_names_where_ends_may_be_names(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("0.0 1.0\n1.0 2.5\n")
    with pytest.raises(InputError, match=r"line 1: '0\.0 1\.0' is not an edge.*12 and not 12\.0"):
        Graph.read_edge_list(path, clusters=1)
    labels = Graph.read_edge_list(path, clusters=1, relabel=True).labels
    assert list(labels) == ["0.0", "1.0", "2.5"]
