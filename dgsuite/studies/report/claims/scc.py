"""Set-ups, transports and the chip of "X10 on the SCC", compared with experiment files and our code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from dgsuite import genval
from dgsuite.studies.experiment import toml
from dgsuite.studies.report.claims.data import Claim, claims, figure_of, measured_elsewhere
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import NO_FILES, departing
from dgsuite.studies.report.claims.verdicts import (
    Verdict,
    check,
    compared,
    condition,
    instead,
    said,
    unknown,
    with_pyscf,
)
from dgsuite.studies.scc.chip import SCC
from dgsuite.studies.scc.hf_study import File as HartreeFock
from dgsuite.studies.scc.hf_study import primitives
from dgsuite.studies.scc.options import File as Betweenness
from dgsuite.studies.scc.options import Study, Workload, chunk

OURS = {
    "RCCE-X10": "mpb",
    "mpi-mpb": "mpimpb",
    "mpi-sock": "mpi-sock",
    "sockets": "tcp",
    "MPI": "mpi",
}
"""What stands for the paper's transports."""

FILES = {
    **{number: f"scc-hf-figure{number}" for number in (5, 6, 7)},
    **{number: f"scc-bc-figure{number}" for number in (8, 9, 10)},
}
"""Experiment files by figure."""

TABLE1 = "scc-bc"
"""The experiment file of all graphs."""

BASE = {7: "RCCE-X10", 9: "RCCE-X10"}
"""What speed-ups are over, where the paper says so: see `dgsuite.studies.scc.figures`, `hf_report`."""

EDGES = 1e-3
"""Relative difference up to which two random graphs have as many edges."""


def hartree_fock(evidence: Evidence, name: str) -> HartreeFock | None:
    """An experiment file."""
    path = evidence.configs and evidence.configs / f"{name}.toml"
    if path is None or not path.exists():
        return None
    return toml.checked(HartreeFock, toml.read(str(path)), str(path))


def betweenness(evidence: Evidence, name: str) -> Betweenness | None:
    """An experiment file."""
    path = evidence.configs and evidence.configs / f"{name}.toml"
    if path is None or not path.exists():
        return None
    return toml.checked(Betweenness, toml.read(str(path)), str(path))


def _file(evidence: Evidence, number: int) -> HartreeFock | Betweenness | None:
    read = hartree_fock if number < 8 else betweenness
    return read(evidence, FILES[number])


def _study(file: HartreeFock | Betweenness) -> Study:
    """The part of a file that all programs have."""
    return file.hf if isinstance(file, HartreeFock) else file.scc


@check
def scc_setting(claim: Claim, evidence: Evidence) -> Verdict:
    """Where the experiment file differs; the file's ``figure.departs`` must have the reasons."""
    number = figure_of(claim)
    if (file := _file(evidence, number)) is None:
        return unknown(NO_FILES)
    reasons = file.figure.departs if file.figure and file.figure.number == number else {}
    return departing(departures(claim, file), reasons)


def departures(claim: Claim, file: HartreeFock | Betweenness) -> dict[str, str]:
    """Where an experiment file differs from a set-up, by aspect: "ours instead of the paper's"."""
    number, experiments = figure_of(claim), claim.data["experiment"]
    paper = {
        aspect: list(dict.fromkeys(value for e in experiments for value in e[aspect]))
        for aspect in ("inputs", "balances", "transports", "places")
    }
    machines = [e["machine"] for e in experiments]
    found = {"machine": instead("simulated with units of this machine", machines)}
    study = _study(file)
    ours: dict[str, Sequence[str]]
    if isinstance(file, HartreeFock):
        columns = file.hf.protocols
        ours = {"inputs": [f"{i.molecule} {i.basis}" for i in file.hf.input]}
        ours["balances"] = file.hf.balance
    else:
        assert file.bc is not None
        columns = file.scc.protocols
        ours = {"inputs": _workloads(file.bc.workload, paper["inputs"])}
        ours["balances"] = file.bc.deals
    for aspect, values in ours.items():
        if set(values) != set(paper[aspect]):
            found[aspect] = instead(values, paper[aspect])
    missing = [t for t in paper["transports"] if OURS[t] not in columns]
    more = [c for c in columns if c not in [OURS[t] for t in paper["transports"]]]
    if missing or more:
        parts = [f"without {said(missing)}"] * bool(missing) + [f"{said(more)} besides"] * bool(
            more
        )
        found["transports"] = ", ".join(parts)
    if buffers := _other_buffers(
        study.buffers, [t for t in paper["transports"] if t not in missing]
    ):
        found["buffers"] = said(buffers)
    places = [min(study.places), max(study.places)]
    wanted = [min(paper["places"]), max(paper["places"])]
    if places != wanted:
        found["places"] = instead(f"{places[0]} to {places[1]}", f"{wanted[0]} to {wanted[1]}")
    if study.repeats != claim.data["repeats"]:
        found["repeats"] = instead(study.repeats, claim.data["repeats"])
    if claim.data.get("base") not in (None, BASE.get(number)):
        found["base"] = instead(BASE.get(number, "its own"), claim.data["base"])
    return found


