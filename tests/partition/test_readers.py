"""Graphs read from files: Matrix Market, edge lists in text and Parquet; numbers are read as they stand."""

import gzip
import math
import re
import sys

import dask.dataframe as dd
import fsspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dgsuite import Graph, InputError
from dgsuite.base.extras import pip_install
from dgsuite.partition.client import session
from dgsuite.partition.sources import readers
from dgsuite.partition.sources.readers import nodes_of
from dgsuite.suites.graphalytics import files
from tests.support.cases import edge_lists, in_turn
from tests.support.graphs import same

HEADER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "2 3 1\n1 1 1.0\n", "must be square, it is 2 x 3"),
        ("hello\n", r"g\.mtx: not a Matrix Market file"),
        ("", r"g\.mtx: not a Matrix Market file"),
        (HEADER + "2 2 2\n1 2 1.0\n1 x 1.0\n", r"g\.mtx: not a Matrix Market file: Line 4"),
        (HEADER + "2 2 2\n1 2 1.0\n", r"g\.mtx: not a Matrix Market file: Truncated"),
        (HEADER + "2 2 1\n3 2 1.0\n", r"g\.mtx: not a Matrix Market file: Line 3"),
        (HEADER + "2 2 1\n1 2 1.0\n", "not symmetric"),
        (HEADER + "2 2 2\n1 2 nan\n2 1 nan\n", r"entry \(0, 1\) of the matrix is nan"),
        (HEADER + "2 2 2\n1 2 inf\n2 1 inf\n", r"entry \(0, 1\) of the matrix is inf"),
    ],
)
def test_bad_matrix_market_files(tmp_path, text, message):
    path = tmp_path / "g.mtx"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Graph.read_matrix_market(path)


RING = "# a ring\n0 1\n1\t2\r\n\n2,3\n   3 , 0  # the last"


def test_edge_lists_as_text(tmp_path):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    path = tmp_path / "ring.txt"
    path.write_text(RING)
    same(expected, Graph.read_edge_list(path))
    packed = tmp_path / "ring.txt.gz"
    packed.write_bytes(gzip.compress(RING.encode()))
    same(expected, Graph.read_edge_list(packed))
    assert Graph.read_edge_list(path, n=9).n == 9
    path.write_text("0 1 2.5\n1 2 0.5\n")
    assert Graph.read_edge_list(path).to_scipy().max() == 2.5


@given(edge_lists(), st.integers(8, 90), st.booleans())
def test_edge_lists_in_blocks(tmp_path, case, block, packed):
    n, edges = case
    path = tmp_path / ("e.txt.gz" if packed else "e.txt")
    text = "#\n" + "".join(f"{u} {v}\t{w}\n" for u, v, w in edges)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dgsuite.partition.sources.text.BLOCK", block)
        read = Graph.read_edge_list(path, n=n, clusters=2)
    src, dst, weights = ([e[i] for e in edges] for i in range(3))
    if edges:
        same(Graph.from_edges(src, dst, n=n, weights=np.array(weights, float)), read)
    assert (read.n, read.weighted) == (n, bool(edges))


BAD = ["1 x", "5", "1 2 3 4", "1 2.5", "a b", "-1 2", "1 2 3", "nan 1", "0,,1", "0, ,1", ",0,1"]
BAD += ["0,1,,2", "3 1"]
WAYS = [(1 << 20, False), (5, True), (5, False), (1 << 20, True)]


@pytest.mark.parametrize(("line", "how"), in_turn(BAD, WAYS))
def test_bad_lines_of_edge_lists(tmp_path, monkeypatch, line, how):
    block, packed = how
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", block)
    path = tmp_path / ("bad.txt.gz" if packed else "bad.txt")
    text = f"# edges\n0 1\n{line}\n1 2\n".encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    where = rf"bad\.txt(\.gz)?, line 3: '{line}' is not an edge"
    with pytest.raises(InputError, match=where if line != "1 2 3" else "."):
        Graph.read_edge_list(path, n=3)
    path.with_suffix(".txt").write_text("0,1 # a,,b\n# ,,\n 1 ,\t2\n")
    assert Graph.read_edge_list(path.with_suffix(".txt"), n=3).m == 2


