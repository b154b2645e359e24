"""What the papers say: every claim has a verdict, and nothing departs from one without saying so."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report import tables, text
from dgsuite.studies.report.claims import (
    cells,
    counts,
    formulas,
    scalability,
    setups,
    studies,
    times,
    traced,
)
from dgsuite.studies.report.claims.data import claims, read, setup_of
from dgsuite.studies.report.claims.evidence import CONFIGS, Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.sentences import unfounded
from dgsuite.studies.report.claims.show import silent, summary
from dgsuite.studies.report.claims.verdicts import CHECKS, CONDITIONS, Verdict, compared
from dgsuite.studies.report.forms import forms
from dgsuite.studies.report.results import collect
from dgsuite.studies.report.tables import TABLES, cells_of
from dgsuite.studies.scaling.analysis import Analysis
from tests.support import mains
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def evidence():
    return Evidence()


@pytest.fixture(scope="module")
def rows(evidence):
    return judge(evidence)


def test_every_claim_has_a_verdict_and_none_departs_silently(rows):
    assert [row.claim for row in rows] == list(claims().values())
    assert len(rows) == 185
    assert Counter(row.claim.paper for row in rows) == {
        "imsuite": 102,
        "scalability": 31,
        "scc": 52,
    }
    assert silent(rows) == []
    for row in rows:
        assert row.claim.says
        assert row.verdict.verdict in ("equal", "agrees", "differs", "not checked")
        assert row.verdict.ours or row.verdict.verdict in ("equal", "not checked"), row
        assert row.verdict.why or row.verdict.verdict == "equal", row
    assert summary(rows).endswith("; 0 depart without a reason")


def test_what_is_open_is_named(rows):
    ours = {row.claim.id: row.verdict.ours for row in rows}
    assert ours["imsuite.fig8.table"].endswith("open: HS ring FAC comm, VC Mx FA comm.")
    assert ours["imsuite.fig10b.table"].endswith("open: MST Mn FAC comm, MST Mx FAC comm.")
    assert "open:" not in ours["imsuite.fig10a.table"]


def test_every_setup_is_compared(rows):
    """Those of IMSuite's figures of times aspect by aspect, with the experiment that is printed."""
    for number in range(11, 20):
        claim = setup_of(number)
        assert claim.check == "setting"
        for experiment in claim.data["experiment"]:
            assert set(experiment) == set(setups.Made._fields) - {"repeats"}
        assert claim.data["repeats"] == 30


@pytest.fixture
def configs(tmp_path):
    shutil.copytree(CONFIGS, tmp_path / "configs")
    return tmp_path / "configs"


def changed(configs, number, old, new):
    path = configs / f"figure{number:02}.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    claim = setup_of(number)
    return CHECKS[claim.check](claim, Evidence(configs=configs))


@pytest.mark.parametrize(
    ("number", "old", "new", "departs"),
    [
        (
            14,
            "places = 8",
            "places = 4",
            "places: X10-FA 4 instead of 8; X10-FAC 4 instead of 8",
        ),
        (
            12,
            'form = "recursive"',
            'form = "iterative"',
            "form: X10-FA iterative instead of recursive",
        ),
        (17, 'places = "n"', "places = 8", "places: X10-FA 8 instead of n"),
        (18, '"run.0.hwts" = "n"', '"run.0.hwts" = 8', "threads: X10-FA 8 instead of n"),
        (
            13,
            "workload = { operations = 10_000_000 }",
            "workload = { operations = 1_000_000 }",
            "workload: HJ-FA 1000000 instead of",
        ),
        (
            16,
            'runtime = "HJ"',
            'runtime = "X10"',
            "programs: X10-FA, X10-FAC instead of HJ-FA, HJ-FAP",
        ),
        (8, 'kind = ["mn", "mx"]', 'kind = "mx"', "inputs: X10-FA Mx instead of Mn, Mx"),
        (11, '"experiment.repeats" = 30', '"experiment.repeats" = 10', "repeats: 10 instead of 30"),
        (
            19,
            "number = 19",
            'number = 19\ndeparts.sizes = "too few"',
            "sizes: said to depart, but does not",
        ),
        (12, 'places = "n"', "places = 8", "base: serial, MP instead of serial, UP"),
        (11, 'style = "in_turn"', 'style = "clocked"', "base: first instead of serial, UP"),
        (15, '"run.0.hwts" = 8', '"run.0.hwts" = [1, 2, 4]', "threads: X10-FA 1, 2, 4"),
    ],
)
def test_a_wrong_experiment_file_is_found(configs, number, old, new, departs):
    found = changed(configs, number, old, new)
    assert found.verdict == "differs"
    assert departs in found.silent


