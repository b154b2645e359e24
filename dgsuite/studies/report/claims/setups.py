"""Set-ups of IMSuite's figures: where an experiment file, or a result, differs from the paper."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import xarray as xr

from dgsuite import genval
from dgsuite.core.results.dataset import runtime_model
from dgsuite.studies.experiment import model as config
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, processor_of, setup_of
from dgsuite.studies.report.claims.evidence import SUITE, Evidence, N
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, needed
from dgsuite.studies.report.factors import SERIAL_PROGRAM
from dgsuite.studies.report.results import crowded
from dgsuite.studies.report.results import hardware_threads as hardware_threads_of
from dgsuite.studies.report.statistics import Interval, above, every, interval, ratio
from dgsuite.studies.report.tables import INPUTS, SERIAL, program
from dgsuite.studies.scaling.traffic import trace

TIMED = range(11, 20)
"""Figures of times."""

NO_FILES = "there is no folder of experiment files"


class Made(NamedTuple):
    """A run, as a set-up sees it; the fields but the first are the aspects of an experiment."""

    program: str
    kernels: str
    form: str
    inputs: str
    sizes: int
    threads: int
    places: int
    workload: int
    repeats: int


FOLLOWING = ("threads", "places")
"""Aspects that may follow the size."""


def planned(points: Sequence[config.Point]) -> list[Made]:
    """The points of an experiment."""
    return [_made(vars(p), p.form) for p in points]


def ran(figure: xr.Dataset) -> list[Made]:
    """The runs of a figure's dataset."""
    coords = {str(n): c.values.tolist() for n, c in figure.coords.items() if c.dims == ("run",)}
    rows = [dict(zip(coords, row, strict=True)) for row in zip(*coords.values(), strict=True)]
    return [_made(row, str(row.get("form") or "iterative")) for row in rows]


def _made(run: Mapping[str, Any], form: str) -> Made:
    style = run["count_as"] if run["style"] == "serial" else run["style"]
    runtime = run.get("runtime") or ("X10" if run["style"] == "serial" else None)
    work = json.loads(run["workload"]).get("operations", 0) if run.get("workload") else 0
    places = max(run["clusters"] or 1, 1)
    hwts = run.get("hwts") or -1
    threads = hwts if hwts > 0 else min(run["workers"] * run["threads"], places)
    if style == SERIAL:  # a process is a place, and one of them computes
        places, threads = min(run["workers"], places), 1
    return Made(
        program(runtime, style), run["kernel"], form, INPUTS.get(run["kind"] or "", ""),
        run["n"], threads, places, work, run["repeat"],
    )  # fmt: skip


def departures(claim: Claim, runs: Sequence[Made]) -> dict[str, str]:
    """Where runs differ from a set-up, by aspect: "ours instead of the paper's".

    Aspects that the claim does not name are not compared. "programs" are those of one side alone.
    """
    found: dict[str, list[str]] = {}
    experiments = claim.data.get("experiment", ())
    serial = [r for r in runs if r.program == SERIAL_PROGRAM]
    runs = [r for r in runs if r.program != SERIAL_PROGRAM]
    here, there = {r.program for r in runs}, {e["program"] for e in experiments}
    if here != there:
        found["programs"] = [verdicts.instead(_said(here - there), _said(there - here))]
    for experiment in experiments:
        mine = [r for r in runs if r.program == experiment["program"]]
        for aspect, paper in experiment.items():
            if aspect == "program" or not mine:
                continue
            ours = _of(mine, aspect, paper)
            wanted = paper if paper == "n" else _set(paper)
            if ours != wanted:
                text = f"{experiment['program']} {verdicts.instead(_said(ours), _said(wanted))}"
                found.setdefault(aspect, []).append(text)
    repeats = claim.data.get("repeats")
    if repeats and (made := len({r.repeats for r in runs})) != repeats:
        found["repeats"] = [verdicts.instead(made, repeats)]
    base, own = claim.data.get("base", "not said"), _base(serial, experiments)
    if base not in ("not said", own):
        found["base"] = [verdicts.instead(own, base)]
    return {aspect: "; ".join(texts) for aspect, texts in found.items()}


def _base(serial: Sequence[Made], experiments: Collection[Mapping[str, Any]]) -> str:
    """What times are over: the first of what is swept, or serial runs and their runtime model."""
    if not serial:
        return "first"
    models = _said({runtime_model(r.places, r.sizes) for r in serial})
    x10 = {k for e in experiments if e["program"].startswith("X10") for k in e["kernels"]}
    lacking = x10 - {r.kernels for r in serial}
    return f"serial, {models}" + (f", without {_said(lacking)}" if lacking else "")