@pytest.mark.parametrize("block", [1 << 20, 24])
@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([2**53 + 1, 5, -(2**53) - 1], np.int64),
        ([2**63 + 1, 3, 2**64], None),
        ([2**63 + 1, 3, -1], None),
        ([2**53 + 1, 7, 0.5], None),
        ([0.5, 7, 2**53 + 1], None),
        ([2**53, 7, 0.5], np.float64),
        ([2**53 + 1, 2**63 + 3, 7], np.uint64),
        ([7, 2, 0.5], np.float64),
        ([0.5, 2, 1e30], np.float64),
    ],
)
def test_weights_of_text_are_exact(tmp_path, monkeypatch, weights, dtype, block):
    """In any blocks: integers as such, and floats where there is one."""
    monkeypatch.setattr("dgsuite.partition.sources.text.BLOCK", block)
    path = tmp_path / "e.txt"
    path.write_text("".join(f"{i} {i + 1} {w}\n" for i, w in enumerate(weights)))
    if dtype is None:
        with pytest.raises(InputError, match=r"64.bit|9007199254740993"):
            Graph.read_edge_list(path)
        return
    graph = Graph.read_edge_list(path, directed=True, clusters=2)
    assert graph.weight_dtype == dtype
    assert graph.to_scipy().data.tolist() == weights


NAMES = [("http://x.org/verb", "http://x.org/onto#eat"), ("http://x.org/noun", "50%"), ("#", "%d")]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("between", [" ", "\t", ", "])
def test_a_comment_begins_a_line_or_follows_a_blank(tmp_path, between, packed):
    path = tmp_path / ("names.txt.gz" if packed else "names.txt")

    def read(head, lines, **how):
        text = head + "".join(between.join(ends) + tail for ends, tail in lines)
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        graph = Graph.read_edge_list(path, relabel=True, **how)
        return list(graph.to_networkx().edges)

    lines = [(NAMES[0], "\n"), (NAMES[1], "  # not a name\n")]
    for head in ("% sym unweighted\n% 2 3 3\n", "  # édges\n", "%%MatrixMarket\n", ""):
        assert set(map(frozenset, read(head, lines))) == set(map(frozenset, NAMES[:2]))
    other = [(NAMES[2], "\n"), (NAMES[0], " // the last\n")]
    for marks in ("//", ["//", ";"]):
        read(";\n" * (marks != "//"), other, comments=marks)
        found = read("// 7\n", other, comments=marks)
        assert set(map(frozenset, found)) == {frozenset(NAMES[2]), frozenset(NAMES[0])}
    assert len(read("", [(NAMES[2], "\n")], comments=None)) == 1
    with pytest.raises(InputError, match="comments must be marks such as '#', got"):
        read("", lines, comments=["#", ""])


def test_numbers_after_comments_of_several_kinds(tmp_path):
    path = tmp_path / "konect.txt"
    path.write_text("% sym weighted\n% 2 3 3\n1 2 5\n# more\n2 3 7 % the last\n")
    assert Graph.read_edge_list(path).to_scipy().sum() == 24
    with pytest.raises(InputError, match=r"line 1: '% sym weighted' is not an edge"):
        Graph.read_edge_list(path, comments="#")


def test_patterns_and_urls_of_edge_lists(tmp_path, monkeypatch):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    (tmp_path / "part1.txt").write_text("0 1\n1 2\n")
    (tmp_path / "part2.txt").write_text("2 3\n3 0\n")
    (tmp_path / "part3.txt.gz").write_bytes(gzip.compress(b"0 1\n"))
    same(expected, Graph.read_edge_list(tmp_path / "part*.txt*"))
    same(expected, Graph.read_edge_list(f"file://{tmp_path}/part*"))
    frame = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 3, 0]})
    frame[:2].to_parquet(tmp_path / "edges-1.parquet")
    frame[2:].to_parquet(tmp_path / "edges-2.parquet")
    same(expected, Graph.read_edge_list(tmp_path / "edges-*.parquet"))
    same(expected, Graph.read_edge_list(f"file://{tmp_path}/edges-*.parquet"))
    # the memory is this process's, so no worker can read it
    monkeypatch.setattr(session, "current_client", lambda client: client)
    with fsspec.open("memory://dgsuite/ring.txt", "wb") as file:
        file.write(b"0 1\n1 2\n2 3\n3 0")
    same(expected, Graph.read_edge_list("memory://dgsuite/ring.txt"))
    for name in (tmp_path / "none*", f"file://{tmp_path}/none", "memory://dgsuite/none*.txt"):
        with pytest.raises(InputError, match="no such file"):
            Graph.read_edge_list(name)
    with pytest.raises(InputError, match="cannot be opened: Protocol not known"):
        Graph.read_edge_list("nothing://edges.txt")