@pytest.mark.parametrize(
    ("claim", "old", "new", "departs"),
    [
        (
            "fig4",
            "workers = [4, 9, 16, 25]",
            "workers = [4, 9, 16, 32]",
            "nodes: 4, 9, 16, 32 instead of",
        ),
        (
            "fig6",
            "workers = [4, 9, 16, 25]",
            "workers = [4, 9, 25]",
            "pairs_per_cti: 1 instead of 3",
        ),
        ("fig4", "percent = [20, 22, 24,", "percent = [20, 25,", "steps: 20, 25, 26, 28"),
        (
            "fig2",
            "workers = [4,",
            "threads = 2\nworkers = [4,",
            "threads_per_process: 2 instead of 1",
        ),
        ("fig2", 'kernel = "bfs2d"', 'kernel = "bfs"', "programs: bfs instead of bfs2d"),
        ("fig4", '"7 GB"', '"6 GB"', "full gbit_per_second: 48 instead of 56"),
        ("fig3", "[134217728, 268435456]", "268435456", "full scale: 28 instead of 27, 28"),
        ("fig3", 'points = "', 'repeats = "', "points: 8 instead of 1000"),
        (
            "fig2",
            'processes_per_node" = 18',
            'processes_per_node" = 9',
            "full processes_per_node: 9",
        ),
        ("fig3", "scale = ", "steps = ", "steps: said to depart, but does not"),
        ("eq1.regression", 'weights = "equal"', 'weights = "relative"', "nothing says why"),
        ("eq1.regression", "bounded = false", "bounded = true", "nothing says why"),
        ("eq1.regression", '"1/sqrt(p)"', '"log(p)"', "nothing says why"),
        ("eq1.regression", '"apart"', '"together"', "nothing says why"),
    ],
)
def test_each_aspect_of_the_scalability_experiment_is_held_to_the_paper(
    configs, claim, old, new, departs
):
    path = configs / "scalability-paper.toml"
    name = f"scalability.{claim}" if "." in claim else f"scalability.{claim}.setup"
    claim = claims()[name]
    assert not CHECKS[claim.check](claim, Evidence(configs=configs)).silent
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert departs in CHECKS[claim.check](claim, Evidence(configs=configs)).silent


def test_the_command_fails_where_an_experiment_file_is_wrong(configs, capsys):
    changed(configs, 14, "places = 8", "places = 4")
    command = ["claims", "--configs", str(configs), "--only", "imsuite.fig14", "--json"]
    assert mains.report(command) == 1
    printed = capsys.readouterr()
    assert "imsuite.fig14.setup: places: X10-FA 4 instead of 8" in printed.err
    rows = json.loads(printed.out)
    assert [row["id"] for row in rows] == ["imsuite.fig14.setup", "imsuite.fig14.grows"]
    assert [row["verdict"] for row in rows] == ["differs", "not checked"]
    assert mains.report(["claims", "nowhere"]) == 2
    assert mains.report(["claims", "--only", "imsuite.fig20"]) == 2


def test_an_empty_folder_is_one_without_results(tmp_path, capsys):
    """What needs results is not checked; the rest is judged as without a folder."""
    found = []
    for folder in ([], [str(tmp_path)]):
        command = ["claims", *folder, "--only", "imsuite.fig14", "--json"]
        assert mains.report(command) == 0
        found.append(capsys.readouterr())
    without, empty = found
    assert {row["verdict"] for row in json.loads(empty.out)} == {"equal", "not checked"}
    assert empty.out == without.out
    assert without.err == ""
    assert empty.err == (
        f"{tmp_path}: holds no results (*.nc), so what needs results is not checked\n"
    )


def test_the_command_prints_tables(capsys):
    assert mains.report(["claims", "--only", "imsuite.fig8.table"]) == 0
    printed = capsys.readouterr().out
    assert "57 of 64 cells are equal" in printed
    assert printed.endswith("1 claims: differs 1; 0 depart without a reason\n")


def test_the_serial_program_has_a_place_for_each_node(configs):
    claim = claims()["imsuite.sec5.serial"]
    assert CHECKS[claim.check](claim, Evidence()).verdict == "agrees"
    changed(configs, 12, 'places = "n"', "places = 8")
    found = CHECKS[claim.check](claim, Evidence(configs=configs))
    assert found.silent
    assert "places in Figure 12 8" in found.ours


def with_cell(claim, row, column, value):
    """A claim with another value in a cell."""
    at = claim.data["columns"].index(column)
    data = [
        [value if r[0] == row and i == at else v for i, v in enumerate(r)]
        for r in claim.data["rows"]
    ]
    return replace(claim, data={**claim.data, "rows": data})


