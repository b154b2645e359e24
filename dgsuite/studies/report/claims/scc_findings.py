"""Findings of "X10 on the SCC" on betweenness centrality and on the whole, looked for in results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import xarray as xr
from scipy import stats

from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scc import OURS, on_chip
from dgsuite.studies.report.claims.scc_hf import CLOCKS, NO_HF, STO, hf_times, results_of
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition, needed
from dgsuite.studies.scc import hf_report
from dgsuite.studies.scc.chip import NO_SOCKETS, SCC
from dgsuite.studies.scc.hf_report import STEP

NEAR = 0.15
"""Relative difference up to which a simulated speed-up agrees with the paper's."""

DROP = 0.97
"""Gain of more places below which a curve drops."""

TRACK = 0.1
"""Relative difference up to which two transports keep close to each other."""

SLIGHTLY = 0.25
"""Relative difference up to which one transport is slightly ahead of another."""

FOLLOWS = 0.5
"""Rank correlation above which speed-ups follow from something."""

FEW = 1000
"""If a program's work takes as long as more messages than these, messages do not limit it."""

SLOW = 5
"""Speed-up on 48 places below which the one counter limits a run, whatever its work."""

CLUSTER, CHIP = OURS["MPI"], OURS["RCCE-X10"]
"""Transports that stand for the paper's cluster and its chip in Figure 10."""

SERIES = {CLUSTER: ("low", "high"), CHIP: ("small", "medium", "low")}
"""Workloads of Figure 10 (a) and (b), from the lowest load; the chip's large is the cluster's low."""

NO_BC = "no results of betweenness centrality"


def _bc(evidence: Evidence) -> Iterator[xr.Dataset]:
    """Results of betweenness centrality; the paper's large is its low."""
    for ds in evidence.simulations("simulated_seconds", program="bc"):
        names = ds.workload.values.tolist()
        yield ds.assign_coords(workload=["low" if w == "large" else w for w in names])


def _blocks(
    evidence: Evidence, *workloads: str, transports: Sequence[str] = (), places: int = 48,
    lack: str = NO_BC,
) -> xr.Dataset:  # fmt: skip
    """Results of the original's deal up to 48 places that have all of these; `seconds` are simulated."""
    for ds in _bc(evidence):
        there = {*ds.workload.values.tolist(), *ds.transport.values.tolist()}
        if {*workloads, *transports} <= there and 48 in ds.places:
            needed(places in ds.places, NO_BC)
            found = ds.isel(deal=0).sel(places=ds.places <= 48)
            return found.rename(simulated_seconds="seconds")
    raise verdicts.MissingError(lack)


def _speedup(seconds: xr.DataArray) -> xr.DataArray:
    return seconds.isel(places=0) * int(seconds.places[0]) / seconds


