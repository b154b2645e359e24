"""Checks of what "X10 on the SCC" says, on experiment files, results in a folder and our code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import xarray as xr

import genval
from dgsuite.report.claims.data import Claim, claims
from dgsuite.report.claims.evidence import Evidence
from dgsuite.report.claims.setups import NO_FILES
from dgsuite.report.claims.verdicts import UNCHECKED, Row, Verdict, check, compared, unknown
from dgsuite.scc import hf_report
from dgsuite.scc.hf_study import PLACES, primitives
from dgsuite.transports.settings import Settings

OURS = {"RCCE-X10": "mpb", "mpi-mpb": "mpimpb", "sockets": "tcp"}
"""What stands for the paper's transports; nothing stands for mpi-sock."""

FILES = {
    5: "scc-hf-figure5",
    6: "scc-hf-figure6",
    7: "scc-hf-figure6",
    8: "scc-bc",
    9: "scc-bc",
    10: "scc-bc",
}
"""Experiment files by figure."""

EDGES = 1e-3
"""Relative difference up to which two random graphs have as many edges."""

NEAR = 0.15
"""Relative difference up to which a simulated speed-up agrees with the paper's."""

NO_BC, NO_HF = "no results of betweenness centrality", "no results of Hartree-Fock"


def _bc(evidence: Evidence) -> xr.Dataset | None:
    return next(evidence.having("simulated_seconds", program="bc"), None)


def _hf(evidence: Evidence, name: str) -> xr.Dataset | None:
    return next((ds for ds in evidence.having("simulated") if name in ds.input), None)


def _file(evidence: Evidence, name: str) -> dict[str, Any] | None:
    path = evidence.configs and evidence.configs / f"{name}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path and path.exists() else None


