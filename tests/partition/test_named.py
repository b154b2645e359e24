"""Files that name nodes."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from dgsuite import InputError
from dgsuite.partition.sources.readers import nodes_of

RECORDS = pd.DataFrame({"id": ["ann", "bob", "cid"], "age": [3, 4, 5]})


def named(given, folder):
    found = nodes_of(given, folder)
    return (found.compute() if isinstance(found, dd.Series) else np.asarray(found)).tolist()


@pytest.mark.parametrize(
    "given", ["records.parquet:id", "folder:id", "*.parq:id", "records.csv:id"]
)
def test_a_column_of_a_table(given, tmp_path):
    RECORDS.to_parquet(tmp_path / "records.parquet")
    RECORDS.to_parquet(tmp_path / "more.parq")
    (tmp_path / "folder").mkdir()
    RECORDS.to_parquet(tmp_path / "folder" / "part-0.parquet")
    RECORDS.to_csv(tmp_path / "records.csv", index=False)
    assert named(given, tmp_path) == ["ann", "bob", "cid"]


def test_the_only_column_needs_no_name(tmp_path):
    RECORDS[["age"]].to_parquet(tmp_path / "ages.parquet")
    RECORDS[["id"]].to_csv(tmp_path / "ids.csv.gz", index=False)
    assert named("ages.parquet", tmp_path) == [3, 4, 5]
    assert named("ids.csv.gz", tmp_path) == ["ann", "bob", "cid"]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("7\n-8\n\n# all\n9 # the last\n", [7, -8, 9]),
        ("ann\n 12 \n", ["ann", "12"]),
        (f"{2**63}\n", [2**63]),
        ("# none\n", []),
    ],
)
def test_lines_of_text(text, nodes, tmp_path):
    (tmp_path / "a:b.txt").write_text(text)
    assert named("a:b.txt", tmp_path) == nodes or named(str(tmp_path / "a:b.txt"), "") == nodes


def test_a_number(tmp_path):
    assert nodes_of("12") == nodes_of(12) == 12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none.txt", "none.txt: no such file"),
        ("records.parquet", "which column names nodes. records.parquet:COLUMN, one of id, age"),
        ("records.parquet:ids", "records.parquet: unknown column 'ids'"),
        ("nodes.txt:id", "nodes.txt: text has no columns: a node is a line"),
        ("damaged.parquet:id", "damaged.parquet: cannot be read"),
        ("bytes.txt", "bytes.txt, line 1: .* is not text in UTF-8"),
    ],
)
def test_what_names_no_nodes_is_refused(given, message, tmp_path):
    RECORDS.to_parquet(tmp_path / "records.parquet")
    (tmp_path / "nodes.txt").write_text("1\n")
    (tmp_path / "damaged.parquet").write_text("PAR1")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match=message):
        nodes_of(given, tmp_path)