@pytest.mark.parametrize(
    ("name", "row", "column", "value"),
    [
        ("imsuite.fig7a.table", "dr", "dynamic FA finishes", "2"),
        ("imsuite.fig7a.table", "dst", "dynamic FA finishes", "(3*D^2 + 8*D)/2"),
        ("imsuite.fig7c.table", "bf", "dynamic FAC barriers", "D + 1"),
        ("imsuite.fig8.table", "mst", "FA comm Mx", 19155),
        ("imsuite.fig8.table", "by", "mutexes Mx", "94K"),
        ("imsuite.fig8.table", "vc", "FA comm Mx", 1205),
        ("imsuite.fig10a.table", "bf", "FA mutexes Mx", 2954),
        ("imsuite.fig10b.table", "mst", "FAC comm Mn", 14018),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_found(evidence, name, row, column, value):
    """Also one that is equal to ours where a difference is explained."""
    claim = claims()[name]
    assert not cells.cells(claim, evidence).silent
    found = cells.cells(with_cell(claim, row, column, value), evidence)
    assert f"{row} " in found.silent


@pytest.mark.parametrize(
    ("name", "row", "column", "value"),
    [
        ("imsuite.fig7a.table", "dp", "static FA mutexes", 3),
        ("imsuite.fig7b.table", "mst", "static FAC finishes", 6),
        ("imsuite.fig7c.table", "ds", "static FAC barriers", 7),
    ],
)
def test_a_wrong_count_of_text_is_found(evidence, name, row, column, value):
    found = cells.cells(with_cell(claims()[name], row, column, value), evidence)
    assert found.silent.startswith(f"{row} ")


def test_each_static_count_is_traced_to_the_published_text():
    """Methods add up to print's number and to ours, and to no other."""
    of_text = {"finishes", "barriers", "mutexes"}
    for (kernel, form, style, count), places in text.texts().items():
        assert count in of_text
        ours = getattr(tables.in_text(kernel, form, style), count)
        theirs = sum(p.get("printed", p.get("has", 1)) for p in places)
        assert ours != theirs
        assert text.reason(kernel, form, style, count, theirs).startswith(f"{kernel.upper()}: the ")
        assert text.reason(kernel, form, style, count, theirs + 1) == ""


@pytest.mark.parametrize(
    "places",
    [
        [],
        [{"in": "sendMessage", "ours": {"tell": 1}}],
        [{"in": "sendMessage", "ours": {"tell": 1, "stop": 2}}],
        [{"in": "sendMessage", "ours": {"tell": 1, "compare": 1}}],
        [{"in": "sendMessage", "has": 2, "ours": {"tell": 1, "stop": 1}}],
    ],
)
def test_a_wrong_trace_explains_nothing(monkeypatch, places):
    key = ("dp", "iterative", "finish_async", "mutexes")
    assert "sendMessage" in text.reason(*key, 1)
    monkeypatch.setattr(text, "texts", lambda: {key: places})
    assert text.reason(*key, 1) == ""


def test_lines_of_code_are_judged_once(evidence):
    claim = claims()["imsuite.fig7c.table"]
    found = cells.cells(claim, evidence)
    assert not any("lines" in cell.column for cell in cells_of(claim, evidence.counted))
    assert (
        "22 numbers of lines are of another language: 25 to 143 for 240 to 850, fewer" in found.ours
    )
    longer = cells.cells(with_cell(claim, "by", "HJ-FAP lines", 100), evidence)
    assert longer.silent == "some program of ours is longer"


def test_counts_of_a_schedule_obey_its_relations(evidence):
    """Else that they depend on it explains nothing."""
    claim = claims()["imsuite.fig10a.table"]
    assert "fin 240" not in cells.cells(claim, evidence).silent
    found = cells.cells(with_cell(claim, "bf", "FA finishes Mn", 130), evidence)
    assert "this reason does not hold: A node is expanded again" in found.silent


def test_passes_of_loops_explain_joins_of_mst(evidence):
    """By traces and counts; another trace explains nothing."""
    claim = claims()["imsuite.fig7c.table"]
    assert cells.cells(claim, evidence).silent == ""
    found = cells.cells(claim, Traced("mst", trace=lambda ds: ds.isel(phase=slice(9, None))))
    assert "this reason does not hold: The formula has loops of D rounds" in found.silent


def test_mutexes_of_mst_may_grow_with_edges(monkeypatch):
    """The verdict follows what is counted."""
    claim = claims()["imsuite.fig8.mst-mutex-guarantee"]
    few, many = counts.grown(64, 2024)
    assert few < many
    found = CHECKS[claim.check](claim, Evidence())
    assert found.verdict == "differs"
    assert f"{few} to {many}" in found.ours
    monkeypatch.setattr(counts, "grown", lambda n, seed: (few, few))
    assert CHECKS[claim.check](claim, Evidence()).verdict == "equal"


def test_print_is_what_it_was():
    """Sums of the printed cells of code, which nothing else is compared with."""
    sums = {
        name: {c: sum(r[c] for r in claims()[name].table().values() if r[c] != "-")
               for c in claims()[name].data["columns"][1:] if not c.startswith("dynamic")}
        for name in TABLES["figure7"]
    }  # fmt: skip
    assert list(sums["imsuite.fig7a.table"].values()) == [5680, 5315, 69, 17]
    assert list(sums["imsuite.fig7b.table"].values()) == [2260, 2180, 25, 9, 1420, 1330, 10, 9, 7]
    assert list(sums["imsuite.fig7c.table"].values()) == [5130, 4730, 35, 35, 17]
    printed = [
        v for name in TABLES["figure7"] for r in claims()[name].table().values() for v in r.values()
    ]
    assert len([v for v in printed if v != "-"]) == 60 + 35 + 77


def test_a_printed_cell_of_ours_needs_its_run(evidence):
    claim = claims()["imsuite.fig8.table"]
    assert cells_of(claim, []) == []
    assert {c.kernel for c in cells_of(claim, [evidence.run("bf", "Mn")])} == {"bf"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("O(log^2(Delta) * log(n))", 96.0),
        ("2*log*(n) + 9", 17.0),
        ("(n/8 + 1)*(2*D + 1)", 63.0),
        ("3*log_{4/3}(m)", 3 * np.log(63) / np.log(4 / 3)),
    ],
)
def test_formulas(text, value):
    at = formulas.Letters(n=64, m=63, D=3, Delta=16, K=3)
    assert formulas.value(text, at) == pytest.approx(value)


@pytest.mark.parametrize(
    ("kernel", "kind", "found"),
    [
        ("bf", "mn", (64, 63, 7, 22)),
        ("bf", "mx", (64, 383, 3, 29)),
        ("by", "mn", (64, 63, 3)),
        ("by", "mx", (64, 383, 2)),
    ],
)
def test_letters(kernel, kind, found):
    assert formulas.letters(kernel, kind, 64)[: len(found)] == found


@pytest.mark.parametrize("clusters", [2, 8, 64])
@pytest.mark.parametrize("seed", [101, 7])
def test_recursive_bf_obeys_its_relations_on_any_schedule(client, clusters, seed):
    graph = genval.graph("mx", 64, seed=seed, family="paper", kernel="bf")
    assert graph.attrs["root"] != 0
    for style, short in (("finish_async", "FA"), ("clocked", "FAC")):
        ds = dgsuite.run(
            "bf", graph, form="recursive", style="finish_async", count_as=style, clusters=clusters,
            client=client, faithful=True,
        )  # fmt: skip
        assert counts.obeys(short, *(int(ds[v].sum()) for v in counts.COUNTS))
    assert not counts.obeys("FA", 2945, 2945, 2824, 242, 0)


@pytest.mark.parametrize(("kind", "pairs"), [("mn", [5, 2, 1]), ("mx", [18, 3, 1])])
def test_pairs_of_fragments_explain_mst(kind, pairs):
    """Fragments that choose each other: their number is by how much print and the program differ."""
    graph = genval.graph(kind, 64, family="paper", kernel="mst")
    entries = graph.to_scipy().tocoo()
    fragment, found = np.arange(64), []
    while len(np.unique(fragment)) > 1:
        out = fragment[entries.row] != fragment[entries.col]
        best: dict = {}
        for i, j, _ in sorted(
            zip(entries.row[out], entries.col[out], entries.data[out], strict=True),
            key=lambda e: e[2],
        ):
            best.setdefault(fragment[i], (i, j, fragment[j]))
        mutual = [f for f, (i, j, other) in best.items() if best[other][:2] == (j, i) and f < other]
        found.append(len(mutual))
        joined = {f: other for f, (_, _, other) in best.items()}
        for f in mutual:
            joined[f] = f
        for _ in range(64):
            joined = {f: joined[other] for f, other in joined.items()}
        fragment = np.array([joined[f] for f in fragment])
    assert found == pairs
    cell = {"mn": "mst Mn FAC comm", "mx": "mst Mx FAC comm"}[kind]
    differences = claims()["imsuite.fig10b.table"].data["difference"]
    assert {d["cells"][cell] for d in differences if cell in d["cells"]} == {-sum(pairs)}


SPREAD = (0.99, 1.0, 1.01)
"""Of three repeats."""


def timed(number, seconds, spread=SPREAD):
    """A figure's results: times by runtime, style, kernel and what is swept, repeated."""
    graph = genval.graph("mx", 8, family="paper", kernel="bf")
    ran = dgsuite.run("bf", graph, style="serial").assign_attrs(kind="mx", repeat=0)
    usual = {"workers": 1, "threads": 1, "clusters": 8, "n": 8}
    runs = [
        ran.assign_attrs(
            usual
            | {"kernel": k, "runtime": runtime, "style": style, "repeat": repeat}
            | {"seconds": value * factor}
            | swept
        )
        for (runtime, style, k, swept), value in seconds
        for repeat, factor in enumerate(spread)
    ]
    return collect(number, runs)


def test_findings_on_times_follow_the_results():
    """Times that do as the paper says agree with it, and others do not; none are not checked."""
    fa, fac = "finish_async", "clocked"
    claim = claims()["imsuite.fig14.grows"]
    assert times.size_grows(claim, Evidence()).verdict == "not checked"

    def verdict(by):
        given = [
            (("X10", style, k, {"n": n}), n * s)
            for style in (fa, fac)
            for k, s in (("bf", 1.0), ("by", 1.0))
            for n in (8, 64)
        ]
        given = [(key, v * by if key[2:] == ("by", {"n": 64}) else v) for key, v in given]
        return times.size_grows(claim, Evidence({"f": timed(14, given)}))

    assert verdict(2).verdict == "agrees"
    assert "sizes" in verdict(2).why
    assert verdict(0.5).verdict == "differs"
    claim = claims()["imsuite.fig16.grows"]
    for last, expected in ((9.0, "agrees"), (3.0, "differs")):
        given = [(("HJ", fac, "bf", {"n": n}), s) for n, s in ((8, 1.0), (16, 2.0), (32, last))]
        assert times.u_grows(claim, Evidence({"f": timed(16, given)})).verdict == expected
    claim = claims()["imsuite.fig11.hs-dip"]
    for hj, expected in ((0.9, "agrees"), (1.1, "differs")):
        given = [
            (("X10", fa, "hs", {"workers": 16}), 1.0),
            (("X10", fa, "hs", {"workers": 32}), 1.2),
            (("HJ", fa, "hs", {"threads": 16}), 1.0),
            (("HJ", fa, "hs", {"threads": 32}), hj),
        ]
        assert times.hs_dip(claim, Evidence({"f": timed(11, given)})).verdict == expected


@pytest.mark.parametrize(
    ("spread", "verdict", "why"),
    [
        (SPREAD, "agrees", ""),
        ((1.0,), "not checked", "the intervals of 1 repeats leave it open"),
        ((0.3, 1.0, 1.7), "not checked", "the intervals of 3 repeats leave it open"),
    ],
)
def test_times_are_compared_by_their_intervals(spread, verdict, why):
    claim = claims()["imsuite.fig17.grows"]
    given = [(("X10", "clocked", "bf", {"n": n}), s) for n, s in ((8, 1.0), (16, 2.0))]
    found = times.n_grows(claim, Evidence({"f": timed(17, given, spread)}))
    assert (found.verdict, why in found.why) == (verdict, True)


def test_most_curves_hold_where_those_left_open_cannot_change_it():
    claim = claims()["imsuite.fig17.grows"]
    evidence = Evidence({"f": timed(17, [(("X10", "clocked", "bf", {"n": 8}), 1.0)])})

    def verdict(*held):
        return times._share(
            claim, evidence, 17, {(str(i),): h for i, h in enumerate(held)}, of=0.75
        ).verdict

    verdicts = [
        verdict(*held)
        for held in ((True, True, True, None), (True, True, None, None), (False, False, True, None))
    ]
    assert verdicts == ["agrees", "not checked", "differs"]


def differing(number, kernel, swept, seconds, **more):
    """Results of X10-FA and HJ-FA, with other variables."""
    runs = [
        ((runtime, "finish_async", kernel, at), s)
        for runtime in ("X10", "HJ")
        for at, s in zip(swept, seconds, strict=True)
    ]
    ds = timed(number, runs)
    of_runs = {name: np.repeat([*values, *values], len(SPREAD)) for name, values in more.items()}
    return ds.assign({name: ("run", values) for name, values in of_runs.items()})


THREADS = [{"threads": n, "n": n} for n in (8, 16, 32)]
SIZES = [{"n": 8}, {"n": 64}]
INPUTS = [{"kind": "mn"}, {"kind": "mx"}]


@pytest.mark.parametrize(
    ("name", "number", "kernel", "swept", "seconds", "holds", "fails"),
    [
        *(
            (name, number, kernel, swept, seconds, {"oversubscribed": [1] * len(swept)},
             {"oversubscribed": [0] * len(swept)})
            for name, number, kernel, swept, seconds in (
                ("fig11.improves", 11, "bf", [{"workers": n} for n in (1, 2, 4, 8)], [1, 2, 3, 4]),
                ("fig11.sixteen", 11, "bf", [{"workers": n} for n in (4, 8, 16, 32)], [4, 3, 2, 1]),
                ("fig11.hs-dip", 11, "hs", [{"workers": n} for n in (16, 32)], [2, 1]),
                ("fig13.mst", 13, "mst", [{"threads": n} for n in (16, 32)], [2, 1]),
                ("fig16.grows", 16, "bf", THREADS, [3, 2, 1]),
                ("fig18.grows", 18, "bf", THREADS, [3, 2, 1]),
            )
        ),
        ("fig14.grows", 14, "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig17.grows", 17, "bf", SIZES, [1, 0.9], {"finishes": [8, 64]}, {"finishes": [64, 8]}),
        ("fig15.grows", 15, "bf", [{"clusters": n} for n in (1, 2, 4, 8)], [4, 3, 2, 1],
         {"workers": [1] * 4}, {"workers": [1, 2, 4, 8]}),
        ("fig19.by", 19, "by", INPUTS, [2, 1], {"finishes": [20, 10], "comm": [10, 90]},
         {"finishes": [10, 90], "comm": [20, 10]}),
    ],
)  # fmt: skip
def test_a_reason_counts_where_it_holds(name, number, kernel, swept, seconds, holds, fails):
    claim = claims()[f"imsuite.{name}"]
    for more, expected in ((holds, True), (fails, False)):
        results = differing(number, kernel, swept, seconds, **more)
        found = CHECKS[claim.check](claim, Evidence({"f": results}))
        assert found.verdict == "differs"
        assert (claim.why in found.why) == expected
        assert bool(found.silent) != expected


def test_each_reason_of_times_has_a_condition():
    modules = {module.__name__ for module in (times, studies)}
    of_times = {name for name, check in CHECKS.items() if check.__module__ in modules}
    reasons = [c for c in claims().values() if c.check in of_times and c.why]
    assert len(reasons) > 10
    assert all("when" in c.data for c in reasons)


def test_each_condition_is_a_claims():
    given = [d for c in claims().values() for d in (c.data, *c.data.get("difference", ()))]
    assert {d["when"] for d in given if "when" in d} == CONDITIONS.keys()


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("added_to_a_tree", {"SP-Min": 63, "SP-Max": 383}, {"SP-Min": 63, "SP-Max": 384}),
        (
            "a_round_more",
            {"chain": [11], "rn": [13, 15], "star": [13]},
            {"chain": [11], "rn": [13, 17], "star": [13]},
        ),
        (
            "floods_in_each_iteration",
            {"by time": (0.8, 0.0), "by messages": (2.4, 2.0)},
            {"by time": (0.8, 0.0), "mis time": (0.8, 0.0)},
        ),
        ("floods_in_each_iteration", {"by time": (0.8, 0.0)}, {"by time": (1.8, 0.0)}),
        ("another_machine", ["an abacus"], []),
        ("without_traitors", {"by": {57}}, {"by": {57, 64}}),
        ("without_traitors", {"by": {57}}, {"by": {57}, "kc": {1}}),
        ("shorter", 0.7, 1.1),
        ("refuted", (1, 9), (0, 9)),
        (
            "iterations_of_figure_8",
            {"bf": (7, 3), "dr": (1, 1), "ds": (3, 6)},
            {"bf": (7, 3), "dr": (1, 1), "ds": (4, 6)},
        ),
        ("rounds_have_phases", [2, 2], [1, 2]),
        ("beyond_memory", ([1, 2], [1, 2, 8, 48]), ([1, 2], [1, 2])),
        ("explained", [Verdict("differs", "", "a reason")], [Verdict("differs", silent="none")]),
        ("fits_a_core", 1e6, 1e9),
    ],
)
def test_conditions_of_other_reasons(name, holds, fails):
    assert CONDITIONS[name](holds)
    assert not CONDITIONS[name](fails)


