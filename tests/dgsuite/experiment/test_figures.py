"""Figures 7 to 19: every experiment file holds, and a small one of each form really runs."""

import itertools
import re

import pytest
import xarray as xr

import dgsuite
from dgsuite import InputError, experiment, genval
from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment.load import load
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.setups import settings_of
from dgsuite.studies.report.draw import draw
from dgsuite.studies.report.forms import forms
from dgsuite.studies.report.page import page
from dgsuite.studies.report.results import bars, collect, crowded, findings
from tests.support.paths import ROOT

THERE = {"scheduler": "tcp://127.0.0.1:9"}
PATHS = sorted((ROOT / "configs").glob("figure*.toml"))
CONFIGS = {int(p.stem[6:]): p for p in (ROOT / "configs").glob("figure??.toml")}


def test_there_is_an_experiment_for_every_figure():
    assert set(CONFIGS) == set(forms())


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_every_experiment_holds(path):
    """Also of studies, each of which has the name of its figure and its own."""
    quick, _ = load(str(path), [])
    figure = quick.figure
    assert quick.experiment.name == path.stem
    assert path.stem == f"figure{figure.number:02}" + f"-{figure.study}" * bool(figure.study)
    few, form = config.points(quick), forms()[figure.number]
    if form.kind != "bars":
        return
    full, _ = load(str(path), [], full=True)
    assert (quick.experiment.fresh, full.experiment.repeats) == (True, 30)
    many = config.points(full)
    assert len(many) > 5 * len(few)
    if not figure.study:
        swept, at_once = ({getattr(p, form.over) for p in points} for points in (many, few))
        assert swept >= at_once
        assert len(at_once) >= 2


def test_a_study_is_not_the_figure_beside_it(tmp_path, capsys):
    """Its results say whose they are, inputs that are not swept are curves, and the page has both."""
    path = tmp_path / "small.toml"
    more = {"kind": '["mn", "mx"]', "more": 'runtime = "X10"', "number": '11\nstudy = "mn"'}
    path.write_text(SMALL.format(**USUAL | more))
    out = tmp_path / "out.nc"
    assert experiment.main([str(path), "--output", str(out), "--no-progress"]) == 0
    with xr.open_dataset(out) as ds:
        assert [bar.program for bar in bars(ds)] == ["X10-FAC on Mn-In", "X10-FAC on Mx-In"]
        figure = ds.load()
    both = {"a": figure, "b": figure.assign_attrs(study="")}
    chosen = [claim for name, claim in claims().items() if name.startswith("imsuite.fig11.")]
    assert chosen
    text, left_out = page(both, judge(Evidence(both), chosen))
    assert left_out == {}
    for head in (
        'id="figure11"><h2>Figure 11. Iterative kernels over hardware threads</h2>',
        'id="figure11-mn"><h2>Figure 11, mn. Iterative kernels over hardware threads, on both inputs</h2>',
    ):
        assert text.count(head) == 1
    path.write_text(SMALL.format(**USUAL | more | {"number": '11\nstudy = "other"'}))
    capsys.readouterr()
    assert experiment.main([str(path), "--output", str(out), "--no-progress"]) == 2
    assert "figure.study: figure 11 has no study 'other'" in capsys.readouterr().err


SMALL = """
[experiment]
name = "small"
repeats = 2
fresh = {fresh}
warmup = 1
iterations = 2
[cluster]
workers = {workers}
threads = {threads}
[figure]
number = {number}
[graph]
generate = "{{kind}}"
family = "paper"
[[run]]
kernel = "bf"
style = "{style}"
n = {n}
kind = {kind}
clusters = {clusters}
{more}
workload = {{ operations = 1000 }}
"""
USUAL = {"fresh": "false", "workers": 1, "threads": 1, "style": "clocked", "n": 8}
USUAL |= {"kind": '"mx"', "clusters": 1, "more": ""}


SWEPT = [
    (13, {"threads": "[1, 2]", "clusters": 4}, [1, 2]),
    (16, {"n": "[8, 16]", "style": "finish_async", "fresh": "true"}, [8, 16]),
    (18, {"n": "[2, 3]", "more": 'workers = "n"'}, [2, 3]),
    (19, {"kind": '["mn", "mx"]', "style": "serial"}, ["mn", "mx"]),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("number", "swept", "values"), SWEPT)