def _of(runs: Sequence[Made], aspect: str, paper: Any) -> Any:
    if aspect in FOLLOWING and paper == "n" and all(getattr(r, aspect) == r.sizes for r in runs):
        return "n"
    found = {getattr(r, aspect) for r in runs}
    return found - {"ring"} if aspect == "inputs" else found


def _set(value: Any) -> set:
    return set(value) if isinstance(value, list) else {value}


def _said(values: Collection[Any]) -> str:
    if isinstance(values, str):
        return values
    return "all" if set(values) == set(SUITE) else ", ".join(map(str, sorted(values)))


@check
def setting(claim: Claim, evidence: Evidence) -> Verdict:
    """The file's full setting beside the paper's; what departs must be in its ``figure.departs``."""
    number, study = claim.data["figure"], claim.data.get("study", "")
    full, fast = (
        needed(evidence.experiment(number, way, study), NO_FILES) for way in (True, False)
    )
    assert full.figure is not None
    found, less = (
        departures(claim, planned(evidence.points(number, way, study))) for way in (True, False)
    )
    less = less if full != fast else {}
    quick = [f"quick {a}: {t}" for a, t in less.items() if found.get(a) != t]
    return departing(found, full.figure.departs, quick)


def departing(
    found: Mapping[str, str], reasons: Mapping[str, str], more: Sequence[str] = ()
) -> Verdict:
    """The verdict on an experiment file.

    Parameters
    ----------
    found
        Where the file differs from the paper, by aspect.
    reasons
        Why, by aspect: the file's ``figure.departs``. One for what does not depart is an error, too.
    more
        What else ours are to say.
    """
    silent = [f"{a}: {t}" for a, t in found.items() if a not in reasons]
    silent += [f"{a}: said to depart, but does not" for a in reasons if a not in found]
    ours = [*(f"{aspect}: {text}" for aspect, text in found.items()), *more]
    why = "; ".join(f"{aspect}: {reasons[aspect]}" for aspect in found if aspect in reasons)
    verdict = verdicts.DIFFERS if found or silent else verdicts.EQUAL
    return Verdict(verdict, ". ".join(ours), why, "; ".join(silent))


def _full(evidence: Evidence, numbers: Sequence[int] = TIMED) -> dict[int, config.Config]:
    found = {n: evidence.experiment(n) for n in numbers}
    return needed({n: c for n, c in found.items() if c is not None}, NO_FILES)


@check
def repeats(claim: Claim, evidence: Evidence) -> Verdict:
    """Repeats of the full settings, each one run."""
    files = _full(evidence)
    made = {c.experiment.repeats * c.experiment.iterations for c in files.values()}
    return compared(claim, made == {claim.data["repeats"]}, sorted(made))


@check
def limits(claim: Claim, evidence: Evidence) -> Verdict:
    """Least and most of what full settings vary."""
    runs = [run for n in _full(evidence) for run in planned(evidence.points(n))]
    ours = {
        name: {"least": min, "most": max}[end](getattr(r, aspect) for r in runs if who in r.program)
        for name, end, aspect, who in claim.data["limits"]
    }
    return compared(claim, ours == claim.data["values"], ours)


def _experiments(number: int, study: str = "") -> list[dict[str, Any]]:
    claim = setup_of(number, study)
    return [] if claim is None else list(claim.data.get("experiment", ()))


@check
def experiments(claim: Claim, evidence: Evidence) -> Verdict:
    """In what the set-ups of figures depart here, and whether a table beside them has their programs.

    A claim may be about some figures and aspects alone.
    """
    for key, row in claim.table().items() if "rows" in claim.data else ():
        number = int("".join(c for c in key[:2] if c.isdigit()))
        if not {e["program"] for e in _experiments(number)} >= set(row["programs"]):
            odd = f"Figure {key}: {row['programs']}"
            return Verdict(verdicts.DIFFERS, odd, silent="two claims disagree")
    named = {}
    for n in _full(evidence, claim.data.get("figures", TIMED)):
        found = departures(setup_of(n) or claim, planned(evidence.points(n)))
        if depart := [a for a in found if a in claim.data.get("aspects", found)]:
            named[f"Figure {n}"] = depart
    return compared(claim, not named, named or "all set-ups")