def test_the_machine_of_the_paper_is_known():
    claim = claims()["imsuite.sec6.machine"]
    for name, verdict in (("2 x Intel E5-2670, 64 processors", "equal"), ("a sundial", "differs")):
        results = {"f": xr.Dataset(attrs={"machine": name})}
        found = CHECKS[claim.check](claim, Evidence(results))
        assert (found.verdict, found.silent) == (verdict, "")


def test_each_study_is_of_its_claim():
    """An experiment file each, held to the claim; results are found by its name, not as the figure's."""
    found = [c for c in claims().values() if "study" in c.data]
    assert [(c.data["figure"], c.data["study"]) for c in found] == STUDIES
    ds = timed(11, [(("X10", "clocked", "bf", {}), 1.0)])
    evidence = Evidence({"a": ds, "b": ds.assign_attrs(study="mn")})
    assert evidence.figure(11) is evidence.results["a"]
    assert evidence.figure(11, "mn") is evidence.results["b"]
    assert evidence.figure(11, "hjfap") is None
    for claim in found:
        number, study = claim.data["figure"], claim.data["study"]
        full = evidence.points(number, True, study)
        assert setups.departures(claim, setups.planned(full)) == {}
        assert setup_of(number, study) is claim is not setup_of(number)
        work = {"hjfap": "10,000,000", "factors": "0 and 10,000,000"}.get(study)
        assert work is None or f"; {work} operations a task." in setups.described(number, study)
        verdict = CHECKS[claim.check](claim, Evidence())
        assert (verdict.verdict, verdict.silent) == ("not checked", "")