def _workloads(given: Mapping[str, Workload], paper: Sequence[str]) -> list[str]:
    """Names of workloads, as the paper has them; its low and large are the same."""
    alike = {"low": "large", "large": "low"}
    names = [other for name in given for other in (name, alike.get(name, name))]
    return list(
        dict.fromkeys(n for n in names if n in paper or (n in given and alike.get(n) not in paper))
    )


def chunks() -> dict[str, int]:
    """Bytes that the chip's buffers take at a time, by our transport."""
    given = claims()
    return {
        "mpb": given["scc.sec3.2.payload"].data["values"]["at_48"],
        "mpimpb": given["scc.sec3.1.1.sections"].data["values"]["section_bytes"],
    }


def _other_buffers(given: Mapping[Any, Any], names: Sequence[str]) -> list[str]:
    """What buffers of a study are not the chip's."""
    found = []
    for name in names:
        scheme = OURS[name]
        if (wanted := chunks().get(scheme)) is not None:
            ours = chunk(scheme, given[scheme]) if scheme in given else "the transport's own"
            if ours != wanted:
                found.append(f"{scheme}: {instead(ours, wanted)} bytes")
    return found


@check
def scc_repeats(claim: Claim, evidence: Evidence) -> Verdict:
    """Repeats of the experiment files."""
    made = {}
    for number, name in FILES.items():
        if (file := _file(evidence, number)) is not None:
            made[name] = _study(file).repeats
    if not made:
        return unknown(NO_FILES)
    holds = set(made.values()) == {claim.data["repeats"]}
    return compared(
        claim, holds, made, "runs' mean; costs of a unit and of a message are the least"
    )


@check
def transports(claim: Claim, evidence: Evidence) -> Verdict:
    """What stands for the paper's transports in the experiment files."""
    there = [row[0] for row in claim.data["rows"] if row[2]]
    hf, bc = hartree_fock(evidence, FILES[6]), betweenness(evidence, FILES[9])
    if hf is None or bc is None:
        return unknown(NO_FILES)
    both = set(hf.hf.protocols) & set(bc.scc.protocols)
    ours = {name: OURS[name] if OURS[name] in both else "none" for name in there}
    return compared(claim, "none" not in ours.values(), ours)


@check
def payload(claim: Claim, evidence: Evidence) -> Verdict:
    """Bytes of a buffer that are left for a message in the experiment files."""
    return _buffer(claim, evidence, "mpb")


@check
def sections(claim: Claim, evidence: Evidence) -> Verdict:
    """Bytes of a section in the experiment files."""
    return _buffer(claim, evidence, "mpimpb")


def _buffer(claim: Claim, evidence: Evidence, scheme: Any) -> Verdict:
    """The buffers of a scheme in the files of the figures that are the chip's."""
    files = {FILES[number]: _file(evidence, number) for number in (6, 7, 9)}
    given = {name: _study(file).buffers for name, file in files.items() if file is not None}
    if not given:
        return unknown(NO_FILES)
    ours = {name: chunk(scheme, b[scheme]) if scheme in b else 0 for name, b in given.items()}
    told = {name: f"{size} bytes" if size else "not the chip's" for name, size in ours.items()}
    return compared(claim, set(ours.values()) == {chunks()[scheme]}, told)


@check
def chip(claim: Claim, evidence: Evidence) -> Verdict:
    """The mesh and the buffers of the simulated chip; all else of it is not simulated."""
    ours = {
        "cores": SCC.cores,
        "tiles": SCC.tiles,
        "cores_per_tile": SCC.cores_per_tile,
        "mesh_columns": SCC.columns,
        "mesh_rows": SCC.rows,
        "mpb_per_core_kbyte": SCC.buffer // 1024,
        "mpb_per_tile_kbyte": SCC.buffer * SCC.cores_per_tile // 1024,
    }
    values = claim.data["values"]
    absent = [name for name in values if name not in ours]
    holds = all(values[name] == value for name, value in ours.items())
    return compared(claim, holds, ours, f"not simulated: {said(absent)}")