@check
def models(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether Figure 15 has the three runtime models, and which of them send data between places."""
    runs = planned(needed(evidence.points(15), NO_FILES))
    ours = {
        "SP": any(r.places == 1 for r in runs),
        "MP": any(1 < r.places < r.sizes and r.sizes % r.places == 0 for r in runs),
        "UP": any(r.places == r.sizes for r in runs),
    }
    graph = genval.graph("mx", N, family="paper", kernel="bf")
    sent = trace("bf", graph, clusters=[1, N // 4, N]).total_bytes.sum("step").values.tolist()
    told = {name: f"{nbytes} bytes" for name, nbytes in zip(ours, sent, strict=True)}
    return compared(claim, all(ours.values()) and sent[0] == 0 < min(sent[1:]), told)


@check
def one_place(claim: Claim, evidence: Evidence) -> Verdict:
    """HJ's one place: one process, and in how many clusters its nodes are."""
    points = [p for n in _full(evidence) for p in evidence.points(n) if p.runtime == "HJ"]
    processes, clusters = {p.workers for p in points}, {p.clusters for p in points}
    ours = {"processes": sorted(processes), "clusters": sorted(c or 1 for c in clusters)}
    return compared(claim, processes == {1} == clusters, ours)


ON_ONE_PLACE = {11: 7, 12: 10}
"""Figures with the serial program in the UP model, and those whose runs are serial ones of the same."""


@check
def serial_base(claim: Claim, evidence: Evidence) -> Verdict:
    """Serial runs with a place for each node: tasks, bytes, and times over those on one place."""
    ours: dict[str, Any] = {}
    held: list[bool | None] = []
    for number, other in ON_ONE_PLACE.items():
        apart, alone = evidence.figure(number), evidence.figure(other)
        if apart is not None and alone is not None and SERIAL in apart["style"].values:
            runs = apart.isel(run=apart["style"].values == SERIAL)
            tasks, sent = int(runs["asyncs"].max()), int(runs["wire_bytes"].min())
            held.append(tasks == 0 < sent and bool((runs["workers"] == N).all()))
            near = _times(alone.isel(run=alone["style"].values == "serial"))
            found = {
                key: ratio(time, near[key]) for key, time in _times(runs).items() if key in near
            }
            held += map(above, found.values())
            times = ", ".join(f"{kernel} x {by.mean:.0f}" for (kernel, *_), by in found.items())
            ours[f"Figure {number}"] = (
                f"{tasks} tasks, at least {sent} bytes between {N} places; {times}"
            )
    needed(held, "no serial program in Figures 11 and 12 beside that of Figures 7 and 10")
    return compared(claim, every(held), ours)


def _times(runs: xr.Dataset) -> dict[Any, Interval]:
    """Times by kernel, form, size and input."""
    by = runs["seconds"].to_dataframe().groupby(["kernel", "form", "n", "kind"])["seconds"]
    return {key: interval(times) for key, times in by}


@check
def machine(claim: Claim, evidence: Evidence) -> Verdict:
    """The machine that results were made on."""
    made = needed(evidence.machines(), "no results: they say what machine made them")
    others = [text for text in made if processor_of(claim) not in text]
    return compared(claim, not others, sorted(made), results=bool(others))


@check
def hardware_threads(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether each hardware thread of the results was a processor's own."""
    figures = {n: d for n in TIMED if (d := evidence.figure(n)) is not None}
    needed(figures, "no results of times")
    there = {int(n) for d in figures.values() for n in hardware_threads_of(d)}
    lacking = {row[0] for row in claim.data["rows"]} - there
    needed(not lacking, f"the results lack {verdicts.said(sorted(lacking))} hardware threads")
    shared = {n: text for n, d in figures.items() if (text := crowded(d))}
    told = {f"Figure {n}": text for n, text in shared.items()} or "a processor each"
    worst = figures[min(shared)] if shared else None
    return compared(claim, not shared, told, results=worst)


def settings_of(figure: xr.Dataset) -> dict[str, str]:
    """Where the runs of a figure's dataset differ from the paper, by aspect."""
    claim = setup_of(int(figure.attrs["figure"]), str(figure.attrs.get("study", "")))
    return departures(claim, ran(figure)) if claim and "experiment" in claim.data else {}


def described(number: int, study: str = "") -> str:
    """The paper's set-up of a figure, or of a study beside it, in a sentence."""
    parts = []
    for e in _experiments(number, study):
        kernels = _said(e["kernels"])
        kernels = kernels if kernels == "all" else kernels.upper()
        told = [f"{e['program']}: {e['form']}, {kernels} kernels"]
        words = {"sizes": "nodes", "threads": "hardware threads", "places": "places"}
        numbers = {word: _said(e[name]) for name, word in words.items() if name in e}
        told += [f"{n} {w.removesuffix('s') if n == '1' else w}" for w, n in numbers.items()]
        told.append(", ".join(f"{i}-In" for i in e["inputs"]))
        if any(work := sorted(_set(e.get("workload", 0)))):
            told.append(f"{' and '.join(f'{w:,}' for w in work)} operations a task")
        parts.append("; ".join(told))
    claim = setup_of(number, study)
    assert claim is not None
    base = claim.data.get("base", "")
    if base:
        first = {"first": "the first value", "not said": "what is not said"}.get(base, base)
        parts.append(f"Normalised to {first}; {claim.data['repeats']} repeats")
    return ". ".join(parts) + "." if parts else ""
