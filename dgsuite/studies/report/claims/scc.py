"""Set-ups, transports and the chip of "X10 on the SCC", compared with experiment files and our code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dgsuite import genval
from dgsuite.studies.experiment import toml
from dgsuite.studies.report.claims import verdicts
from dgsuite.studies.report.claims.data import Claim, claims, figure_of
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.setups import NO_FILES, departing
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, needed
from dgsuite.studies.scc.chip import SCC, SCHEMES
from dgsuite.studies.scc.hf_study import FREE, primitives
from dgsuite.studies.scc.hf_study import File as HartreeFock
from dgsuite.studies.scc.hf_study import Study as Builds
from dgsuite.studies.scc.options import Common, Workload, pieces
from dgsuite.studies.scc.options import File as Betweenness

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


def by_cycles(evidence: Evidence) -> Evidence | None:
    """Results with what the chip's cycles say in place of this machine's transports, if there are any."""
    names = {**SCHEMES, **{name: name for name in FREE}}
    found = {}
    for file, ds in evidence.results.items():
        columns = ds["transport"].values.tolist() if "transport" in ds.dims else []
        if set(SCHEMES) <= set(columns):
            kept = [name for name in columns if name in names]
            chip = ds.sel(transport=kept).assign_coords(transport=[names[name] for name in kept])
            found[file] = chip
    return Evidence(found, configs=None) if found else None


on_chip = verdicts.judged_again("the chip", by_cycles)

TABLE1 = "scc-bc"
"""The experiment file of all graphs."""

BASE = {7: "RCCE-X10", 9: "RCCE-X10"}
"""What speed-ups are over, where the paper says so: see `dgsuite.studies.scc.figures`, `hf_report`."""

EDGES = 1e-3
"""Relative difference up to which two random graphs have as many edges."""


def _read[M: (HartreeFock, Betweenness)](model: type[M], evidence: Evidence, name: str) -> M | None:
    """An experiment file, if it is there."""
    path = evidence.file(name)
    return None if path is None else toml.checked(model, toml.read(str(path)), str(path))


def _file(evidence: Evidence, number: int) -> HartreeFock | Betweenness | None:
    name = FILES[number]
    return _read(HartreeFock, evidence, name) if number < 8 else _read(Betweenness, evidence, name)


def _hartree_fock(evidence: Evidence, number: int) -> HartreeFock:
    return needed(_read(HartreeFock, evidence, FILES[number]), NO_FILES)


def _studies(evidence: Evidence, numbers: Iterable[int]) -> dict[str, Builds | Common]:
    """What all programs have in their files, by the name of the file."""
    files = {FILES[number]: _file(evidence, number) for number in numbers}
    return needed({name: _study(file) for name, file in files.items() if file}, NO_FILES)


def _study(file: HartreeFock | Betweenness) -> Builds | Common:
    """The part of a file that all programs have."""
    return file.hf if isinstance(file, HartreeFock) else file.scc


@check
def scc_setting(claim: Claim, evidence: Evidence) -> Verdict:
    """Where the experiment file differs; the file's ``figure.departs`` must have the reasons."""
    number = figure_of(claim)
    if (file := _file(evidence, number)) is None:
        raise verdicts.MissingError(NO_FILES)
    reasons = file.figure.departs if file.figure and file.figure.number == number else {}
    return departing(departures(claim, file), reasons)


def departures(claim: Claim, file: HartreeFock | Betweenness) -> dict[str, str]:
    """Where an experiment file differs from a set-up, by aspect: "ours instead of the paper's"."""
    number, experiments = figure_of(claim), claim.data["experiment"]
    paper: dict[str, Any] = {
        aspect: list(dict.fromkeys(value for e in experiments for value in e[aspect]))
        for aspect in ("inputs", "balances", "transports", "places")
    }
    study = _study(file)
    if isinstance(file, HartreeFock):
        inputs, balances = _inputs(file), [*file.hf.balance]
    else:
        assert file.bc is not None
        inputs, balances = _workloads(file.bc.workload, paper["inputs"]), [*file.bc.deals]
    places, printed = (f"{min(of)} to {max(of)}" for of in (study.places, paper["places"]))
    ours = {
        "machine": "simulated with units of this machine", "inputs": inputs, "balances": balances,
        "places": places, "repeats": study.repeats, "base": BASE.get(number, "its own"),
    }  # fmt: skip
    paper |= {"machine": [e["machine"] for e in experiments], "places": printed}
    found = verdicts.others(ours, {"base": ours["base"], **claim.data, **paper})
    wanted = {t: OURS[t] for t in paper["transports"]}
    missing = [t for t, scheme in wanted.items() if scheme not in study.protocols]
    more = [c for c in study.protocols if c not in wanted.values()]
    parts = [f"without {verdicts.said(missing)}"] * bool(missing)
    parts += [f"{verdicts.said(more)} besides"] * bool(more)
    if parts:
        found["transports"] = ", ".join(parts)
    if buffers := _other_buffers(study.buffers, [t for t in wanted if t not in missing]):
        found["buffers"] = verdicts.said(buffers)
    return found


def _inputs(file: HartreeFock) -> list[str]:
    return [f"{i.molecule} {i.basis}" for i in file.hf.input]