@check
def memory(claim: Claim, evidence: Evidence) -> Verdict:
    """What a simulated core of the chip may hold, and its buffer."""
    ours = {"private_mbyte_per_core": SCC.memory / 1e6, "mpb_bytes_per_core": SCC.buffer}
    return compared(claim, ours == claim.data["values"], ours)


@check
def clocks(claim: Claim, evidence: Evidence) -> Verdict:
    """The clocks of the simulated chip; the mesh and the buffers have them, units of work do not."""
    fixed = claim.data["fixed"]
    ours = {"core_mhz": SCC.core_hz / 1e6, "mesh_mhz": SCC.mesh_hz / 1e6}
    holds = all(fixed[name] == value for name, value in ours.items())
    return compared(claim, holds, ours, "messages alone; units take what they take on this machine")


@check
def balances(claim: Claim, evidence: Evidence) -> Verdict:
    """The ways to balance that the experiment files have."""
    if (file := hartree_fock(evidence, FILES[5])) is None:
        return unknown(NO_FILES)
    ours = set(file.hf.balance)
    return compared(claim, ours == set(claim.table()), ours)


@check
def hf_inputs(claim: Claim, evidence: Evidence) -> Verdict:
    """The molecules and bases of the experiment files."""
    ours: list[str] = []
    for name in (FILES[5], FILES[6]):
        if (file := hartree_fock(evidence, name)) is not None:
            ours += [f"{i.molecule} {i.basis}" for i in file.hf.input]
    if not ours:
        return unknown(NO_FILES)
    theirs = {f"{row['molecule']} {row['basis']}" for row in claim.table().values()}
    return compared(claim, set(ours) == theirs, ours)


@check
@with_pyscf
def work_units(claim: Claim, evidence: Evidence) -> Verdict:
    """Units of benzene in STO-3G under static balancing."""
    from dgsuite.studies.chem import molecule
    from dgsuite.studies.chem.scf import plan

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
    file = betweenness(evidence, TABLE1)
    if file is None or file.bc is None:
        return edges(claim, evidence)
    silent, ours = [], {}
    rows = {
        row[1]: dict(zip(claim.data["columns"], row, strict=True)) for row in claim.data["rows"]
    }
    for name, given in file.bc.workload.items():
        values = given.model_dump(include={"a", "b", "c", "d", "edges"})
        values |= {"n": given.scale, "w": int(given.weighted)}
        silent += [
            f"{name} {key}: {instead(value, rows[name][key])}"
            for key, value in values.items()
            if rows[name][key] != value
        ]
        shares = {share: values[share] for share in "abcd"}
        ours[name] = genval.rmat(given.scale, **shares, seed=file.scc.seed).m
    absent = rows.keys() - ours.keys() - {"large"}  # low again
    holds = not absent and all(abs(m / rows[name]["edges"] - 1) < EDGES for name, m in ours.items())
    return compared(claim, holds, ours, f"{EDGES:.1%} of the edges")._replace(
        silent="; ".join(silent)
    )


def edges(claim: Claim, evidence: Evidence) -> Verdict:
    """Edges of the graphs that results are of."""
    ds = next(evidence.having("simulated_seconds", program="bc"), None)
    if ds is None:
        return unknown(NO_FILES)
    printed = {row[1]: row[-1] for row in claim.data["rows"]}
    ours = {w: int(ds.edges.sel(workload=w)) for w in ds.workload.values.tolist() if w in printed}
    holds = all(abs(m / printed[w] - 1) < EDGES for w, m in ours.items())
    return compared(claim, holds, ours, f"{EDGES:.1%} of the edges")


@check
def holes(claim: Claim, evidence: Evidence) -> Verdict:
    """Places that the files simulate and the paper could not run."""
    if (file := hartree_fock(evidence, FILES[6])) is None:
        return unknown(NO_FILES)
    fewer = [p for p in file.hf.places if p < 8]
    ours = f"Hartree-Fock on {', '.join(map(str, fewer))} places"
    return compared(claim, not fewer, ours, results=(fewer, file.hf.places))


@condition
def beyond_memory(places: tuple[Sequence[int], Sequence[int]]) -> bool:
    """Whether a file has places that the paper's could not run for memory, and all others that it ran."""
    fewer, simulated = places
    return bool(fewer) and {8, 48} <= set(simulated)


@condition
def off_the_cluster(results: xr.Dataset) -> bool:
    """Whether the results are of another machine than the paper's cluster, by its processors."""
    return measured_elsewhere(results, "scc.sec4.1.cluster")