@check
@on_chip
def bc_native(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the native transport is fastest, by little, at all places above one."""
    found = _blocks(evidence, "low", transports=("mpb",))
    low = _compared(found)
    needed(low.sizes["transport"] > 1, NO_BC)
    first = low.sel(transport="mpb") <= low.min("transport")
    spread = float((low.max("transport") / low.min("transport")).max() - 1)
    told = f"first at {int(first.sum())} of {first.size} numbers of places, {spread:.1%} apart, simulated"
    return compared(claim, bool(first.all()) and spread < SLIGHTLY, told, results=found)


def _compared(found: xr.Dataset) -> xr.DataArray:
    """Seconds of low on the transports that stand for the paper's, on several places."""
    there = [t for t in OURS.values() if t in found.transport]
    return found.seconds.sel(workload="low", transport=there, places=found.places > 1)


@condition
def dearer_results(found: xr.Dataset) -> bool:
    """Whether every transport that is faster than the native one has cheaper messages, bytes or tasks."""
    low = _compared(found)
    costs = found[["message_seconds", "byte_seconds", "task_seconds"]]
    native = costs.sel(transport="mpb")
    faster = (low < low.sel(transport="mpb")).any("places")
    return all(
        bool((costs.sel(transport=t) < native).to_array().any())
        for t in low.transport.values[faster.values]
    )


@check
@on_chip
def bc_scaling(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-up at 48 places, what each gains from 36 to 48, and how far they are apart."""
    found = _blocks(evidence, "low", transports=("mpb", "mpimpb"), places=36)
    flat, printed = (claim.data["values"][n] for n in ("mpi_flatten_at", "rcce_speedup_at_48"))
    low = found.seconds.sel(workload="low")
    there = [t for t in ("mpimpb", "mpi-sock", "mpb") if t in low.transport]
    speedup, gain = _speedup(low).sel(transport=there), low.sel(places=flat) / low.sel(places=48)
    best = float(speedup.sel(transport="mpb", places=48))
    gains = {t: float(gain.sel(transport=t)) for t in there}
    *flattening, native = gains.values()
    until = speedup.sel(places=slice(1, flat))
    apart = float((until.max("transport") / until.min("transport")).max() - 1)
    further = max(flattening) < 1.05 < native and apart < SLIGHTLY
    holds = abs(best / printed - 1) < NEAR and further
    ours = {"speed-up at 48": f"{best:.1f}"}
    ours |= {f"{t} gain from {flat} to 48": f"x {g:.2f}" for t, g in gains.items()}
    ours |= {f"apart up to {flat}": f"{apart:.1%}"}
    return compared(claim, holds, ours, f"{NEAR:.0%}, simulated", found)


@check
@on_chip
def bc_smooth(claim: Claim, evidence: Evidence) -> Verdict:
    """How unevenly more places add to speed-ups, on the native transport and on MPI's."""
    found = _blocks(evidence, "low", transports=("mpb", "mpimpb"))
    there = [t for t in ("mpb", "mpimpb", "mpi-sock") if t in found.transport]
    speedup = _speedup(found.seconds.sel(workload="low", transport=there))
    steps = speedup.sel(places=speedup.places % STEP == 0).diff("places")
    rough = {t: float(steps.sel(transport=t).std()) for t in there}
    native, *others = rough.values()
    told = {f"deviation of what {STEP} more places add": rough}
    smoother = native < (1 - TRACK) * min(others)
    return compared(claim, smoother, told, f"by {TRACK:.0%} at least, simulated", found)


@condition
def messages_matter_little(found: xr.Dataset) -> bool:
    """Whether the set-up of every place and how evenly blocks fall give the speed-up of low at 48 places."""
    low = found.sel(workload="low")
    setup, work = float(low.setup_seconds), float(low.work_seconds)
    free = (setup + work) / (setup + work / (48 * float(low.balance.sel(places=48))))
    ours = float(_speedup(low.seconds.sel(transport="mpb")).sel(places=48))
    return abs(ours / free - 1) < NEAR


@check
def bc_load(claim: Claim, evidence: Evidence) -> Verdict:
    """Speed-ups at 48 places by workload, on the cluster's transport and on the chip's."""
    found = _blocks(evidence, *SERIES[CLUSTER], *SERIES[CHIP], transports=[*SERIES])
    told, holds = {}, True
    for transport, names in SERIES.items():
        at = _at_48(found.sel(workload=list(names)), transport).values.tolist()
        told[transport] = {name: f"{x:.1f}" for name, x in zip(names, at, strict=True)}
        holds &= at == sorted(set(at))
    return compared(claim, holds, told, "simulated", found)


def _at_48(found: xr.Dataset, transport: str) -> xr.DataArray:
    """Speed-ups at 48 places by workload."""
    return _speedup(found.seconds.sel(transport=transport)).sel(places=48)


@condition
def dealt_less_evenly(found: xr.Dataset) -> bool:
    """Whether workloads gain from 48 places in the order in which blocks of them fall on places evenly."""
    gain, even = _at_48(found, CLUSTER), found.balance.sel(places=48)
    return bool((gain.values.argsort() == even.values.argsort()).all())


@check
def bc_drop(claim: Claim, evidence: Evidence) -> Verdict:
    """How far speed-ups of low are apart, chip and cluster, up to 44 places; what 48 gain over 44 on each."""
    found = _blocks(evidence, "low", transports=[CLUSTER, CHIP], places=44)
    low = found.sel(workload=["low"])
    gains = {t: _last_gain(low.sel(transport=[t])) for t in (CLUSTER, CHIP)}
    chip, cluster = (
        _speedup(low.seconds.sel(transport=t, workload="low")) for t in (CHIP, CLUSTER)
    )
    apart = float(abs(chip / cluster - 1).sel(places=slice(1, 44)).max())
    holds = apart < NEAR and gains[CLUSTER] < DROP <= gains[CHIP]
    told = {f"{t} from 44 to 48": f"x {gain:.2f}" for t, gain in gains.items()}
    told["apart up to 44"] = f"{apart:.1%}"
    return compared(claim, holds, told, "simulated", results=found)


def _last_gain(found: xr.Dataset) -> float:
    """The least that 48 places gain over 44, of all workloads and transports."""
    return float((found.seconds.sel(places=44) / found.seconds.sel(places=48)).min())


@condition
def low_gains_alike(found: xr.Dataset) -> bool:
    """Whether low drops at 48 places on none of the transports, so that neither program nor graph does it."""
    return _last_gain(found.sel(workload=["low"])) >= DROP


@check
@on_chip
def sockets_track(claim: Claim, evidence: Evidence) -> Verdict:
    """How far sockets and MPI over sockets are apart, in betweenness centrality and in Hartree-Fock."""
    pair = [OURS["sockets"], OURS["mpi-sock"]]
    found = _blocks(evidence, "low", transports=pair, lack=NO_SOCKETS)
    times = hf_times(evidence)
    apart = {"betweenness centrality": _apart(found.seconds.sel(workload="low"), pair)}
    if times is not None and set(pair) <= set(times.transport.values.tolist()):
        apart["Hartree-Fock"] = _apart(times.seconds, pair)
    close, *other = apart.values()
    told = {name: f"{value:.1%} apart" for name, value in apart.items()}
    holds = close < TRACK and all(close < x for x in other)
    return compared(claim, holds, told, f"{TRACK:.0%}, simulated")


def _apart(seconds: xr.DataArray, pair: list[str]) -> float:
    """Largest relative difference of two transports."""
    one, two = (seconds.sel(transport=t) for t in pair)
    return float(abs(one / two - 1).max())


def _ratios(evidence: Evidence) -> Iterator[tuple[str, float, float]]:
    """Of each program, input and balance: its group, work beside what communication costs, speed-up at 48.

    What static balancing sends is matrices; dynamic fetches from a counter; searches send messages.
    """
    for ds in evidence.simulations("simulated"):
        there = [t for t in ds.transport.values.tolist() if t in OURS.values()]
        for arm in (b for b in ("static", "dynamic") if b in ds.balance):
            for name in ds.input.values.tolist():
                for t in there:
                    one = float(ds.simulated.sel(input=name, balance=arm, transport=t, places=1))
                    asked = ds.matrix if arm == "static" else ds.counter_operation
                    ratio = one / float(asked.sel(transport=t))
                    yield arm, ratio, float(hf_report.speedup(ds, name, arm, t).sel(places=48))
    for bc in (ds for ds in _bc(evidence) if 48 in ds.places):
        for t in (t for t in bc.transport.values.tolist() if t in OURS.values()):
            for name in bc.workload.values.tolist():
                mine = bc.sel(workload=name, transport=t)
                ratio = float(mine.work_seconds / mine.message_seconds)
                gain = _speedup(mine.simulated_seconds.isel(deal=0)).sel(places=48)
                yield "betweenness", ratio, float(gain)


@check
def cost(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether the speed-up at 48 places grows with work beside what messages cost, by rank; and how many
    cycles a message takes of a core of the chip, and of the cluster.
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    for group, ratio, gain in _ratios(evidence):
        groups.setdefault(group, []).append((ratio, gain))
    several = {group: pairs for group, pairs in groups.items() if len(pairs) > 2}
    found = {group: float(stats.spearmanr(p).statistic) for group, p in several.items()}
    needed(found, "no results of several inputs or transports")
    told = {name: f"{value:.2f}" for name, value in found.items()}
    ds = needed(results_of(evidence, STO, *CLOCKS), "no results of the chip beside the cluster")
    chip, cluster = (float(ds.message.sel(transport=t)) * hz for t, hz in CLOCKS.items())
    told["a message"] = f"{chip:,.0f} cycles of the chip's core, {cluster:,.0f} of the cluster's"
    within = f"rank correlation above {FOLLOWS}, simulated"
    holds, weak = min(found.values()) > FOLLOWS, chip < cluster
    return compared(claim, holds and weak, told, within, (found, groups) if weak else None)


@condition
def others_limit(results: tuple[dict[str, float], dict[str, list[tuple[float, float]]]]) -> bool:
    """Whether something else limits what does not follow: searches have the work of thousands of messages,
    and dynamic balancing is slow on every input. Static balancing has no such limit.
    """
    found, groups = results
    odd = {group: [*zip(*groups[group], strict=True)] for group, r in found.items() if r <= FOLLOWS}
    few = "betweenness" not in odd or min(odd["betweenness"][0]) > FEW
    return "static" not in odd and few and ("dynamic" not in odd or max(odd["dynamic"][1]) < SLOW)


@check
@on_chip
def conclusion(claim: Claim, evidence: Evidence) -> Verdict:
    """The verdicts on what it sums up: native fastest and scaling best, more work better, memory a limit."""
    summed = [claims()[name] for name in claim.data["sums"]]
    each = {one.id: verdicts.CHECKS[one.check](one, evidence) for one in summed}
    found = {name: one.verdict for name, one in each.items() if one.verdict != verdicts.UNCHECKED}
    needed(found, f"{NO_BC}, {NO_HF}")
    holds = verdicts.DIFFERS not in found.values()
    reasoned = not any(one.silent for one in each.values())
    return compared(claim, holds, found, "as those claims", reasoned)


@check
def held(claim: Claim, evidence: Evidence) -> Verdict:
    """What a place holds in the simulations, and whether that fits a core of the chip."""
    most: dict[str, float] = {}
    for ds in evidence.simulations("held_bytes"):
        most |= ds.held_bytes.to_series().to_dict()
    needed(most, f"{NO_BC}, {NO_HF}")
    told = {name: f"{nbytes / 1e6:.1f} MB" for name, nbytes in most.items()}
    fits = max(most.values()) <= SCC.memory
    return compared(claim, not fits, told, results=fits)


def betweenness(ds: xr.Dataset) -> list[verdicts.Row]:
    """The claims that a result of betweenness centrality bears on, with verdicts."""
    evidence = Evidence({"": ds}, configs=None)
    checks = ("table1", "bc_native", "bc_scaling", "bc_load", "bc_drop", "sockets_track")
    mine = [c for c in claims().values() if c.check in checks]
    found = [verdicts.Row(c, verdicts.CHECKS[c.check](c, evidence)) for c in mine]
    return [row for row in found if row.verdict.verdict != verdicts.UNCHECKED]
