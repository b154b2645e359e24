"""Files that name nodes."""

from __future__ import annotations

import numpy as np
import pytest

from dgsuite import InputError
from dgsuite.partition.sources.readers import nodes_of


def named(given, folder):
    return np.asarray(nodes_of(given, folder)).tolist()


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
        ("nodes.txt:id", "nodes.txt:id: no such file"),
        ("bytes.txt", "bytes.txt, line 1: .* is not text in UTF-8"),
    ],
)
def test_what_names_no_nodes_is_refused(given, message, tmp_path):
    (tmp_path / "nodes.txt").write_text("1\n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match=message):
        nodes_of(given, tmp_path)
