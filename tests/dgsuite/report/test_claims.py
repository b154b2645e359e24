"""What the papers say: every claim has a verdict, and nothing departs from one without saying so."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.studies.report import tables, text
from dgsuite.studies.report.claims import (
    counts,
    kernels,
    setups,
    traced,
)
from dgsuite.studies.report.claims.data import claims, setup_of
from dgsuite.studies.report.claims.evidence import CONFIGS, Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.verdicts import CHECKS, CONDITIONS
from dgsuite.studies.report.forms import forms
from dgsuite.studies.report.tables import cells_of
from tests.support import mains
from tests.support.claims import of_counts
from tests.support.paths import ROOT
from tests.support.sentences import unfounded


@pytest.fixture(scope="module")
def evidence():
    return Evidence(of_counts())


def test_what_is_open_is_named(evidence):
    names = [f"imsuite.fig{which}.table" for which in ("8", "10a", "10b")]
    rows = judge(evidence, [claims()[name] for name in names])
    ours = {row.claim.id: row.verdict.ours for row in rows}
    assert ours["imsuite.fig8.table"].endswith("open: HS ring FAC comm, VC Mx FA comm.")
    assert ours["imsuite.fig10b.table"].endswith("open: MST Mn FAC comm, MST Mx FAC comm.")
    assert "open:" not in ours["imsuite.fig10a.table"]


def test_every_setup_is_compared():
    """Those of IMSuite's figures of times aspect by aspect, with the experiment that is printed."""
    for number in range(11, 20):
        claim = setup_of(number)
        assert claim.check == "setting"
        for experiment in claim.data["experiment"]:
            assert set(experiment) == set(setups.Made._fields) - {"repeats"}
        assert claim.data["repeats"] == 30


def test_an_empty_folder_is_one_without_results(tmp_path, capsys):
    """What needs results is not checked; the rest is judged as without a folder, in tables or in JSON."""
    command = ["claims", "--only", "imsuite.fig14", "--json"]
    assert mains.report(command) == 0
    without = capsys.readouterr()
    assert mains.report([*command, str(tmp_path)]) == 0
    empty = capsys.readouterr()
    assert {row["verdict"] for row in json.loads(empty.out)} == {"equal", "not checked"}
    assert (empty.out, without.err) == (without.out, "")
    assert empty.err == (
        f"{tmp_path}: holds no results (*.nc), so what needs results is not checked\n"
    )
    assert mains.report(["claims", str(ROOT / "docs/study"), "--only", "imsuite.fig8.table"]) == 0
    printed = capsys.readouterr().out
    assert "57 of 64 cells are equal" in printed
    last = "1 claims: 1 measured (differs 1), 0 simulated, 0 planned, 0 definition; 0 depart without a reason"
    assert printed.endswith(f"{last}\n")


def with_cell(claim, row, column, value):
    """A claim with another value in a cell."""
    at = claim.data["columns"].index(column)
    data = [
        [value if r[0] == row and i == at else v for i, v in enumerate(r)]
        for r in claim.data["rows"]
    ]
    return replace(claim, data={**claim.data, "rows": data})


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("name", "row", "column", "value", "said"),
    [
        ("7a", "dr", "dynamic FA finishes", "2", "dr "),
        ("7a", "dst", "dynamic FA finishes", "(3*D^2 + 8*D)/2", "dst "),
        ("7a", "dp", "static FA mutexes", 3, "dp "),
        ("7b", "mst", "static FAC finishes", 6, "mst "),
        ("8", "mst", "FA comm Mx", 19155, "mst "),
        ("10a", "bf", "FA finishes Mn", 130, "does not hold: A node is expanded again"),
        ("7c", "bf", "dynamic FAC barriers", "D + 1", "bf "),
        ("7c", "by", "HJ-FAP lines", 100, "some program of ours is longer"),
        ("8", "by", "mutexes Mx", "94K", "by "),
        ("10a", "bf", "FA mutexes Mx", 2954, "bf "),
        ("10b", "mst", "FAC comm Mn", 14018, "mst "),
    ],
)
def test_a_wrong_cell_is_found(evidence, name, row, column, value, said):
    """Also one that is equal to ours where a difference is explained."""
    claim = claims()[f"imsuite.fig{name}.table"]
    assert not counts.cells(claim, evidence).silent
    found = counts.cells(with_cell(claim, row, column, value), evidence)
    assert said in found.silent


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
    "ours",
    [None, {"tell": 1}, {"tell": 1, "stop": 2}, {"tell": 1, "compare": 1}],
)
def test_a_wrong_trace_explains_nothing(monkeypatch, ours):
    key = ("dp", "iterative", "finish_async", "mutexes")
    assert "sendMessage" in text.reason(*key, 1)
    places = [{"in": "sendMessage", "ours": ours}] if ours else []
    monkeypatch.setattr(text, "texts", lambda: {key: places})
    assert text.reason(*key, 1) == ""


def test_lines_of_code_are_judged_once(evidence):
    claim = claims()["imsuite.fig7c.table"]
    assert not any("lines" in cell.column for cell in cells_of(claim, evidence.all_counted))
    said = r"22 numbers of lines are of another language: \d+ to \d+ for 240 to 850, fewer"
    assert re.search(said, counts.cells(claim, evidence).ours)