@pytest.mark.parametrize(
    ("number", "study", "old", "new", "departs"),
    [
        (11, "mn", 'kind = ["mn", "mx"]', 'kind = "mx"', "inputs: X10-FA Mx instead of Mn, Mx"),
        (11, "hjfap", 'style = "clocked"', 'style = "finish_async"', "programs: without HJ-FAP"),
        (19, "factors", '"run.0.places" = 64', "", "places: X10-FA 4 instead of 64"),
    ],
)
def test_a_wrong_study_is_found(configs, number, study, old, new, departs):
    path = configs / f"figure{number}-{study}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    claim = setup_of(number, study)
    assert departs in CHECKS[claim.check](claim, Evidence(configs=configs)).silent


@pytest.mark.parametrize("name", ["mn-similar", "hjfap-similar"])
@pytest.mark.parametrize(
    ("times_of_bf", "verdict"),
    [
        ((0.5, 0.51, 0.5), "agrees"),
        ((0.9, 0.91, 0.9), "differs"),  # BF alone
        ((0.3, 0.9, 0.3), "not checked"),  # not sure of BF, nor of the mean
        ((0.3, 0.31, 0.3), "differs"),
    ],
)
def test_speed_ups_are_alike_by_their_intervals(name, times_of_bf, verdict):
    """On two threads every kernel takes a half of the time, but BF in the other curve."""
    claim = claims()[f"imsuite.fig11.{name}"]
    given = []
    for other, kernel, repeat in itertools.product((0, 1), ("bf", "ds", "kc"), range(3)):
        if name == "mn-similar":
            who, kind = ("X10", "clocked"), ("mx", "mn")[other]
        else:
            who, kind = ("HJ", ("finish_async", "clocked")[other]), "mx"
        two = times_of_bf[repeat] if other and kernel == "bf" else 0.5
        for threads, seconds in ((1, 1.0), (2, two)):
            at = {"kind": kind, "repeat": repeat, "threads": threads}
            given.append(((*who, kernel, at), seconds * (1 + repeat / 1000)))
    results = timed(11, given, [1.0]).assign_attrs(study=claim.data["study"])
    found = CHECKS[claim.check](claim, Evidence({"f": results}))
    assert found.verdict == verdict
    assert bool(found.silent) == (verdict == "differs")
    assert ("bf x" in found.ours) == (verdict == "differs")


