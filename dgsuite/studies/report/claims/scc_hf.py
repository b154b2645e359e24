"""Findings of "X10 on the SCC" on Hartree-Fock, looked for in results."""

from __future__ import annotations

import xarray as xr

from dgsuite.studies.report.claims.data import Claim, figure_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scc import OURS, on_chip
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed
from dgsuite.studies.report.statistics import LEVEL, every
from dgsuite.studies.scc import hf_report
from dgsuite.studies.scc.chip import NO_SOCKETS, SCC

NO_HF = "no results of Hartree-Fock"

STO = "benzene sto-3g"
"""The input on the chip."""

ASPIRIN, BENZENE = "aspirin 3-21g", "benzene 3-21g"
"""The inputs on the cluster."""

STOPPED = 0.1
"""Share of a speed-up from which messages limit it; also how much more one input must lose than another."""

WIDE = 0.5
"""Width of the intervals of times, relative to these, from which transports are not compared."""


def results_of(evidence: Evidence, name: str, *transports: str) -> xr.Dataset | None:
    """Results with an input, and with some transports."""
    found = (ds for ds in evidence.simulations("simulated") if name in ds.input)
    return next((ds for ds in found if set(transports) <= set(ds.transport.values.tolist())), None)


def _standing(columns: list[str], number: int) -> str:
    """The transport that stands for the one of a figure on one transport, or the first there is."""
    wanted = OURS["RCCE-X10"] if number in (6, 7, 9) else OURS["MPI"]
    measured = [c for c in columns if c in OURS.values()] or columns
    return next(t for t in (wanted, "tcp", measured[0]) if t in columns)


def _findings(claim: Claim, evidence: Evidence) -> Verdict:
    """The findings that a claim has as data, on the transport that stands for the paper's."""
    told, held, ds = [], [], None
    for entry in claim.data["finding"]:
        if (ds := results_of(evidence, entry["input"])) is None:
            continue
        transport = _standing(ds.transport.values.tolist(), figure_of(claim))
        for row in hf_report.findings(ds):
            if row["claim"] == claim.id and row["says"] == hf_report.sentence(entry):
                text, agrees = row["ours"][transport]
                told.append(f"{row['says']}: {text} on {transport}, simulated")
                held.append(agrees)
    needed(told, NO_HF)
    return compared(claim, all(held), told, f"{hf_report.CLOSE:.0%}", ds)


check(_findings, "hf_speedups")
for _name in ("dynamic_costly", "static_rougher"):
    check(on_chip(_findings), _name)


@condition
def messages_limit(results: xr.Dataset) -> bool:
    """Whether every speed-up at 48 places is less by a tenth, at least, than it is without a transport."""
    transport = _standing(results.transport.values.tolist(), 5)
    every_arm = [(name, arm) for name in results.input.values for arm in ("static", "dynamic")]
    return all(
        _at_48(results, name, arm, transport) < (1 - STOPPED) * _at_48(results, name, arm, "none")
        for name, arm in every_arm
    )