def damaged(text):
    packed = bytearray(gzip.compress(text.encode()))
    packed[len(packed) // 2] ^= 255
    return bytes(packed)


@pytest.mark.parametrize("damage", [damaged, lambda text: gzip.compress(text.encode())[:-9]])
def test_damaged_archives(tmp_path, damage):
    edges = "".join(f"{i + 2} {i * 7919 % 1000 + 1}\n" for i in range(999))
    path = tmp_path / "e.txt.gz"
    path.write_bytes(damage(edges))
    with pytest.raises(InputError, match=r"e\.txt\.gz: cannot be read"):
        Graph.read_edge_list(path)
    path = tmp_path / "e.mtx.gz"
    path.write_bytes(damage(f"{HEADER.replace('real', 'pattern')}1000 1000 999\n{edges}"))
    with pytest.raises(InputError, match=r"e\.mtx\.gz: not a Matrix Market file"):
        Graph.read_matrix_market(path)


def test_unreadable_edge_lists(tmp_path):
    path = tmp_path / "e.txt"
    for reader in (Graph.read_matrix_market, Graph.read_edge_list):
        with pytest.raises(InputError, match=r"e\.txt: no such file"):
            reader(path)
    for text, message in (
        ("", "the file is empty"),
        ("0 1 2\n1 2 nan\n", r"e\.txt, line 2: '1 2 nan' is not an edge"),
        ("# nothing\n", "at least one node"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            Graph.read_edge_list(path)
    assert Graph.read_edge_list(path, n=2).m == 0


def test_edge_lists_as_parquet(tmp_path, monkeypatch):
    expected = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    path = tmp_path / "ring.parquet"
    frame = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 3, 0], "other": 1})
    frame.to_parquet(path)
    same(expected, Graph.read_edge_list(path))
    same(expected, Graph.read_edge_list(path, source="target", target="source"))
    dd.from_pandas(frame.assign(weight=2.5), npartitions=3).to_parquet(tmp_path / "folder")
    folder = Graph.read_edge_list(tmp_path / "folder")
    assert (folder.m, folder.to_scipy().max()) == (4, 2.5)
    frame.rename(columns={"target": "to"}).to_parquet(path)
    with pytest.raises(InputError, match=r"ring\.parquet: no column 'target'; there are: source"):
        Graph.read_edge_list(path)
    path.write_text("0 1\n")
    with pytest.raises(InputError, match=r"ring\.parquet: cannot be read"):
        Graph.read_edge_list(path)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(InputError, match=re.escape(pip_install("parquet"))):
        Graph.read_edge_list(path)


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


SIGNED = (-(2**63), 2**63 - 1)
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


def test_ids_written_as_floats_are_names_where_ends_may_be_names(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("0.0 1.0\n1.0 2.5\n")
    with pytest.raises(InputError, match=r"line 1: '0\.0 1\.0' is not an edge.*12 and not 12\.0"):
        Graph.read_edge_list(path, clusters=1)
    labels = Graph.read_edge_list(path, clusters=1, relabel=True).labels
    assert list(labels) == ["0.0", "1.0", "2.5"]


def test_arrays_of_integers_that_floats_do_not_hold_are_refused():
    for dtype, value in ((np.int64, 2**53 + 1), (np.int64, 2**63 - 1), (np.uint64, 2**64 - 1)):
        weights = np.array([value], dtype), np.array([0.5])
        pieces = readers.Pieces([(np.array([i]), np.array([i + 1]), weights[i]) for i in (0, 1)])
        with pytest.raises(InputError, match=f"float64 does not hold, such as {value}"):
            Graph.from_edges(pieces, client=None)