COSTS = {"asyncs": 1e-3, "comm": 1e-5, "mutexes": 1e-4}


@pytest.mark.parametrize(
    ("without", "verdict"),
    [((), "agrees"), (("mutexes",), "differs"), (("comm",), "differs"), (("asyncs",), "differs"),
     (("comm", "mutexes"), "explained")],
)  # fmt: skip
def test_factors_are_those_that_predict_other_kernels(without, verdict):
    """Times are made of costs of counts; where one costs nothing, they do not depend on it."""
    claim = claims()["imsuite.fig19.factors"]
    rng = np.random.default_rng(7)
    kernels = ("bf", "dst", "by", "dr", "ds", "kc", "dp", "mis", "mst", "vc")
    given = [
        (("X10", "finish_async", k, {"kind": kind}), 1.0) for k in kernels for kind in ("mn", "mx")
    ]
    ds = timed(19, given, [1.0]).assign_attrs(study="factors")
    counts = {
        "asyncs": rng.integers(50, 5000, len(given)),
        "comm": rng.integers(5000, 500000, len(given)),
        "mutexes": rng.integers(500, 50000, len(given)),
    }
    counts |= {"finishes": np.zeros(len(given), int)}
    ds = ds.assign({name: ("run", values) for name, values in counts.items()})
    seconds = sum(cost * counts[name] for name, cost in COSTS.items() if name not in without)
    found = studies.factors(claim, Evidence({"f": ds.assign(seconds=("run", seconds))}))
    assert found.verdict == ("differs" if verdict == "explained" else verdict)
    assert (claim.why in found.why) == (verdict == "explained")
    assert bool(found.silent) == (verdict == "differs")