def test_passes_of_loops_explain_joins_of_mst(evidence):
    """By traces and counts; another trace explains nothing."""
    claim = claims()["imsuite.fig7c.table"]
    assert counts.cells(claim, evidence).silent == ""
    found = counts.cells(claim, Traced("mst", trace=lambda ds: ds.isel(phase=slice(9, None))))
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


@pytest.mark.parametrize(("most", "expected"), [("by", "equal"), ("kc", "differs")])
def test_messages_of_another_kernel_may_grow_most(monkeypatch, most, expected):
    def growth(kernel, sizes):
        return {"time": (1.0, 1.0), "messages": (3.0 if kernel == most else 1.0, 1.0)}

    claim = claims()["imsuite.fig14.by-why"]
    monkeypatch.setattr(kernels, "growth", growth)
    assert CHECKS[claim.check](claim, Evidence()).verdict == expected


def test_a_cut_with_more_partners_is_found(monkeypatch):
    claim = claims()["scalability.sec2.factors"]
    assert CHECKS[claim.check](claim, Evidence()).verdict == "agrees"
    everyone = xr.Dataset({"traffic": (("round", "from", "to"), np.ones((1, 16, 16)))})
    monkeypatch.setattr(dgsuite, "run", lambda *given, **how: everyone)
    assert CHECKS[claim.check](claim, Evidence()).verdict == "differs"


def test_print_is_what_it_was():
    """Sums of the printed cells of code, which nothing else is compared with."""
    sums = {
        "7a": [5680, 5315, 69, 17],
        "7b": [2260, 2180, 25, 9, 1420, 1330, 10, 9, 7],
        "7c": [5130, 4730, 35, 35, 17],
    }
    printed = []
    for name, expected in sums.items():
        claim = claims()[f"imsuite.fig{name}.table"]
        rows = [*claim.table().values()]
        columns = [c for c in claim.data["columns"][1:] if not c.startswith("dynamic")]
        assert [sum(row[c] for row in rows if row[c] != "-") for c in columns] == expected
        printed += [value for row in rows for value in row.values() if value != "-"]
    assert len(printed) == 60 + 35 + 77


@pytest.mark.parametrize(("clusters", "seed"), [(2, 7), (8, 101), (64, 7)])
def test_recursive_bf_obeys_its_relations_on_any_schedule(client, clusters, seed):
    graph = genval.graph("mx", 64, seed=seed, family="paper", kernel="bf")
    assert graph.attrs["root"] != 0
    how = {"form": "recursive", "style": "finish_async", "clusters": clusters, "faithful": True}
    for style, short in (("finish_async", "FA"), ("clocked", "FAC")):
        ds = dgsuite.run("bf", graph, count_as=style, client=client, **how)
        assert counts.obeys(short, *(int(ds[v].sum()) for v in counts.COUNTS))
    assert not counts.obeys("FA", 2945, 2945, 2824, 242, 0)


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
        super().__init__(of_counts())
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


@pytest.mark.few(1)
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


def test_messages_are_delivered_alike_on_every_cut():
    """The reason why mailboxes are no queues is tested: runs of other cuts give the same."""
    claim = claims()["imsuite.sec4.mailbox"]
    assert CHECKS[claim.check](claim, Evidence()).why == claim.why
    run = xr.Dataset({name: ("node", [1, 2]) for name in ("messages", *KERNELS["dst"].outputs)})
    assert CONDITIONS["runs_repeat"]([run, run])
    assert not CONDITIONS["runs_repeat"]([run, run.assign(messages=("node", [1, 3]))])


def test_headings_are_the_papers():
    """A figure's heading is its claim's."""
    for number, form in forms().items():
        assert form.title == setup_of(number).data["title"]
    study = (CONFIGS.parent / "dgsuite" / "studies" / "report" / "paper" / "study.toml").read_text()
    assert not re.search(r"^(title|says|look)", study, re.MULTILINE)


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
        ("run 2824", "run 2842", "imsuite.fig10a.table: 2824 is not in the paragraph"),
        (
            "run 2824",
            "run 2842",
            "no claim is named for: Here 1532 tasks, in the paper's run 2842.",
        ),
        ("table 2824", "table 1532", "imsuite.fig10a.table does not say 1532"),
        ("fig10a.table", "fig10c.table", "there is no claim imsuite.fig10c.table"),
        ("<!-- claim: imsuite.fig10a.table 2824 -->", "", "no claim is named for: Here 1532"),
    ],
)
def test_a_wrong_sentence_is_found(old, new, wrong):
    text = "Here 1532 tasks, in the paper's run 2824. <!-- claim: imsuite.fig10a.table 2824 -->"
    assert list(unfounded(text)) == []
    assert list(unfounded("As the paper's Figures 7 to 9, section 6.1. Here 12.")) == []
    assert wrong in "\n".join(unfounded(text.replace(old, new)))


def test_an_installed_package_without_experiment_files(tmp_path):
    found = {c.id: CHECKS[c.check](c, Evidence(configs=tmp_path / "none")) for c in claims().values()
             if c.kind == "setup"}  # fmt: skip
    assert {v.verdict for v in found.values()} == {"not checked", "agrees"}