def _workloads(given: Mapping[str, Workload], paper: Sequence[str]) -> list[str]:
    """Names of workloads, as the paper has them; its low and large are the same."""
    alike = {"low": "large", "large": "low"}
    names = dict.fromkeys(other for name in given for other in (name, alike.get(name, name)))
    return [n for n in names if n in paper or (n in given and alike.get(n) not in paper)]


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
    for scheme, wanted in chunks().items():
        if scheme in [OURS[name] for name in names]:
            ours = pieces(scheme, given[scheme]).chunk if scheme in given else "the transport's own"
            if ours != wanted:
                found.append(f"{scheme}: {verdicts.instead(ours, wanted)} bytes")
    return found


@check
def scc_repeats(claim: Claim, evidence: Evidence) -> Verdict:
    """Repeats of the experiment files."""
    made = {name: study.repeats for name, study in _studies(evidence, FILES).items()}
    holds = set(made.values()) == {claim.data["repeats"]}
    return compared(claim, holds, made)


@check
def transports(claim: Claim, evidence: Evidence) -> Verdict:
    """What stands for the paper's transports in the experiment files."""
    there = [row[0] for row in claim.data["rows"] if row[2]]
    studies = _studies(evidence, (6, 9)).values()
    needed(len(studies) == 2, NO_FILES)
    both = set.intersection(*(set(study.protocols) for study in studies))
    ours = {name: OURS[name] if OURS[name] in both else "none" for name in there}
    return compared(claim, "none" not in ours.values(), ours)


@check
def buffers(claim: Claim, evidence: Evidence) -> Verdict:
    """Bytes that buffers of a transport take at a time, in the files of the figures that are the chip's."""
    scheme = claim.data["transport"]
    given = {name: study.buffers for name, study in _studies(evidence, (6, 7, 9)).items()}
    ours = {
        name: pieces(scheme, b[scheme]).chunk if scheme in b else 0 for name, b in given.items()
    }
    told = {name: f"{size} bytes" if size else "not the chip's" for name, size in ours.items()}
    return compared(claim, set(ours.values()) == {chunks()[scheme]}, told)


@check
def chip(claim: Claim, evidence: Evidence) -> Verdict:
    """The chip's numbers that a claim names, and of these the ones that are simulated: messages take its
    clocks; units of work take what they take here.
    """
    values = claim.data.get("values") or claim.data["fixed"]
    ours = {name: getattr(SCC, name) for name in values if hasattr(SCC, name)}
    absent = [name for name in values if name not in ours]
    holds = all(values[name] == value for name, value in ours.items())
    return compared(claim, holds, ours, f"not simulated: {verdicts.said(absent)}" if absent else "")


@check
def as_listed(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether what the experiment files have is what a table lists: balances, or molecules with bases."""
    table = claim.table()
    if "gmatype" in claim.data["columns"]:
        ours, theirs = set(_hartree_fock(evidence, 5).hf.balance), set(table)
    else:
        ours = {name for number in (5, 6) for name in _inputs(_hartree_fock(evidence, number))}
        theirs = {f"{row['molecule']} {row['basis']}" for row in table.values()}
    return compared(claim, ours == theirs, ours)


@check
def work_units(claim: Claim, evidence: Evidence) -> Verdict:
    """Units of benzene in STO-3G under static balancing."""
    verdicts.need_pyscf()
    from dgsuite.studies.chem import molecule
    from dgsuite.studies.chem.scf import plan

    work, _ = plan(molecule.mole(molecule.read("benzene"), "sto-3g"), "static")
    ours, theirs = len(primitives(work)), claim.data["values"]["static_work_units_benzene_sto3g"]
    return compared(claim, ours == theirs, f"{ours} units")


@check
def bc_graphs(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether a generated graph is directed, weighted and bipartite."""
    graph = genval.rmat(8)
    matrix = graph.to_scipy()
    cycles = matrix.astype(bool).astype(int)
    odd = (cycles @ cycles @ cycles).diagonal().sum() > 0
    return verdicts.seen(claim, [graph.directed, len(set(matrix.data)) > 1, bool(odd)])


@check
def table1(claim: Claim, evidence: Evidence) -> Verdict:
    """Shares of the experiment file as printed, and edges of graphs of these; else of results."""
    file = _read(Betweenness, evidence, TABLE1)
    rows = {r[1]: dict(zip(claim.data["columns"], r, strict=True)) for r in claim.data["rows"]}
    silent, absent = [], set()
    if file is None or file.bc is None:
        ds = needed(next(evidence.simulations("simulated_seconds", program="bc"), None), NO_FILES)
        ours = {w: int(ds.edges.sel(workload=w)) for w in ds.workload.values.tolist() if w in rows}
    else:
        ours = {}
        for name, given in file.bc.workload.items():
            values = given.model_dump(include={"a", "b", "c", "d", "edges"})
            values |= {"n": given.scale, "w": int(given.weighted)}
            silent += [f"{name} {k}: {t}" for k, t in verdicts.others(values, rows[name]).items()]
            shares = {share: values[share] for share in "abcd"}
            ours[name] = genval.rmat(given.scale, **shares, seed=file.scc.seed).m
        absent = rows.keys() - ours.keys() - {"large"}  # low again
    near = all(abs(m / rows[name]["edges"] - 1) < EDGES for name, m in ours.items())
    found = compared(claim, near and not absent | {*silent}, ours, f"{EDGES:.1%} of the edges")
    return found._replace(silent="; ".join(silent))


@check
def holes(claim: Claim, evidence: Evidence) -> Verdict:
    """Places that the files simulate and the paper could not run."""
    places = _hartree_fock(evidence, 6).hf.places
    fewer = [p for p in places if p < 8]
    ours = f"Hartree-Fock on fewer than 8 places: {', '.join(map(str, fewer))}"
    return compared(claim, not fewer, ours, results={8, 48} <= set(places))
