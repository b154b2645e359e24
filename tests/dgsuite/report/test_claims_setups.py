"""Experiment files are held to what the papers say of theirs, aspect by aspect."""

import json

import pytest

from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import CHECKS, judge
from tests.support import mains

PAPER = "scalability-paper"
FIGURE2 = "scalability-figure2"
IN_HF7 = 'mpb = { buffer = "8 KiB", places = 48 }\nmpimpb'
IN_BC9 = 'mpimpb = { buffer = "8 KiB"'

WRONG = [
    ("figure14", "fig14.setup", "places = 8", "places = 4",
     "places: X10-FA 4 instead of 8; X10-FAC 4 instead of 8"),
    ("figure12", "fig12.setup", 'form = "recursive"', 'form = "iterative"',
     "form: X10-FA iterative instead of recursive"),
    ("figure17", "fig17.setup", 'places = "n"', "places = 8", "places: X10-FA 8 instead of n"),
    ("figure18", "fig18.setup", '"run.0.hwts" = "n"', '"run.0.hwts" = 8',
     "threads: X10-FA 8 instead of n"),
    ("figure13", "fig13.setup", "operations = 10_000_000", "operations = 1_000_000",
     "workload: HJ-FA 1000000 instead of"),
    ("figure16", "fig16.setup", 'runtime = "HJ"', 'runtime = "X10"',
     "programs: X10-FA, X10-FAC instead of HJ-FA, HJ-FAP"),
    ("figure08", "fig8.setup", 'kind = ["mn", "mx"]', 'kind = "mx"',
     "inputs: X10-FA Mx instead of Mn, Mx"),
    ("figure11", "fig11.setup", '"experiment.repeats" = 30', '"experiment.repeats" = 10',
     "repeats: 10 instead of 30"),
    ("figure19", "fig19.setup", "number = 19", 'number = 19\ndeparts.sizes = "too few"',
     "sizes: said to depart, but does not"),
    ("figure12", "fig12.setup", 'places = "n"', "places = 8", "base: serial, MP instead of serial, UP"),
    ("figure11", "fig11.setup", 'style = "in_turn"', 'style = "clocked"',
     "base: first instead of serial, UP"),
    ("figure11-mn", "fig11.mn-similar", 'kind = ["mn", "mx"]', 'kind = "mx"',
     "inputs: X10-FA Mx instead of Mn, Mx"),
    ("figure11-hjfap", "fig11.hjfap-similar", 'style = "clocked"', 'style = "finish_async"',
     "programs: without HJ-FAP"),
    ("figure19-factors", "fig19.factors", '"run.0.places" = 64', "", "places: X10-FA 4 instead of 64"),
    (PAPER, "fig4.setup", "workers = [4, 9, 16, 25]", "workers = [4, 9, 16, 32]",
     "nodes: 4, 9, 16, 32 instead of"),
    (PAPER, "fig6.setup", "workers = [4, 9, 16, 25]", "workers = [4, 9, 25]",
     "pairs_per_cti: 1 instead of 3"),
    (PAPER, "fig4.setup", "percent = [20, 22, 24,", "percent = [20, 25,", "steps: 20, 25, 26, 28"),
    (PAPER, "fig4.setup", '"7 GB"', '"6 GB"', "full gbit_per_second: 48 instead of 56"),
    (FIGURE2, "fig2.setup", "workers = [2,", "threads = 2\nworkers = [2,",
     "threads_per_process: 2 instead of 1"),
    (FIGURE2, "fig2.setup", 'kernel = "bfs2d"', 'kernel = "bfs"', "programs: bfs instead of bfs2d"),
    (FIGURE2, "fig2.setup", "25, 32]", "25]", "most_nodes: 25 instead of 32"),
    (FIGURE2, "fig2.setup", 'processes_per_node" = 18', 'processes_per_node" = 9',
     "full processes_per_node: 9"),
    (FIGURE2, "fig3.setup", "[134217728, 268435456]", "268435456", "full scale: 28 instead of 27, 28"),
    (FIGURE2, "fig3.setup", 'points = "', 'repeats = "', "points: 54 instead of 1000"),
    (FIGURE2, "eq1.regression", 'weights = "equal"', 'weights = "relative"', "nothing says why"),
    (FIGURE2, "eq1.regression", "bounded = false", "bounded = true", "nothing says why"),
    (FIGURE2, "eq1.regression", '"1/sqrt(p)"', '"log(p)"', "nothing says why"),
    (FIGURE2, "eq1.regression", '"apart"', '"together"', "nothing says why"),
    ("scc-hf-figure5", "fig5.setup", "repeats = 3", "repeats = 2", "repeats: 2 instead of 3"),
    ("scc-hf-figure5", "fig5.setup", ", 48]", "]", "places: 1 to 44 instead of 1 to 48"),
    ("scc-hf-figure5", "fig5.setup", "transports =", "places =", "transports: tcp besides"),
    ("scc-hf-figure6", "fig6.setup", '"static", ', "", "balances: dynamic instead of dynamic, static"),
    ("scc-hf-figure6", "fig6.setup", "\nmachine =", "\nbase =", "machine: simulated with units"),
    ("scc-hf-figure7", "fig7.setup", IN_HF7, "mpimpb", "buffers: mpb: the transport's own instead of 5120"),
    ("scc-bc-figure9", "fig9.setup", IN_BC9, 'mpimpb = { buffer = "64 KiB"',
     "buffers: mpimpb: 1344 instead of 160 bytes"),
    ("scc-bc-figure10", "fig10.setup", "[bc.workload.high]", "[bc.workload.huge]",
     "inputs: small, medium, low, large, huge instead of low, high"),
    ("scc-bc", "table1.workloads", "a = 0.2\nb = 0.15", "a = 0.15\nb = 0.2",
     "small a: 0.15 instead of 0.2; small b: 0.2 instead of 0.15"),
]  # fmt: skip
"""A file, the claim that it is held to, what is changed in it, and what the verdict says of that."""