def test_factors_need_kernels_that_differ():
    claim = claims()["imsuite.fig19.factors"]
    ds = timed(19, [(("X10", "finish_async", "bf", {"kind": kind}), 1.0) for kind in ("mn", "mx")])
    found = studies.factors(claim, Evidence({"f": ds.assign_attrs(study="factors")}))
    assert found.verdict == "not checked"


@pytest.mark.parametrize("shared", [True, False])
def test_a_reason_of_a_fit_counts_where_it_holds(shared):
    results = xr.Dataset({"oversubscribed": ("p", [False, shared])})
    claim = claims()["scalability.fig3.good-fit"]
    found = compared(claim, False, {}, results=results)
    assert (claim.why in found.why, bool(found.silent)) == (shared, not shared)
    assert compared(claim, True, {}, results=results).verdict == "equal"
    assert compared(claim, False, {}).silent  # without results nothing shows that it holds


class Traced(Evidence):
    """Evidence with other traces, or other runs, of one kernel.

    Parameters
    ----------
    kernel
        Whose.
    trace, run
        What is made of a trace, and of the dataset of a run.
    """

    def __init__(self, kernel, trace=lambda ds: ds, run=lambda ds: ds):
        super().__init__()
        self._of = kernel, trace, run

    def trace(self, kernel, given):
        found = super().trace(kernel, given)
        return self._of[1](found) if kernel == self._of[0] else found

    def run(self, kernel, *how):
        found = super().run(kernel, *how)
        return self._of[2](found) if kernel == self._of[0] else found


def to_all(trace):
    """Every node tells every other something in each phase."""
    n, phases = 64, trace.sizes["phase"]
    at, source, destination = (axis.ravel() for axis in np.indices((phases, n, n)))
    columns = {"at": at, "source": source, "destination": destination, "messages": at * 0 + 1}
    return trace.drop_dims("record").assign({k: ("record", v) for k, v in columns.items()})


def to_one(trace):
    """Of what a node sends in a phase only the first stays."""
    _, first = np.unique(np.stack([trace["at"], trace["source"]]), axis=1, return_index=True)
    return trace.isel(record=np.sort(first))


@pytest.mark.parametrize(
    ("kernel", "other", "said"),
    [
        ("lcr", {"trace": to_all}, "lcr broadcast"),
        ("mis", {"trace": to_one}, "mis unicast"),
        ("by", {"trace": to_one}, "by unicast"),
        ("by", {"trace": lambda ds: ds.isel(record=ds["at"].values < 20)}, "by multicast"),
        ("dr", {"run": lambda ds: ds.assign(finishes=ds["finishes"] * 2)}, "dr in lock step"),
        ("bf", {"run": lambda ds: ds.isel(round=[0]).assign(finishes=("round", [1]))}, "bf one join"),
        ("by", {"run": lambda ds: ds.assign(traitor=ds["traitor"] & False)}, "by has no faulty nodes"),
        ("vc", {"run": lambda ds: ds.assign(traitor=("node", [True] * 64))}, "vc has faulty nodes"),
    ],
)  # fmt: skip
def test_what_kernels_show_follows_their_runs(kernel, other, said):
    claim = claims()["imsuite.sec5.3.conformance"]
    assert traced.conformance(claim, Evidence()).verdict == "agrees"
    found = traced.conformance(claim, Traced(kernel, **other))
    assert (found.verdict, found.ours) == ("differs", said)
    assert found.silent


