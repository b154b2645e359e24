"""Findings of "X10 on the SCC", looked for in results in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scc import OURS, figure_of, table1
from dgsuite.studies.report.claims.verdicts import (
    DIFFERS,
    UNCHECKED,
    Row,
    Verdict,
    check,
    compared,
    unknown,
)
from dgsuite.studies.scc import hf_report
from dgsuite.studies.scc.chip import SCC

NEAR = 0.15
"""Relative difference up to which a simulated speed-up agrees with the paper's."""

TRACK = 0.1
"""Relative difference up to which two transports keep close to each other."""

NO_BC, NO_HF = "no results of betweenness centrality", "no results of Hartree-Fock"


def _bc(evidence: Evidence) -> Iterator[xr.Dataset]:
    """Results of betweenness centrality; the paper's large is its low."""
    for ds in evidence.having("simulated_seconds", program="bc"):
        names = ds.workload.values.tolist()
        yield ds.assign_coords(workload=["low" if w == "large" else w for w in names])


def _hf(evidence: Evidence, name: str, *transports: str) -> xr.Dataset | None:
    """Results with an input, and with some transports."""
    found = (ds for ds in evidence.having("simulated") if name in ds.input)
    return next((ds for ds in found if set(transports) <= set(ds.transport.values.tolist())), None)


def _standing(columns: list[str], number: int) -> str:
    """The transport that stands for the one of a figure on one transport, or the first there is."""
    wanted = OURS["RCCE-X10"] if number in (6, 7, 9) else OURS["MPI"]
    measured = [c for c in columns if c in OURS.values()] or columns
    return next(t for t in (wanted, "tcp", measured[0]) if t in columns)


# Hartree-Fock, on results


def _findings(claim: Claim, evidence: Evidence) -> Verdict:
    """The findings that a claim has as data, on the transport that stands for the paper's."""
    told, held = [], []
    for entry in claim.data["finding"]:
        if (ds := _hf(evidence, entry["input"])) is None:
            continue
        transport = _standing(ds.transport.values.tolist(), figure_of(claim))
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
    transport = _standing(ds.transport.values.tolist(), 5)
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
    if (ds := _hf(evidence, "benzene sto-3g", "mpb")) is None:
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


def _blocks(
    evidence: Evidence, *workloads: str, transports: Sequence[str] = ()
) -> xr.DataArray | None:
    """Simulated seconds of the original's deal up to 48 places, of results that have all of these."""
    for ds in _bc(evidence):
        there = {*ds.workload.values.tolist(), *ds.transport.values.tolist()}
        if {*workloads, *transports} <= there and 48 in ds.places:
            return ds.simulated_seconds.isel(deal=0).sel(places=ds.places <= 48)
    return None


def _speedup(seconds: xr.DataArray) -> xr.DataArray:
    return seconds.isel(places=0) * int(seconds.places[0]) / seconds