def _common(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data.get("hf") or data["scc"]


@check
def scc_setting(claim: Claim, evidence: Evidence) -> Verdict:
    """What the experiment file has otherwise; the claim lists it in ``departs``."""
    data = _file(evidence, FILES[int(claim.id.split(".fig")[1].split(".")[0])])
    if data is None:
        return unknown(NO_FILES)
    common = _common(data)
    vary, fixed = claim.data["vary"], claim.data["fixed"]
    found: dict[str, str] = {}
    theirs = vary.get("transport", [fixed.get("transport", "RCCE-X10")])
    given = common.get("protocol", common.get("protocols", ["tcp"]))
    ours = [given] if isinstance(given, str) else given
    absent = [t for t in theirs if OURS.get(t) not in ours]
    if absent:
        found["transports"] = f"{', '.join(absent)} absent; there are {', '.join(ours)}"
    if "machine_a" in fixed and "mpi" not in ours:
        found["transports"] = f"{fixed['machine_a']}: {ours[0]} stands for it"
    places = common.get("places", PLACES)
    least, most = (int(v) for v in _numbers(str(vary.get("places", "1 to 48"))))
    if (min(places), max(places)) != (least, most):
        found["places"] = f"{min(places)} to {max(places)} for {least} to {most}"
    repeats = common.get("repeats", 3)
    if repeats != claim.data["repeats"]:
        found["repeats"] = f"{repeats} for {claim.data['repeats']}"
    listed = set(claim.data.get("departs", ()))
    silent = [f"{name}: {text}" for name, text in found.items() if name not in listed]
    silent += [f"{name}: said to depart, but does not" for name in listed - found.keys()]
    verdict = compared(claim, not found, found)
    return verdict._replace(silent="; ".join(silent))


def _numbers(text: str) -> tuple[str, str]:
    words = ["".join(c for c in word if c.isdigit()) for word in text.partition("(")[0].split()]
    numbers = [word for word in words if word]
    return (numbers[0], numbers[-1]) if len(numbers) > 1 else ("1", numbers[0])


@check
def scc_repeats(claim: Claim, evidence: Evidence) -> Verdict:
    """Repeats of the experiment files."""
    made = {}
    for name in dict.fromkeys(FILES.values()):
        if (data := _file(evidence, name)) is not None:
            made[name] = _common(data).get("repeats", 3)
    if not made:
        return unknown(NO_FILES)
    holds = set(made.values()) == {claim.data["repeats"]}
    return compared(
        claim, holds, made, "runs' mean; costs of a unit and of a message are the least"
    )


@check
def transports(claim: Claim, evidence: Evidence) -> Verdict:
    """The paper's transports that have a counterpart."""
    there = [row[0] for row in claim.data["rows"] if row[2]]
    ours = {name: OURS.get(name, "none") for name in there}
    return compared(claim, "none" not in ours.values(), ours)


@check
def payload(claim: Claim, evidence: Evidence) -> Verdict:
    """Bytes of a buffer that are left for a message on the chip's 48 cores."""
    wanted = claims()["scc.sec3.2.payload"].data["values"]["at_48"]
    ours = Settings(8192, 48, 0, 0.0).payload()
    return compared(
        claim,
        ours == wanted,
        f"{ours} bytes",
        "where the chip's sizes are set; the studies' buffers are larger",
    )


@check
def sections(claim: Claim, evidence: Evidence) -> Verdict:
    """Bytes of a section on the chip's 48 cores."""
    values = claim.data["values"]
    ours = Settings(values["mpb_bytes"], values["sections"], 0, 0.0).section()
    return compared(
        claim, ours == values["section_bytes"], f"{ours} bytes", "the studies' sections are larger"
    )


@check
def balances(claim: Claim, evidence: Evidence) -> Verdict:
    """The ways to balance that the experiment files have."""
    data = _file(evidence, FILES[5])
    if data is None:
        return unknown(NO_FILES)
    ours = set(data["hf"]["balance"])
    return compared(claim, ours == set(claim.table()), ours)


@check
def hf_inputs(claim: Claim, evidence: Evidence) -> Verdict:
    """The molecules and bases of the experiment files."""
    ours: list[str] = []
    for name in (FILES[5], FILES[6]):
        if (data := _file(evidence, name)) is not None:
            ours += [f"{i['molecule']} {i['basis']}" for i in data["hf"]["input"]]
    if not ours:
        return unknown(NO_FILES)
    theirs = {f"{row['molecule']} {row['basis']}" for row in claim.table().values()}
    return compared(claim, set(ours) == theirs, ours)


@check
def work_units(claim: Claim, evidence: Evidence) -> Verdict:
    """Units of benzene in STO-3G under static balancing."""
    try:
        from dgsuite.chem import molecule
        from dgsuite.chem.scf import plan
    except ImportError:
        return unknown("PySCF is not installed (extra chem)")
    work, _ = plan(molecule.mole(molecule.read("benzene"), "sto-3g"), "static")
    ours = len(primitives(work))
    return compared(
        claim, ours == claim.data["values"]["static_work_units_benzene_sto3g"], f"{ours} units"
    )


@check
def bc_graphs(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether a generated graph is directed, weighted and bipartite."""
    graph = genval.rmat(8)
    matrix = graph.to_scipy()
    cycles = matrix.astype(bool).astype(int)
    odd = (cycles @ cycles @ cycles).diagonal().sum() > 0
    ours = {
        "directed": graph.directed,
        "weighted": len(set(matrix.data)) > 1,
        "odd cycles": bool(odd),
    }
    return compared(claim, all(ours.values()), ours, "but not bipartite")


@check
def table1(claim: Claim, evidence: Evidence) -> Verdict:
    """Shares of the experiment file as printed, and edges of graphs of these; else of results."""
    data = _file(evidence, FILES[9])
    if data is None:
        return _edges(claim, evidence)
    silent, ours = [], {}
    rows = {
        row[1]: dict(zip(claim.data["columns"], row, strict=True)) for row in claim.data["rows"]
    }
    for name, given in data["bc"]["workload"].items():
        shares = {
            x: given.get(x, default)
            for x, default in zip("abcd", (0.55, 0.1, 0.1, 0.25), strict=True)
        }
        for key, value in {"n": given["n"], **shares}.items():
            if rows[name][key] != value:
                silent.append(f"{name} {key}: {value} for {rows[name][key]}")
        if given.get("edges") != rows[name]["edges"]:
            silent.append(f"{name} edges: {given.get('edges')} for {rows[name]['edges']}")
        ours[name] = genval.rmat(given["n"], **shares, seed=1).m
    absent = rows.keys() - ours.keys() - {"large"}  # low again
    holds = not absent and all(abs(m / rows[name]["edges"] - 1) < EDGES for name, m in ours.items())
    return compared(claim, holds, ours, f"{EDGES:.1%} of the edges")._replace(
        silent="; ".join(silent)
    )


def _edges(claim: Claim, evidence: Evidence) -> Verdict:
    """Edges of the graphs that results are of."""
    if (ds := _bc(evidence)) is None:
        return unknown(NO_FILES)
    printed = {row[1]: row[-1] for row in claim.data["rows"]}
    ours = {w: int(ds.edges.sel(workload=w)) for w in ds.workload.values.tolist() if w in printed}
    holds = all(abs(m / printed[w] - 1) < EDGES for w, m in ours.items())
    return compared(claim, holds, ours, f"{EDGES:.1%} of the edges")


@check
def holes(claim: Claim, evidence: Evidence) -> Verdict:
    """Places that the files simulate and the paper could not run."""
    data = _file(evidence, FILES[6])
    if data is None:
        return unknown(NO_FILES)
    fewer = [p for p in data["hf"].get("places", PLACES) if p < 8]
    return compared(claim, not fewer, f"Hartree-Fock on {', '.join(map(str, fewer))} places")


# Hartree-Fock, on results


def _findings(claim: Claim, evidence: Evidence) -> Verdict:
    """The findings that a claim has as data, on the transport that stands for the paper's."""
    told, held = [], []
    for entry in claim.data["finding"]:
        if (ds := _hf(evidence, entry["input"])) is None:
            continue
        wanted = OURS["RCCE-X10"] if claim.id.split(".fig")[1][0] in "67" else "tcp"
        there = ds.transport.values.tolist()
        transport = wanted if wanted in there else there[0]
        for row in hf_report.findings(ds):
            if row["claim"] == claim.id and row["says"] == hf_report.sentence(entry):
                text, agrees = row["ours"][transport]
                told.append(f"{row['says']}: {text} on {transport}, simulated")
                held.append(agrees)
    if not told:
        return unknown(NO_HF)
    return compared(claim, all(held), told, f"{hf_report.CLOSE:.0%}")


@check
def hf_speedups(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups that the text names."""
    return _findings(claim, evidence)


@check
def dynamic_costly(claim: Claim, evidence: Evidence) -> Verdict:
    """Dynamic over static, at few places and at 48."""
    return _findings(claim, evidence)


@check
def static_rougher(claim: Claim, evidence: Evidence) -> Verdict:
    """How even the gains of more places are."""
    return _findings(claim, evidence)


@check
def aspirin_better(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups of aspirin and benzene at 48 places under both balances."""
    ds = _hf(evidence, "aspirin 3-21g")
    if (
        ds is None
        or "benzene 3-21g" not in ds.input
        or not {"static", "dynamic"} <= set(ds.balance.values)
    ):
        return unknown(NO_HF)
    transport = "tcp" if "tcp" in ds.transport else str(ds.transport.values[0])
    gap = {}
    for arm in ("static", "dynamic"):
        at = [
            float(hf_report.speedup(ds, f"{m} 3-21g", arm, transport).sel(places=48))
            for m in ("aspirin", "benzene")
        ]
        gap[arm] = at[0] / at[1]
    holds = min(gap.values()) > 1 and gap["static"] > gap["dynamic"]
    return compared(
        claim, holds, {f"{arm} aspirin over benzene": f"{g:.2f}x" for arm, g in gap.items()}
    )


def _hf_times(evidence: Evidence) -> xr.DataArray | None:
    ds = _hf(evidence, "benzene sto-3g")
    if ds is None or "mpb" not in ds.transport:
        return None
    near = ds.simulated.sel(input="benzene sto-3g", places=slice(8, 48))
    return near.sel(
        transport=[t for t in OURS.values() if t in ds.transport], balance=["static", "dynamic"]
    )


@check
def hf_native(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the native transport is fastest at all places."""
    if (times := _hf_times(evidence)) is None:
        return unknown(NO_HF)
    best = times.sel(transport="mpb") <= times.min("transport")
    return compared(
        claim, bool(best.all()), f"first at {int(best.sum())} of {best.size} points, simulated"
    )


@check
def hf_sockets(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether sockets are slowest."""
    if (times := _hf_times(evidence)) is None or "tcp" not in times.transport:
        return unknown(NO_HF)
    worst = times.sel(transport="tcp") >= times.max("transport")
    return compared(
        claim, bool(worst.all()), f"last at {int(worst.sum())} of {worst.size} points, simulated"
    )


@check
def hf_native_scales(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups from 8 to 48 places by transport."""
    if (times := _hf_times(evidence)) is None:
        return unknown(NO_HF)
    gain = times.isel(places=0) / times.isel(places=-1)
    holds = bool((gain.sel(transport="mpb") >= gain.max("transport")).all())
    ours = {f"{b} {t}": float(gain.sel(balance=b, transport=t)) for b in ("static", "dynamic")
            for t in times.transport.values}  # fmt: skip
    return compared(claim, holds, ours)


@check
def dynamic_runs(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether dynamic balancing gets faster with places, without a transport's costs."""
    ds = next((d for d in evidence.having("simulated") if "dynamic" in d.balance), None)
    if ds is None:
        return unknown(NO_HF)
    curve = ds.simulated.sel(balance="dynamic", places=slice(1, 48)).isel(input=0, transport=0)
    return compared(claim, float(curve[-1]) < float(curve[0]),
                    f"x {float(curve[0] / curve[-1]):.1f}, simulated")  # fmt: skip


# Betweenness centrality, on results


def _blocks(evidence: Evidence, *workloads: str) -> xr.DataArray | None:
    """Simulated seconds of the original's deal up to 48 places, if the workloads are there."""
    ds = _bc(evidence)
    if ds is None or not set(workloads) <= set(ds.workload.values.tolist()) or 48 not in ds.places:
        return None
    return ds.simulated_seconds.isel(deal=0).sel(places=ds.places <= 48)


def _speedup(seconds: xr.DataArray) -> xr.DataArray:
    return seconds.isel(places=0) * int(seconds.places[0]) / seconds


@check
def bc_native(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the native transport is fastest, by little, at all places above one."""
    seconds = _blocks(evidence, "low")
    if seconds is None or not {"mpb", "tcp"} <= set(seconds.transport.values.tolist()):
        return unknown(NO_BC)
    there = [t for t in OURS.values() if t in seconds.transport]
    low = seconds.sel(workload="low", transport=there, places=seconds.places > 1)
    first = low.sel(transport="mpb") <= low.min("transport")
    spread = float((low.max("transport") / low.min("transport")).max() - 1)
    told = f"first at {int(first.sum())} of {first.size} numbers of places, {spread:.1%} apart, simulated"
    return compared(claim, bool(first.all()), told)


@check
def bc_scaling(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-up at 48 places, and what both kinds of buffers gain from 36 to 48."""
    seconds = _blocks(evidence, "low")
    if (
        seconds is None
        or not {"mpb", "mpimpb"} <= set(seconds.transport.values.tolist())
        or 36 not in seconds.places
    ):
        return unknown(NO_BC)
    values = claim.data["values"]
    low = seconds.sel(workload="low")
    best = float(_speedup(low.sel(transport="mpb")).sel(places=48))
    gain = {t: float(low.sel(transport=t, places=values["mpi_flatten_at"]) / low.sel(transport=t, places=48))
            for t in ("mpimpb", "mpb")}  # fmt: skip
    holds = (
        abs(best / values["rcce_speedup_at_48"] - 1) < NEAR and gain["mpimpb"] < 1.05 < gain["mpb"]
    )
    told = {
        f"{t} gain from {values['mpi_flatten_at']} to 48": f"x {g:.2f}" for t, g in gain.items()
    }
    return compared(
        claim, holds, {"speed-up at 48": f"{best:.1f}", **told}, f"{NEAR:.0%}, simulated"
    )


@check
def bc_load(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups at 48 places by workload."""
    names = ("small", "medium", "low", "high")
    if (seconds := _blocks(evidence, *names)) is None:
        return unknown(NO_BC)
    at = [float(_speedup(seconds.sel(workload=w).isel(transport=0)).sel(places=48)) for w in names]
    ours = {name: f"{x:.1f}" for name, x in zip(names, at, strict=True)}
    return compared(claim, at[:3] == sorted(at[:3]) and at[2] < at[3], ours, "simulated")


@check
def bc_drop(claim: Claim, evidence: Evidence) -> Verdict:
    """What 48 places gain over 44."""
    seconds = _blocks(evidence, "low")
    if seconds is None or 44 not in seconds.places:
        return unknown(NO_BC)
    low = _speedup(seconds.sel(workload="low").isel(transport=0))
    gain = float(low.sel(places=48) / low.sel(places=44))
    return compared(claim, gain < 0.97, f"x {gain:.2f}, simulated")


def betweenness(ds: xr.Dataset) -> list[Row]:
    """The claims that a result of betweenness centrality bears on, with verdicts."""
    evidence = Evidence({"": ds}, configs=None)
    checks = (table1, bc_native, bc_scaling, bc_load, bc_drop)
    about = {function.__name__: function for function in checks}
    found = [Row(c, about[c.check](c, evidence)) for c in claims().values() if c.check in about]
    return [row for row in found if row.verdict.verdict != UNCHECKED]