@check
def aspirin_better(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups of aspirin and benzene at 48 places under both balances."""
    ds = _molecules(evidence, "static", "dynamic")
    transport = _standing(ds.transport.values.tolist(), 5)
    gap, sure = {}, []
    for arm in ("static", "dynamic"):
        aspirin, benzene = (_at_48(ds, name, arm, transport) for name in (ASPIRIN, BENZENE))
        gap[arm] = aspirin / benzene
        (lowest, most), (least, highest) = (
            _ends(ds, n, arm, transport) for n in (ASPIRIN, BENZENE)
        )
        sure.append(False if most < least else True if lowest > highest else None)
    told = {f"{arm} aspirin over benzene": f"{g:.2f}x" for arm, g in gap.items()}
    return compared(claim, every([gap["static"] > gap["dynamic"], *sure]), told)


def _ends(ds: xr.Dataset, name: str, arm: str, transport: str) -> tuple[float, float]:
    """The ends of the interval of a speed-up at 48 places."""
    at = ds.sel(input=name, balance=arm, transport=transport, places=48)
    up, times = _at_48(ds, name, arm, transport), float(at.simulated)
    low, high = (float(at.get(f"simulated_{end}", at.simulated)) for end in ("low", "high"))
    return up * times / high, up * times / low


def _molecules(evidence: Evidence, *balances: str) -> xr.Dataset:
    """Results with both molecules in the basis that the cluster was measured with, and with balances."""
    ds = needed(results_of(evidence, ASPIRIN), NO_HF)
    needed(BENZENE in ds.input and set(balances) <= set(ds.balance.values), NO_HF)
    return ds


def _at_48(ds: xr.Dataset, name: str, arm: str, transport: str) -> float:
    """A speed-up at 48 places."""
    return float(hf_report.speedup(ds, name, arm, transport).sel(places=48))


def hf_times(evidence: Evidence) -> xr.Dataset | None:
    """Seconds of benzene's builds on the paper's transports and places, with their intervals."""
    ds = results_of(evidence, STO, "mpb")
    return None if ds is None else _near(ds)


def _near(ds: xr.Dataset) -> xr.Dataset:
    """Seconds at the paper's places; where results have no intervals, these are points."""
    there = [t for t in OURS.values() if t in ds.transport]
    near = ds.sel(input=STO, places=slice(8, 48), balance=["static", "dynamic"], transport=there)
    low, high = (near.get(f"simulated_{end}", near.simulated) for end in ("low", "high"))
    return xr.Dataset({"seconds": near.simulated, "low": low, "high": high})


def _behind(times: xr.Dataset, name: str) -> xr.DataArray:
    """Where a transport takes longer than each other one, beyond the intervals of both."""
    return times.low.sel(transport=name, drop=True) > times.high.drop_sel(transport=name)


def _narrow(evidence: Evidence, transport: str = "mpb") -> xr.Dataset:
    """`hf_times` with a transport, whose intervals are not too wide for a statement."""
    times = needed(hf_times(evidence), NO_HF)
    needed(transport in times.transport, NO_SOCKETS if transport == "tcp" else NO_HF)
    width = float(((times.high - times.low) / times.seconds).median())
    needed(width <= WIDE, f"times vary by {width:.0%} with what messages cost: no statement")
    return times


def _ranked(
    claim: Claim, evidence: Evidence, wrong: xr.DataArray, told: str, where: str = "behind"
) -> Verdict:
    """Whether no transport stands elsewhere than the paper has it, beyond the intervals; else which."""
    points = wrong.sum(["balance", "places"])
    odd = {str(t): int(points.sel(transport=t)) for t in points.transport.values}
    parts = [told, *(f"{where} {t} at {count}" for t, count in odd.items() if count)]
    results = results_of(evidence, STO, "mpb")
    within = f"{LEVEL:.0%} intervals of messages"
    return compared(claim, len(parts) == 1, f"{', '.join(parts)}, simulated", within, results)


@check
@on_chip
def hf_native(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether no transport is faster than the native one at any places, beyond the intervals of both."""
    times = _narrow(evidence)
    behind = _behind(times, "mpb")
    first = int((times.seconds.sel(transport="mpb") <= times.seconds.min("transport")).sum())
    late, size = int(behind.any("transport").sum()), times.seconds.isel(transport=0).size
    told = f"first at {first} of {size} points, level with the first at {size - first - late}"
    return _ranked(claim, evidence, behind, told)


@check
@on_chip
def hf_sockets(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether no transport is slower than sockets, beyond the intervals of both."""
    times = _narrow(evidence, "tcp")
    ahead = times.high.sel(transport="tcp", drop=True) < times.low.drop_sel(transport="tcp")
    worst = times.seconds.sel(transport="tcp") >= times.seconds.max("transport")
    told = f"last at {int(worst.sum())} of {worst.size} points"
    return _ranked(claim, evidence, ahead, told, "ahead of")


@check
@on_chip
def hf_native_scales(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups at the most places over the native transport's time at the fewest, by transport."""
    times = _narrow(evidence)
    most = times.isel(places=[-1])
    gain = times.seconds.sel(transport="mpb").isel(places=0) / most.seconds.isel(places=0)
    shown = [(b, t) for b in ("static", "dynamic") for t in times.transport.values]
    each = (f"{b} {t} {float(gain.sel(balance=b, transport=t)):.3g}" for b, t in shown)
    return _ranked(claim, evidence, _behind(most, "mpb"), ", ".join(each))


@condition
def dearer_messages(results: xr.Dataset) -> bool:
    """Whether whoever is behind another beyond the intervals pays more for a matrix or for the start of a
    build, or, where a counter deals, for a fetch from it.
    """
    times = _near(results)
    costs = {"static": ["matrix", "setup"], "dynamic": ["matrix", "setup", "counter_operation"]}
    for name in times.transport.values.tolist():
        behind = _behind(times, name).any("places")
        for other in behind.transport.values.tolist():
            for arm, asked in costs.items():
                mine, theirs = (results[asked].sel(transport=t) for t in (name, other))
                dearer = bool((mine > theirs).to_array().any())
                if bool(behind.sel(transport=other, balance=arm)) and not dearer:
                    return False
    return True


@condition
def counter_outweighs(results: xr.Dataset) -> bool:
    """Whether dynamic balancing on 48 places takes over twice as long on each transport as without one."""
    near = results.simulated.sel(input=STO, places=48, balance="dynamic")
    there = [t for t in OURS.values() if t in near.transport]
    return bool((near.sel(transport=there) > 2 * near.sel(transport="none")).all())


@check
@on_chip
def dynamic_runs(claim: Claim, evidence: Evidence) -> Verdict:
    """What dynamic balancing gains from the fewest of the paper's places to the most, on each transport."""
    times = needed(hf_times(evidence), NO_HF)
    seconds = times.seconds.sel(balance="dynamic")
    gain = seconds.isel(places=0) / seconds.isel(places=-1)
    told = {str(t): f"x {float(gain.sel(transport=t)):.2f}" for t in gain.transport.values}
    results = results_of(evidence, STO, "mpb")
    return compared(claim, float(gain.min()) > 1, told, "simulated", results)


@check
def benzene_why(claim: Claim, evidence: Evidence) -> Verdict:
    """What messages take of the speed-up of both inputs at 48 places, and how much work they have."""
    ds = _molecules(evidence, "dynamic")
    lost, work = _lost(ds, "dynamic")
    told = {
        name: f"{lost[name]:.1%} of the speed-up lost, {work[name]:.1f} s of work" for name in lost
    }
    holds = lost[BENZENE] > lost[ASPIRIN] + STOPPED and work[BENZENE] < work[ASPIRIN]
    return compared(claim, holds, told, "simulated", ds)


@check
def benzene_limited(claim: Claim, evidence: Evidence) -> Verdict:
    """What messages take of benzene's speed-up at 48 places under each balance."""
    ds = _molecules(evidence, "static", "dynamic")
    lost = {arm: _lost(ds, arm)[0][BENZENE] for arm in ("static", "dynamic")}
    told = {arm: f"{share:.1%} of the speed-up lost" for arm, share in lost.items()}
    return compared(claim, min(lost.values()) > STOPPED, told, "simulated")


def _lost(ds: xr.Dataset, arm: str) -> tuple[dict[str, float], dict[str, float]]:
    """What messages take of the speed-up at 48 places under a balance, and seconds of work."""
    transport = _standing(ds.transport.values.tolist(), 5)
    units = ds.simulated.sel(balance=arm, transport="none", places=1)
    lost, work = {}, {}
    for name in (BENZENE, ASPIRIN):
        with_it, free = (_at_48(ds, name, arm, t) for t in (transport, "none"))
        lost[name], work[name] = 1 - with_it / free, float(units.sel(input=name))
    return lost, work


@condition
def stopped_alike(results: xr.Dataset) -> bool:
    """Whether messages take most of the speed-up of both inputs."""
    return min(_lost(results, "dynamic")[0].values()) > 0.5


@check
def slower_than_cluster(claim: Claim, evidence: Evidence) -> Verdict:
    """Seconds on the chip over those on the cluster, if units take as many cycles on both."""
    times = _by_clocks(needed(results_of(evidence, STO, *CLOCKS, "none"), NO_HF))
    least, most = float(times.min()), float(times.max())
    printed = claim.data["values"]["time_ratio"]
    told = f"x {least:.1f} to {most:.1f}, if units take as many cycles on both"
    holds = printed / 2 <= least and most <= 2 * printed
    return compared(claim, holds, told, "a factor of two, simulated", times)


CLOCKS = {"chip:mpb": SCC.core_hz, "mpi-sock": 1.8e9}
"""Of the chip, and of the cluster that a transport stands for."""


def _by_clocks(ds: xr.Dataset) -> xr.DataArray:
    """Times of the chip over the cluster's: units in cycles of this machine, messages as they are."""
    near = ds.simulated.sel(input=STO, places=slice(8, 48))
    free, own = near.sel(transport="none", drop=True), float(ds.attrs["processor_hertz"])
    both = (near.sel(transport=t, drop=True) + free * (own / hz - 1) for t, hz in CLOCKS.items())
    return next(both) / next(both)


@condition
def messages_outweigh_clocks(times: xr.DataArray) -> bool:
    """Whether nowhere the chip is behind by more than its clock, so that no message of it is what is slow."""
    chip, cluster = CLOCKS.values()
    return float(times.max()) <= cluster / chip