@check
def bc_native(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the native transport is fastest, by little, at all places above one."""
    if (seconds := _blocks(evidence, "low", transports=("mpb", "tcp"))) is None:
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
    seconds = _blocks(evidence, "low", transports=("mpb", "mpimpb"))
    if seconds is None or 36 not in seconds.places:
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
    chip = "chip:mpb"
    if chip in low.transport:
        told[f"{chip} speed-up at 48"] = (
            f"{float(_speedup(low.sel(transport=chip)).sel(places=48)):.1f}"
        )
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


@check
def sockets_track(claim: Claim, evidence: Evidence) -> Verdict:
    """How far sockets and MPI over sockets are apart, in betweenness centrality and in Hartree-Fock."""
    pair = [OURS["sockets"], OURS["mpi-sock"]]
    seconds, times = _blocks(evidence, "low", transports=pair), _hf_times(evidence)
    if seconds is None:
        return unknown(NO_BC)
    apart = {"betweenness centrality": _apart(seconds.sel(workload="low"), pair)}
    if times is not None and set(pair) <= set(times.transport.values.tolist()):
        apart["Hartree-Fock"] = _apart(times, pair)
    close, *other = apart.values()
    told = {name: f"{value:.1%} apart" for name, value in apart.items()}
    return compared(
        claim, close < TRACK and all(close < x for x in other), told, f"{TRACK:.0%}, simulated"
    )


def _apart(seconds: xr.DataArray, pair: list[str]) -> float:
    """Largest relative difference of two transports."""
    one, two = (seconds.sel(transport=t) for t in pair)
    return float(abs(one / two - 1).max())


@check
def benzene_why(claim: Claim, evidence: Evidence) -> Verdict:
    """What messages take of the speed-up of both inputs at 48 places, and how much work they have."""
    ds = _hf(evidence, "benzene 3-21g")
    if ds is None or "aspirin 3-21g" not in ds.input or "dynamic" not in ds.balance:
        return unknown(NO_HF)
    transport = _standing(ds.transport.values.tolist(), 5)
    lost, work = {}, {}
    for name in ("benzene 3-21g", "aspirin 3-21g"):
        with_it, free = (
            float(hf_report.speedup(ds, name, "dynamic", t).sel(places=48))
            for t in (transport, "none")
        )
        lost[name] = 1 - with_it / free
        work[name] = float(
            ds.simulated.sel(input=name, balance="dynamic", transport="none", places=1)
        )
    benzene, aspirin = lost.values()
    holds = benzene > max(aspirin, 0.01) and work["benzene 3-21g"] < work["aspirin 3-21g"]
    told = {
        name: f"{lost[name]:.1%} of the speed-up lost, {work[name]:.1f} s of work" for name in lost
    }
    return compared(claim, holds, told, f"on {transport}, simulated")


def _ratios(evidence: Evidence) -> Iterator[tuple[str, float, float]]:
    """Of each program, input and balance: its group, work beside what a message costs, speed-up at 48."""
    for ds in evidence.having("simulated"):
        there = [t for t in ds.transport.values.tolist() if t in OURS.values()]
        for arm in (b for b in ("static", "dynamic") if b in ds.balance):
            for name in ds.input.values.tolist():
                for t in there:
                    one = float(ds.simulated.sel(input=name, balance=arm, transport=t, places=1))
                    asked = ds.message if arm == "static" else ds.counter_operation
                    ratio = one / float(asked.sel(transport=t))
                    yield arm, ratio, float(hf_report.speedup(ds, name, arm, t).sel(places=48))
    for bc in (ds for ds in _bc(evidence) if 48 in ds.places):
        for t in (t for t in bc.transport.values.tolist() if t in OURS.values()):
            for name in bc.workload.values.tolist():
                seconds = bc.simulated_seconds.isel(deal=0).sel(workload=name, transport=t)
                ratio = float(
                    bc.work_seconds.sel(workload=name) / bc.message_seconds.sel(transport=t)
                )
                yield "betweenness", ratio, float(_speedup(seconds).sel(places=48))


@check
def cost(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the speed-up at 48 places grows with work beside what a message costs, by rank."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for group, ratio, gain in _ratios(evidence):
        groups.setdefault(group, []).append((ratio, gain))
    found = {
        g: _rank_correlation(np.array(pairs).T) for g, pairs in groups.items() if len(pairs) > 2
    }
    if not found:
        return unknown("no results of several inputs or transports")
    told = {name: f"{value:.2f}" for name, value in found.items()}
    return compared(claim, min(found.values()) > 0.5, told, "rank correlation above 0.5, simulated")


def _rank_correlation(both: np.ndarray) -> float:
    """Spearman's."""
    ranks = both.argsort(1).argsort(1)
    return float(np.atleast_2d(np.corrcoef(ranks))[0, 1])


@check
def conclusion(claim: Claim, evidence: Evidence) -> Verdict:
    """The verdicts on the findings that it sums up: native fastest and scaling best, more work better."""
    parts = {
        "scc.fig6.rcce-best": hf_native,
        "scc.fig7.rcce-scales-best": hf_native_scales,
        "scc.fig9a.rcce-slightly": bc_native,
        "scc.fig10.load": bc_load,
    }
    found = {name: part(claims()[name], evidence).verdict for name, part in parts.items()}
    found = {name: verdict for name, verdict in found.items() if verdict != UNCHECKED}
    if not found:
        return unknown(f"{NO_BC}, {NO_HF}")
    return compared(claim, DIFFERS not in found.values(), found, "as those claims")


@check
def held(claim: Claim, evidence: Evidence) -> Verdict:
    """What a place holds in the simulations, and whether that fits a core of the chip."""
    most = {}
    for ds in evidence.results.values():
        if "held_bytes" in ds:
            for name, nbytes in zip(
                ds.held_bytes[ds.held_bytes.dims[0]].values.tolist(),
                ds.held_bytes.values,
                strict=True,
            ):
                most[name] = float(nbytes) / 1e6
    if not most:
        return unknown(f"{NO_BC}, {NO_HF}")
    over = [name for name, size in most.items() if size * 1e6 > SCC.memory]
    told = {name: f"{size:.1f} MB" for name, size in most.items()}
    return compared(claim, bool(over), told)


def betweenness(ds: xr.Dataset) -> list[Row]:
    """The claims that a result of betweenness centrality bears on, with verdicts."""
    evidence = Evidence({"": ds}, configs=None)
    checks = (table1, bc_native, bc_scaling, bc_load, bc_drop, sockets_track)
    about = {function.__name__: function for function in checks}
    found = [Row(c, about[c.check](c, evidence)) for c in claims().values() if c.check in about]
    return [row for row in found if row.verdict.verdict != UNCHECKED]