def test_messages_off_the_links_are_found():
    """Those of the paper's programs, by Figure 8, have a reason; others have none."""
    claim = claims()["imsuite.sec4.communication"]
    found = traced.along_links(claim, Evidence())
    assert found.ours.endswith(
        "dr Mn advertise 3906, dr Mx advertise 3266, ds Mn prune 930, ds Mx prune 2954, mst Mx pick 5"
    )
    assert (found.why, found.silent) == (claim.why, "")
    stray = traced.along_links(claim, Traced("lcr", trace=to_all))
    assert f"lcr Mx transmit {64 * 64 * (64 - 3)}, " in stray.ours
    assert stray.silent
    more = Traced("mst", run=lambda ds: ds.assign(comm=ds["comm"] + 1))
    assert traced.along_links(claim, more).silent
    linked = Traced("dr", trace=lambda ds: ds.isel(record=[]))
    assert "dr" not in traced.along_links(claim, linked).ours


@pytest.mark.parametrize(
    ("name", "there", "elsewhere"),
    [
        ("fig6.dc", {"machine": "Intel Xeon E5-2683 v3"}, {"machine": "AMD EPYC"}),
        ("fig5.similar", {"workers": [72, 162, 288]}, {"workers": [4, 9, 16, 25]}),
    ],
)
def test_a_reason_of_the_scalability_paper_counts_where_it_holds(name, there, elsewhere):
    claim = claims()[f"scalability.{name}"]
    for values, holds in ((there, False), (elsewhere, True)):
        runs = xr.Dataset({"workers": ("run", values.get("workers", [4]))})
        runs.attrs["machine"] = values.get("machine", "")
        found = compared(claim, False, {}, results=runs)
        assert (found.why == claim.why, bool(found.silent)) == (holds, not holds)


def test_less_bandwidth_is_judged_by_runs(monkeypatch):
    claim = claims()["scalability.sec4.intersense"]
    for slow, verdict in ((2.0, "agrees"), (1.0, "differs")):
        seconds = [[[1.0], [1.0]], [[slow], [1.0]]]
        at = {"p": [1, 2], "bandwidth": [20, 100], "repeat": [0]}
        runs = xr.Dataset({"seconds": (tuple(at), seconds)}, at)
        analysis = Analysis("bfs2d", "bfs2d", config.Scaling(), runs)
        monkeypatch.setattr(scalability, "_analysis", lambda _, found=analysis: found)
        assert CHECKS["throttle"](claim, Evidence()).verdict == verdict


def test_what_a_result_departs_in():
    """From the runs themselves, whatever their file says."""
    ds = timed(17, [(("X10", "clocked", "bf", {"n": n, "clusters": n}), 1.0) for n in (8, 16)])
    found = setups.settings_of(ds)
    assert found["programs"] == "without X10-FA"
    assert found["sizes"] == "X10-FAC 8, 16 instead of 8, 16, 32, 64"
    assert found["threads"] == "X10-FAC 1 instead of 8"
    assert "places" not in found
    quick = config.points(load(str(CONFIGS / "figure17.toml"), [])[0])
    assert set(setups.departures(setup_of(17), setups.planned(quick))) == {
        *("kernels", "sizes", "threads", "repeats")
    }


def test_headings_are_the_papers():
    """A figure's heading is its claim's."""
    for number, form in forms().items():
        assert form.title == setup_of(number).data["title"]
    study = (CONFIGS.parent / "dgsuite" / "studies" / "report" / "paper" / "study.toml").read_text()
    assert not re.search(r"^(title|says|look)", study, re.MULTILINE)


STUDIES = [(11, "mn"), (11, "hjfap"), (19, "factors")]

DOCUMENTS = (
    "README.md",
    *(f"docs/{name}.md" for name in ("causes", "design", "start", "stopping", "transports")),
    *(f"docs/howto/{name}.md" for name in ("experiments", "figures", "scc", "suites")),
    *sorted(f"docs/decisions/{page.name}" for page in (ROOT / "docs/decisions").glob("*.md")),
    "benchmarks/README.md",
)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_say_of_papers_what_claims_say(name):
    assert list(unfounded((CONFIGS.parent / name).read_text())) == []


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("2824", "2842", "imsuite.fig10a.table: 2824 is not in the paragraph"),
        ("2824", "2842", "no claim is named for: Here 1532 tasks, in the paper's run 2842."),
        ("table 2824", "table 1532", "imsuite.fig10a.table does not say 1532"),
        ("fig10a.table", "fig10c.table", "there is no claim imsuite.fig10c.table"),
        ("<!-- claim: imsuite.fig10a.table 2824 -->", "", "no claim is named for: Here 1532"),
    ],
)
def test_a_wrong_sentence_is_found(old, new, wrong):
    text = "Here 1532 tasks, in the paper's run 2824. <!-- claim: imsuite.fig10a.table 2824 -->"
    assert list(unfounded(text)) == []
    assert list(unfounded("As the paper's Figures 7 to 9, section 6.1. Here 12.")) == []
    assert wrong in "\n".join(unfounded(text.replace(old, new, 1 if old == "2824" else -1)))


def test_claims_are_read_whole():
    with pytest.raises(TypeError, match="check"):
        read('[[claim]]\nid = "imsuite.x"\nplace = "y"\nkind = "finding"\n')
    assert all(name in CHECKS for name in {c.check for c in claims().values()})


def test_an_installed_package_without_experiment_files(tmp_path):
    found = {c.id: CHECKS[c.check](c, Evidence(configs=tmp_path / "none")) for c in claims().values()
             if c.kind == "setup"}  # fmt: skip
    assert {v.verdict for v in found.values()} == {"not checked", "agrees"}