IN_PAPER = {"equal", "agrees"}
ON_WORKERS = 'programs = "BF on Mx-In depends on the schedule, so that it runs on workers as well"'
ON_MX = 'n = 64\nkind = "mx"'

PLANS = [
    ("imsuite.sec3.2.places", "figure12", "places = 64", "clusters = 64"),
    ("imsuite.sec4.models", "figure15", 'places" = [1, 2, 4, 8, 16, 32, 64]', 'places" = [1, 64]'),
    ("imsuite.sec5.hj-places", "figure13", "places = 1\n", "places = 2\n"),
    ("imsuite.sec6.repeats", "figure14", '"experiment.repeats" = 30', '"experiment.repeats" = 10'),
    ("imsuite.sec6.2.parameters", "figure14", "places = 8", "places = 7"),
    ("imsuite.sec6.2.limits", "figure14", "256, 512]", "256]"),
    ("imsuite.sec6.2.subset", "figure16", 'runtime = "HJ"', 'runtime = "X10"'),
    ("imsuite.sec6.2.experiments", "figure17", 'places = "n"', "places = 8"),
    ("scalability.sec5.future", "scalability-sizes", "n = [65536, 131072, 262144]", "n = [65536]"),
    ("imsuite.fig8.setup", "figure08", "n = 64", "n = 32"),
    ("imsuite.fig9.setup", "figure09", "n = 64", "n = 32"),
    *((f"imsuite.fig{n}.setup", f"figure{n}", '"experiment.repeats" = 30', '"experiment.repeats" = 10')
      for n in range(11, 20)),
    ("scalability.sec3.strong-scaling", FIGURE2, "[2, 4, 6, 9, 12, 16, 20, 25, 32]", "[2]"),
    ("scalability.eq1.regression", FIGURE2, "bounded = false", "bounded = true"),
    ("scalability.sec3.scale", FIGURE2, '"rmat"', '"rmat"\nedges = 262144'),
    ("scc.sec3.transports", "scc-bc-figure9", '"mpi-sock", ', ""),
    ("scc.sec3.1.1.sections", "scc-hf-figure7", '"8 KiB"', '"16 KiB"'),
    ("scc.fig2.rcce-x10-allocation", "scc-hf-figure7", '"8 KiB"', '"16 KiB"'),
    ("scc.sec3.2.payload", "scc-hf-figure7", '"8 KiB"', '"16 KiB"'),
    ("scc.sec4.2.1.balance", "scc-hf-figure5", '"static", ', ""),
    ("scc.sec4.2.1.inputs", "scc-hf-figure5", 'aspirin", basis = "3-21g"', 'aspirin", basis = "sto-3g"'),
    ("scc.table1.workloads", "scc-bc", "a = 0.2\nb = 0.15", "a = 0.15\nb = 0.2"),
    ("scc.sec4.3.repeats", "scc-hf-figure5", "repeats = 3", "repeats = 2"),
]  # fmt: skip
"""A claim that the experiment files agree with, and what is changed in a file so that they do not."""

