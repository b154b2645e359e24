"""Figures 7, 8 and 10 of IMSuite from their experiment files: every cell equal, or explained."""

import csv

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.base.files import write_csv
from dgsuite.core.executors import serial
from dgsuite.experiment import main as experiment
from dgsuite.kernels import KCommittee
from dgsuite.studies.report import results, tables

DIFFER = {
    "figure07": {"ds FAC barriers", "lcr FA finishes", "lcr FAC finishes"},
    "figure08": {
        f"{name} comm" for name in ("kc FA", "vc FA", "hs FA", "hs FAC", "lcr FA", "lcr FAC")
    },
    "figure10": {
        *(
            f"bf {form} {v}"
            for form in ("FA", "FAC")
            for v in ("asyncs", "finishes", "comm", "mutexes")
        ),
        *("bf FAC barriers", "mst FAC comm"),
    },
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("figure", "count"), [("figure07", 138), ("figure08", 64), ("figure10", 70)]
)
def test_every_cell_is_equal_or_explained(figure, count, here, tmp_path):
    found = here(experiment, figure, "--output", tmp_path / "out.nc", "-q")
    assert found.returncode == 0, found.stderr
    assert "cells are equal" in found.stderr
    with open(tmp_path / "out.csv") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == count
    for cell in cells:
        slips = int(cell["loops"]) not in (-1, int(cell["ours"]))
        explained = len(cell["why"]) > 40 if int(cell["difference"]) or slips else not cell["why"]
        assert explained, cell
    differing = {f"{c['kernel']} {c['column']}" for c in cells if int(c["difference"])}
    if figure == "figure07":  # beside the original's loops, whatever the formulas say
        of_runs = [c for c in cells if c["printed"]]
        assert len(of_runs) == 62
        assert sum(c["loops"] == "-1" for c in of_runs) == 6  # MST's
        differing = {
            f"{c['kernel']} {c['column']}" for c in of_runs if c["loops"] not in ("-1", c["ours"])
        }
    assert differing == DIFFER[figure]


def test_a_difference_that_nothing_explains_is_an_error():
    graph = genval.graph("spmin", 64, family="imsuite", kernel="bf")
    ds = dgsuite.run("bf", graph, style="serial", faithful=True, count_as="finish_async")
    ds.attrs["kind"] = "spmin"
    cells = tables.compare("figure8", [ds])
    assert [(c.column, c.ours, c.paper, c.why) for c in cells] == [
        ("FA comm", 1009, 1009, None),
        ("mutexes", 126, 126, None),
    ]
    tables.require(cells)
    ds["comm"] = ds.comm + 1
    cells = tables.compare("figure8", [ds])
    with pytest.raises(dgsuite.RunError, match=r"bf Mn FA comm \(\+7\)"):
        tables.require(cells)
    kept = results.cells(results.collect(8, [ds]))
    assert [c.why for c in kept] == [c.why for c in cells] == ["", None]


@pytest.mark.parametrize(("kind", "pairs", "difference"), [("spmin", 12, 177), ("spmax", 3, 186)])
def test_leaders_explain_kc(kind, pairs, difference):
    """Pairs of an iteration and a leader other than node 0, whose launches alone the paper counts."""
    graph = genval.graph(kind, 64, family="imsuite", kernel="kc", k=3)
    seen = []

    def look(site):
        state = site.states[0]
        if look.last is not None and state.offer is not look.last:
            seen.append(np.flatnonzero(state.leading == site.clusters[0].uid))
        look.last = state.offer

    look.last = None
    serial.run(KCommittee(k=3, faithful=True), graph.gather(), before_phase=look)
    invited = [leaders for leaders in seen if len(leaders)]
    per_iteration = {tuple(leaders.tolist()) for leaders in invited}
    assert len(per_iteration) == 1
    (leaders,) = per_iteration
    assert 3 * sum(leader != 0 for leader in leaders) == pairs
    assert 3 * 63 - pairs == difference


def test_half_a_table_is_not_left(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_csv(str(tmp_path / "t.csv"), ["a"], ([1 // row] for row in (1, 0)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').getpid()",
        "sum(range(n))",
        "n.bit_length()",
        "x",
        "1.5",
        "-n",
        "n if n else n",
    ],
)
def test_a_formula_is_arithmetic_and_nothing_else(formula):
    with pytest.raises(ValueError, match="cannot be evaluated"):
        tables.evaluate(formula, {"n": 64})
    assert tables.evaluate("n // 8 + 2 * (n - 1) ** 2", {"n": 64}) == 7946
