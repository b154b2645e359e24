"""Statistics of code."""

import csv
import doctest

import pytest

from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.studies.statics import counting as statics
from tests.support import mains


def test_example():
    assert doctest.testmod(statics).failed == 0


COUNTS = [
    # tasks, joins, barriers, locks: by hand, from the programs
    (KERNELS["bf"], "finish_async", (2, 2, 0, 2)),
    (KERNELS["bf"], "clocked", (1, 1, 1, 2)),
    (KERNELS["ds"], "clocked", (1, 1, 8, 2)),
    (KERNELS["dst"], "finish_async", (7, 7, 0, 5)),
    (KERNELS["mis"], "clocked", (2, 2, 3, 6)),
    (RECURSIVE["bf"], "finish_async", (2, 2, 0, 3)),
    (RECURSIVE["bf"], "clocked", (1, 1, 1, 3)),
    (RECURSIVE["mst"], "clocked", (5, 5, 7, 4)),
]


@pytest.mark.parametrize(("kernel", "style", "counts"), COUNTS)
def test_counts(kernel, style, counts):
    assert statics.statics(kernel, style)[4:] == counts


def test_lines(tmp_path):
    """Neither blank lines, nor comments, nor docstrings."""
    path = tmp_path / "code.py"
    text = ['"""Text', 'of two lines."""', "", "import os  # why", "", "# no", "def f(", "    a,"]
    text += ["):", '    """Says."""', "    return {", "        a: os,", "    }"]
    path.write_text("\n".join(text))
    assert statics._lines(str(path)) == 7


def test_command(tmp_path):
    assert mains.statics(["--csv", str(tmp_path / "t.csv")]) == 0
    with open(tmp_path / "t.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (12 + 5)
    assert {row["form"] for row in rows} == {"iterative", "recursive"}
    assert all(int(row["lines"]) > 20 for row in rows)
