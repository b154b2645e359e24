"""Files of CSV: names stay as they are written, blocks do not matter, and pandas is all that it takes."""

import gzip

import pytest

from dgsuite import Graph, InputError, genval
from dgsuite.partition.sources.readers import nodes_of
from tests.support.processes import python

HEAD = "source,target,weight\n"
BIG = 2**53 + 1


def read(tmp_path, rows, head=HEAD, **how):
    """The graph of some lines, which has weights if they have."""
    path = tmp_path / "edges.csv"
    path.write_text(head + rows, encoding="utf-8")
    weight = "weight" if rows.split("\n")[0].count(",") > 1 else None
    how = {"client": None, "duplicates": "min", "weight": weight, **how}
    return Graph.from_csv(path, **how)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ("NA,ZA\nZA,BW\n", ["BW", "NA", "ZA"]),
        ("nan,null\nNone,N/A\n", ["N/A", "None", "nan", "null"]),
        ("007,7\n7,8\n", ["007", "7", "8"]),
        ("+7,7\n", ["+7", "7"]),
        ("12e4,1\n2,3\n", ["1", "12e4", "2", "3"]),
        ("-07,1\n", ["-07", "1"]),
        ("True,False\n", ["False", "True"]),
        ("7,x\n8,y\n", ["7", "8", "x", "y"]),
        ('"0 7",7\n', ["0 7", "7"]),
        ("7,8\n-9,0\n", [-9, 0, 7, 8]),
        (f"{BIG},{2**63 + 1}\n", [BIG, 2**63 + 1]),
        ("1.0,2\n2.0,3\n", [1, 2, 3]),
        ("7,8,0.5\n8,9,1e-05\n", [7, 8, 9]),
        ("7,8,05\n8,9,+1\n", [7, 8, 9]),
    ],
)
@pytest.mark.parametrize("head", [HEAD, "\ufeff" + HEAD])
def test_names_stay_as_they_are_written(tmp_path, rows, labels, head):
    graph = read(tmp_path, rows, head)
    assert list(graph.labels) == labels
    assert graph.built.kinds[0] == ("text" if type(labels[0]) is str else "integers")


def test_what_is_said_of_types_is_so(tmp_path):
    for kinds in (str, {"source": str, "target": str}):
        graph = read(tmp_path, "1,2,5\n2,3,7\n", read={"dtype": kinds})
        assert list(graph.labels) == ["1", "2", "3"]
        assert sorted(graph.to_scipy().data.tolist()) == [5, 5, 7, 7]
    assert list(read(tmp_path, "07,7\n", read={"dtype": int}, loops="keep").labels) == [7]
    absent = {"keep_default_na": True, "na_values": []}
    with pytest.raises(InputError, match="column 'source': 1 of 1 rows have no value"):
        read(tmp_path, "NA,ZA\n", read=absent)


@pytest.mark.parametrize("size", [1, 7, 30, "1 kB"])
def test_blocks_do_not_matter(tmp_path, size, client):
    rows = "".join(f"{k},{k + 1},{k / 2}\n" for k in range(40))
    whole = read(tmp_path, rows)
    for where in (None, client):
        graph = read(tmp_path, rows, read={"blocksize": size}, client=where)
        assert graph.built == whole.built
        assert (graph.to_scipy() != whole.to_scipy()).nnz == 0
    (tmp_path / "more.csv").write_text(HEAD + "0,2,0.5\n")
    for path in (tmp_path / "*.csv", f"file://{tmp_path}/*.csv"):
        assert Graph.from_csv(path, client=client).m == 41
    packed = tmp_path / "edges.csv.gz"
    packed.write_bytes(gzip.compress((HEAD + rows).encode()))
    assert Graph.from_csv(packed, weight="weight", read={"blocksize": size}).m == 40
    with pytest.raises(InputError, match=r"all be integers, all be text.*'dtype': str"):
        read(tmp_path, rows + "x,y,1\n", read={"blocksize": 30})


def test_arguments_of_pandas(tmp_path):
    rows = "# a comment\n1;2\n2;3\n"
    for more in ({"comment": "#"}, {"skiprows": [1], "blocksize": 1}):
        assert read(tmp_path, rows, "source;target\n", read={"sep": ";", **more}).n == 3
    named = {"header": None, "names": ["source", "target"], "blocksize": 2}
    assert list(read(tmp_path, "1.0,2\n2.0,3\n", "", read=named).labels) == [1, 2, 3]
    for column in (0, "row"):
        how = {"weight": None, "missing": "drop", "read": {"index_col": column}}
        graph = read(tmp_path, "7,1,2\n8,2,\n", "row,source,target\n", **how)
        assert (list(graph.labels), graph.built.missing) == ([1, 2], 1)
    (tmp_path / "bare.csv").write_text("1.0,2\n2.0,\n")
    graph = Graph.from_csv(tmp_path / "bare.csv", 0, 1, read={"header": None}, missing="drop")
    assert list(graph.labels) == [1, 2]
    with pytest.raises(InputError, match="unexpected keyword argument 'seb'"):
        read(tmp_path, "1,2\n", read={"seb": ";"})
    with pytest.raises(TypeError, match=r"no 'sep'; arguments of pandas.read_csv go into read="):
        read(tmp_path, "1,2\n", sep=";")


def test_nodes_of_a_column(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("\ufeffid,age\nNA,3\n007,4\n")
    graph = Graph.from_edges(["NA"], ["7"], nodes=nodes_of(f"{path}:id"), relabel=True)
    assert list(graph.labels) == ["007", "7", "NA"]
    path = tmp_path / "nodes.txt"
    path.write_text("\ufeff% all\n7\n8 # the last\n")
    assert nodes_of(str(path)).tolist() == [7, 8]


@pytest.mark.parametrize("packed", [False, True])
def test_a_text_may_begin_with_the_mark_of_utf8(tmp_path, packed):
    mark, write = "\ufeff".encode(), gzip.compress if packed else bytes
    matrix = b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"
    for name, text, read in (
        ("m.mtx", matrix, Graph.read_matrix_market),
        ("e.txt", b"0 1\n", Graph.read_edge_list),
        ("w.txt", b"0 1\n", lambda path: Graph.read_edge_list(path, relabel=True)),
        ("e.csv", b"source,target\n0,1\n", Graph.from_csv),
    ):
        path = tmp_path / (name + ".gz" * packed)
        path.write_bytes(write(mark + text))
        graph = read(path)
        assert (graph.n, graph.m, graph.weighted) == (2, 1, False)
        assert graph.labels is None or list(graph.labels) == [0, 1]
    given = genval.generate("mis", 8, "spmin", seed=101)
    assert Graph.read_imsuite(mark + given, "mis").n == 8


def test_pandas_is_all_that_it_takes(tmp_path):
    (tmp_path / "edges.csv").write_text(HEAD + "ann,bob,1.5\nbob,cid,2\n")
    program = """
import sys
sys.modules.update({"pyarrow": None, "dask.dataframe": None})
import dgsuite
graph = dgsuite.Graph.from_csv("edges.csv", weight="weight")
print(list(graph.labels), dgsuite.run("wcc", graph).component.values.tolist())
"""
    done = python("-c", program, cwd=tmp_path)
    assert done.stdout == "['ann', 'bob', 'cid'] ['ann', 'ann', 'ann']\n", done.stderr