def test_a_small_figure(number, swept, values, tmp_path, capsys):
    path = tmp_path / "small.toml"
    of_nodes = {"clusters": '"n"'} if "n" in swept else {}
    path.write_text(SMALL.format(**USUAL | of_nodes | swept, number=number))
    out = tmp_path / "out.nc"
    assert experiment.main([str(path), "--output", str(out), "--no-progress"]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with xr.open_dataset(out) as ds:
        assert (ds.workload == '{"operations": 1000}').all()
        assert ds.attrs["command"] == f"dgsuite run {path}"
        assert (ds.attrs["figure"], ds.attrs["setting"]) == (number, "quick")
        assert [bar.value for bar in bars(ds)] == values
        assert [bar.seconds.runs for bar in bars(ds)] == [2, 2]
        assert bars(ds)[0].ratio.mean == 1
        if number == 16:
            assert ds.clusters.values.tolist() == [8, 16, 8, 16]
        assert (ds.seconds_per_operation > 0).all()
        busy = min(int(ds.threads.max() * ds.workers.max()), int(ds.clusters.max()))
        assert bool(ds.oversubscribed.any()) == (busy > int(ds.processors.max()))


def test_workers_threads_and_clusters_follow_the_input(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        '[cluster]\nworkers = [1, 2]\n[graph]\ngenerate = "ring"\n'
        '[[run]]\nkernel = "lcr"\nstyle = ["clocked", "serial"]\nn = [4, 8]\nclusters = "n"\n'
        'workers = "n"\nthreads = [1, "n"]\nruntime = "HJ"\n'
        '[[run]]\nkernel = "hs"\nstyle = "clocked"\nn = 4\n'
    )
    points = config.points(load(str(path), [])[0])
    found = [(p.kernel, p.style, p.n, p.workers, p.threads, p.clusters) for p in points]
    assert sorted(found) == sorted(
        [
            *(("lcr", "clocked", n, n, threads, n) for n in (4, 8) for threads in (1, n)),
            *(("lcr", "serial", n, n, 1, n) for n in (4, 8)),
            *(("hs", "clocked", 4, workers, 1, None) for workers in (1, 2)),
        ]
    )
    places = [(p.workers, p.threads) for p in points]
    assert len(list(itertools.groupby(places))) == len(set(places))
    for change, there, message in (
        ("run.0.n=none", {}, "run.0.n"),
        ("run.0.workers=m", {}, "run.0.workers"),
        ("run.1.n=[]", {}, "run.1.n"),
        ("cluster.workers=1", THERE, "run.0.workers: a cluster at an address has the workers"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            load(str(path), [change], there)


def test_bars_of_x10_are_over_its_serial_program_where_it_ran():
    """Over that of the same kernel and workload; HJ's, and those without one, over their first value.

    One worker of an X10 program and one of an HJ program are two bars.
    """
    graph = genval.graph("mx", 16, family="paper", kernel="hs")
    ran = dgsuite.run("hs", graph, style="serial").assign_attrs(threads=1, clusters=16)
    more = [
        ("X10", "clocked", 1, "", 4.0),
        ("X10", "clocked", 2, "", 2.0),
        ("X10", "in_turn", 16, "", 3.0),
        ("X10", "in_turn", 16, '{"operations": 1}', 99.0),
        ("HJ", "clocked", 1, "", 1.0),
        ("HJ", "clocked", 2, "", 0.25),
    ]
    keys = ("runtime", "style", "workers", "workload", "seconds")
    some = [ran.assign_attrs(zip(keys, values, strict=True), processors=2) for values in more]
    plain = [ds for ds in some if ds.attrs["style"] == "clocked"]
    assert [(b.program, b.ratio.mean, b.base) for b in bars(collect(11, plain))] == [
        *(("X10-FAC", ratio, 1) for ratio in (1, 2)),
        *(("HJ-FAP", ratio, 1) for ratio in (1, 4)),
    ]
    figure = collect(11, some, command="c", setting="quick")
    assert [(b.program, b.value, b.ratio.mean, b.base) for b in bars(figure)] == [
        ("X10-FAC", 1, 0.75, "serial program in UP"),
        ("X10-FAC", 2, 1.5, "serial program in UP"),
        ("HJ-FAP", 1, 1, 1),
        ("HJ-FAP", 2, 4, 1),
    ]
    assert not figure.oversubscribed.any()
    panels = {ax.get_title("left"): len(ax.patches) for ax in draw(figure).axes}
    own = {"X10-FAC; dotted: the serial program in UP": 2, "HJ-FAP; dotted: threads 1": 1}
    assert panels == own
    assert settings_of(figure)["base"].startswith("serial, UP, without bf, by, dp, dr, ds, dst,")
    few = collect(11, [ds.assign_attrs(workers=min(ds.attrs["workers"], 4)) for ds in some])
    assert bars(few)[0].base == "serial program in MP"
    again = collect(11, [ds.assign_attrs(repeat=r) for ds in some for r in (0, 1)])
    open_ = "0 of 2 curves; left open by their intervals: X10-FAC hs 1, X10-FAC hs 2"
    for found, said in ((figure, open_), (again, "1 of 2 curves; not X10-FAC hs 2")):
        (row,) = judge(Evidence({"f": found}), [claims()["imsuite.fig11.serial-first"]])
        assert row.verdict.ours == said


def shared(processors, **attrs):
    """Figure 11's results on one and eight workers, on a machine of so many processors."""
    graph = genval.graph("mx", 16, family="paper", kernel="hs")
    ran = dgsuite.run("hs", graph, style="serial")
    usual = {"style": "clocked", "runtime": "X10", "clusters": 8, "threads": 1, **attrs}
    runs = [
        ran.assign_attrs(usual, workers=w, processors=processors, seconds=1 / w, repeat=0)
        for w in (1, 8)
    ]
    return collect(11, runs, command="c", setting="quick")


def test_more_threads_than_processors_are_marked_everywhere():
    """In the dataset, the picture, the table and the sentences; claims say it, too."""
    for processors, marks in ((8, [0, 0]), (2, [0, 1])):
        figure = shared(processors)
        assert figure.oversubscribed.values.tolist() == marks
        some = any(marks)
        assert [bool(bar.oversubscribed) for bar in bars(figure)] == list(map(bool, marks))
        picture = draw(figure)
        hatched = [bool(bar.get_hatch()) for ax in picture.axes for bar in ax.patches]
        assert hatched == [some]
        assert ("hatched" in picture.axes[-1].get_xlabel()) == some
        said = "in 1 of 2 runs 8 threads took turns on 2 processors"
        assert any(said in line for line in findings(figure)) == some
        assert bool(crowded(figure)) == some
        text, left_out = page({"f": figure})
        assert not left_out
        assert ("<td>yes: 8 threads on 2 processors</td>" in text) == some
    few = shared(2, clusters=2)
    assert not few.oversubscribed.any()
    old = findings(figure.drop_vars("oversubscribed"))
    assert "The results do not say which runs had more threads than processors." in old


WRONG = [
    (8, 'run=[{kernel="bf", n=64}]', "run.0.kind: figure 8 needs it; must be some of mn, mx,"),
    (8, 'run=[{kernel="bf", n=64, kind="mx"}]', "run.0.count_as: figure 8 needs it; must be"),
    (8, "run.1.kind=rn", "run.1.kind: figure 8 needs it"),
    (9, "run.0.count_as=serial", "run.0.count_as: figure 9 needs it"),
    (9, 'run=[{kernel="bf", n=64, kind="mx", style="clocked"}]', "run.0.count_as: figure 9 ne"),
    (7, "run.0.form=recursive", "run.0.form: figure 7 is of iterative kernels"),
    (9, "run.0.workload={operation=1}", "did you mean 'operations'"),
    (9, "run.0.workload={operations=-1}", "operations must be an integer from 0"),
    (9, "figure.number=20", "figure.number = 20"),
    (9, 'run=[{kernel="bf", kind="mx", clusters="n"}]', "'n' needs a number of nodes"),
]


@pytest.mark.parametrize(("number", "change", "message"), WRONG)
def test_bad_figures(number, change, message):
    """Among them some that nothing can be looked up for."""
    graph = ["graph.generate=rn", "graph.family=imsuite"]
    with pytest.raises(InputError, match=re.escape(message)):
        load(str(CONFIGS[number]), [change, *graph])


FORMS = [(9, "form=recursive"), (9, "kind=spmin"), (9, "kind=spmax"), (8, "kernel=bfs")]


@pytest.mark.parametrize(("number", "change"), FORMS)
def test_rounds_of_any_form_and_input(number, change, tmp_path):
    """Communication by depth is drawn, too; inputs by their names in the generators; tables without cells."""
    path = tmp_path / "f.toml"
    path.write_text(
        f'[figure]\nnumber = {number}\n[[run]]\nkernel = "bf"\nkind = "spmax"\nn = 8\nstyle = "serial"\n'
        'count_as = "clocked"\ngraph = { generate = "{kind}" }\n'
    )
    command = [str(path), "--output", str(tmp_path / "o.nc"), "--set", f"run.0.{change}"]
    assert experiment.main(command) == 0
    assert (tmp_path / "o.png").exists()