AS_PRINTED = [
    ("scc.sec4.3.holes", "scc-hf-figure6", [("[1, 2, 8,", "[8,")]),
    (
        "imsuite.fig10.setup",
        "figure10",
        [
            (f"[figure.departs]\n{ON_WORKERS}\n", ""),
            (f'"finish_async"\n{ON_MX}', f'"serial"\ncount_as = "finish_async"\n{ON_MX}'),
        ],
    ),
]
"""A claim that they differ from, and what is changed so that they do not."""


def paper_of(file):
    return file.partition("-")[0] if file.startswith("sc") else "imsuite"


def verdict(name, configs):
    claim = claims()[name]
    return CHECKS[claim.check](claim, Evidence(configs=configs))


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "name", "old", "new", "departs"), WRONG, ids=lambda value: value[:20]
)
def test_a_wrong_experiment_file_is_found(configs, file, name, old, new, departs):
    name = f"{paper_of(file)}.{name}"
    assert not verdict(name, configs).silent
    change(configs / f"{file}.toml", old, new)
    found = verdict(name, configs)
    assert found.silent
    assert departs in found.silent
    assert found.verdict == "differs" or not (name.startswith("imsuite") and name.endswith("setup"))


@pytest.mark.parametrize(("name", "file", "old", "new"), PLANS, ids=lambda value: value[:30])
def test_a_verdict_on_a_plan_follows_the_plan(configs, name, file, old, new):
    assert verdict(name, configs).verdict in IN_PAPER
    change(configs / f"{file}.toml", old, new)
    assert verdict(name, configs).verdict == "differs"


@pytest.mark.parametrize(("name", "file", "changes"), AS_PRINTED)
def test_a_plan_as_printed_agrees(configs, name, file, changes):
    assert verdict(name, configs).verdict == "differs"
    for old, new in changes:
        change(configs / f"{file}.toml", old, new)
    assert verdict(name, configs).verdict in IN_PAPER


def test_every_verdict_on_a_plan_is_perturbed():
    """Those that agree; of those that differ, in what they may do so."""
    planned = [row for row in judge(Evidence()) if row.verdict.kind == "planned"]
    agree = {row.claim.id for row in planned if row.verdict.verdict in IN_PAPER}
    assert agree == {name for name, *_ in PLANS}
    wrong = {f"{paper_of(file)}.{name}" for file, name, *_ in WRONG}
    others = {row.claim.id for row in planned} - agree - wrong - {name for name, *_ in AS_PRINTED}
    assert others == {"scc.fig8.setup"}  # it is a part of Figure 10's


def test_the_command_fails_where_an_experiment_file_is_wrong(configs, capsys):
    change(configs / "figure14.toml", "places = 8", "places = 4")
    command = ["claims", "--configs", str(configs), "--only", "imsuite.fig14", "--json"]
    assert mains.report(command) == 1
    printed = capsys.readouterr()
    assert "imsuite.fig14.setup: places: X10-FA 4 instead of 8" in printed.err
    rows = {row["id"]: row["verdict"] for row in json.loads(printed.out)}
    assert rows == {
        "imsuite.fig14.setup": "differs",
        "imsuite.fig14.grows": "not checked",
        "imsuite.fig14.by-why": "equal",
    }
    assert mains.report(["claims", "nowhere"]) == 2
    assert mains.report(["claims", "--only", "imsuite.fig20"]) == 2
