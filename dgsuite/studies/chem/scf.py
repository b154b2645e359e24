"""The function `hartree_fock`: the self-consistent field, and its dataset by iteration."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from distributed import Client
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError, one_of
from dgsuite.core.results.dataset import made_by, variable
from dgsuite.core.results.provenance import machine_of
from dgsuite.partition.client.tasks import spanned
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import molecule as molecules
from dgsuite.studies.chem import places
from dgsuite.studies.chem.fock import BALANCES, PAIRS, Work
from dgsuite.studies.chem.molecule import pyscf, start
from dgsuite.studies.chem.places import Shares

DEPENDENT = 1e-8
"""Eigenvalues of the overlap below which a combination of basis functions counts as none."""

NOTHING = np.empty(0)
"""In place of a place's matrix, once matrices are added up: there is one an iteration and place."""


class Iteration(NamedTuple):
    """What happened in an iteration: energy and error, seconds of the Fock build and of all else, and what
    each place did.
    """

    energy: float
    error: float
    fock: float
    other: float
    shares: Shares


@spanned()
def hartree_fock(
    molecule: str | os.PathLike[str] = "benzene",
    *,
    basis: str = "sto-3g",
    balance: str = "static",
    fetch: int | None = None,
    client: Client | None = None,
    charge: int = 0,
    tolerance: float = 1e-9,
    iterations: int = 100,
    on_iteration: Callable[[int, float], None] | None = None,
) -> xr.Dataset:
    """Restricted Hartree-Fock energy of a molecule, with the Fock build dealt to places.

    All integrals are computed anew in each iteration, none is left out for being small. Basis functions are
    Cartesian. Where iterations start (atomic densities) and how they converge (DIIS) is PySCF's way,
    not the original's, whose start diverges for aspirin.

    Parameters
    ----------
    molecule
        "benzene" or "aspirin", as ANUChem has them, or the path of a file in XYZ form: in bohr where it
        ends in ``.inp``, else in angstrom. A file of such a name is given as "./benzene" or as a
        ``pathlib.Path``.
    basis
        Any name that PySCF knows, never a file. Effective core potentials that come with the basis are
        used; a basis that leaves out electrons without one is refused.
    balance
        "static": ordered pairs of shells in turn, some of them empty (ANUChem's gmatype 5). "dynamic":
        quartets of atoms by a counter at the first place, half of their integrals thrown away (gmatype 4).
        And three that ANUChem lacks: "filled", static without empty units; "unique", dynamic without the
        double work; "dask", pairs as tasks that Dask's scheduler balances.
    fetch
        Units at a time from the counter (by default 1), or in a task of "dask" (by default a sixteenth of a
        worker's part).
    client
        Dask client to run on, a place a worker; without one, this process is the only place.
    charge
        Of the molecule.
    tolerance
        Change of energy (Hartree) below which it has converged, and square of that of ``error``.
    iterations
        At most.
    on_iteration
        Called with each iteration's number and energy.

    Returns
    -------
    Dataset with dims iteration and place. ``energy(iteration)`` is in Hartree; its last value is the result.

    Raises
    ------
    InputError
        Unknown molecule, element, basis or balance; a malformed file; an odd number of electrons.
    RunError
        No convergence, or a worker was lost ("dask" goes on with those that are left).

    References
    ----------
    "X10 on the SCC"; PumjaRasaayani in milthorpe/anuchem at 7e295c7f.

    Examples
    --------
    >>> from pathlib import Path
    >>> import dgsuite
    >>> _ = Path("h2.xyz").write_text("2\\n\\nH 0 0 0\\nH 0 0 0.74\\n")
    >>> ds = dgsuite.hartree_fock("h2.xyz", basis="sto-3g")
    >>> round(float(ds.energy[-1]), 4)
    -1.1168
    """
    one_of("balance", balance, BALANCES)
    if fetch is not None and (fetch < 1 or balance in ("static", "filled")):
        raise InputError(
            f"fetch must be at least 1, and is for 'dynamic', 'unique' and 'dask'; got {fetch} "
            f"with balance {balance!r}"
        )
    if iterations < 1 or not tolerance > 0:
        raise InputError(f"iterations and tolerance must be above 0, got {iterations}, {tolerance}")
    if balance == "dask" and client is None:
        raise InputError("balance 'dask' needs a Dask client: pass client=")
    pyscf()
    atoms = molecules.read(molecule)
    mole = molecules.mole(atoms, basis, charge)
    work, order = plan(mole, balance, fetch)

    where = [] if client is None else worker_addresses(client)

    def build(density: NDArray) -> tuple[NDArray, Shares]:
        ordered = density[np.ix_(order, order)]
        if client is None:
            shares = places.alone(work, ordered)
        else:
            deal = places.tasked if balance == "dask" else places.spread
            with client.as_current():
                shares = deal(work, ordered, client, where)
        found = np.empty_like(density)
        found[np.ix_(order, order)] = sum(share.matrix for _, share in shares)
        return found, [(place, share._replace(matrix=NOTHING)) for place, share in shares]

    measured_on = machine_of(client)
    log = iterate(mole, build, tolerance, iterations, on_iteration)
    attrs = {
        "title": f"restricted Hartree-Fock of {atoms.path}, {basis}, {balance}",
        "molecule": atoms.path,
        "basis": basis,
        "balance": balance,
        "fetch": work.fetch,
        "charge": charge,
        "electrons": mole.nelectron,
        "core_electrons": sum(mole.atom_nelec_core(a) for a in range(mole.natm)),
        "functions": mole.nao,
        "shells": mole.nbas,
        "work_units": len(work.units()),
        "nuclear_repulsion": float(mole.energy_nuc()),
        "tolerance": tolerance,
        **made_by(measured_on, "pyscf"),
    }
    return _dataset(log, attrs)


def plan(mole: Any, balance: str, fetch: int | None = None) -> tuple[Work, NDArray]:
    """The work of a Fock build, and the order of functions that its matrices have.

    Shells are grouped by angular momentum where units are pairs of them, as in the original, and by atom
    where units are quartets of atoms.
    """
    shells = np.arange(mole.nbas)
    starts = np.append(shells, mole.nbas)
    if balance in PAIRS:
        shells = np.argsort([mole.bas_angular(s) for s in shells], kind="stable")
    else:
        starts = np.append(mole.aoslice_by_atom()[:, 0], mole.nbas)
    first = mole.ao_loc_nr()
    order = np.concatenate([np.arange(first[s], first[s + 1]) for s in shells])
    if fetch is None:
        fetch = 0 if balance == "dask" else 1
    tables = (mole._atm, np.ascontiguousarray(mole._bas[shells]), mole._env)
    return Work(balance, fetch, *tables, starts), order


def iterate(
    mole: Any,
    build: Callable[[NDArray], tuple[NDArray, Shares]],
    tolerance: float,
    iterations: int,
    on_iteration: Callable[[int, float], None] | None,
) -> list[Iteration]:
    """Iterate to self-consistency from atomic densities, with DIIS.

    Raises
    ------
    RunError
        No convergence.
    """
    scf = pyscf().scf
    core, overlap, repulsion = scf.hf.get_hcore(mole), mole.intor("int1e_ovlp"), mole.energy_nuc()
    values, vectors = np.linalg.eigh(overlap)
    kept = values > DEPENDENT
    orthogonal = vectors[:, kept] / np.sqrt(values[kept])
    density = start(mole)
    diis = scf.diis.CDIIS()
    log: list[Iteration] = []
    for number in range(iterations):
        begin = perf_counter()
        repelled, shares = build(density)
        built = perf_counter()
        fock = core + repelled
        energy = float(np.sum(density * (core + fock)) / 2 + repulsion)
        lack = fock @ density @ overlap
        error = float(np.abs(orthogonal.T @ (lack - lack.T) @ orthogonal).max())
        changed = abs(energy - log[-1].energy) if log else np.inf
        fock = diis.update(overlap, density, fock)
        _, orbitals = np.linalg.eigh(orthogonal.T @ fock @ orthogonal)
        occupied = orthogonal @ orbitals[:, : mole.nelectron // 2]
        density = 2 * occupied @ occupied.T
        log.append(Iteration(energy, error, built - begin, perf_counter() - built, shares))
        if on_iteration is not None:
            on_iteration(number, energy)
        if changed < tolerance and error < tolerance**0.5:
            return log
    raise RunError(
        f"hartree_fock: no convergence in {iterations} iterations: the energy changed by {changed:.1e} "
        f"Hartree in the last one, error {error:.1e}"
    )


def _dataset(log: Sequence[Iteration], attrs: dict[str, Any]) -> xr.Dataset:
    """The dataset of a run."""
    energy, error, fock, other, each = zip(*log, strict=True)
    at = list(dict.fromkeys(place for shares in each for place, _ in shares))

    def by_place(name: str, long_name: str, units: str = "1") -> xr.Variable:
        values = np.zeros((len(each), len(at)), np.float64 if units == "s" else np.int64)
        for row, shares in zip(values, each, strict=True):
            for place, share in shares:
                row[at.index(place)] = getattr(share, name)
        return variable(("iteration", "place"), values, long_name, units)

    def by_iteration(values: Any, long_name: str, units: str = "1") -> xr.Variable:
        return variable("iteration", np.array(values), long_name, units)

    cpu = by_place("cpu", "processor time computing units", "s")
    variables = {
        "energy": by_iteration(energy, "total energy", "hartree"),
        "error": by_iteration(
            error, "largest element of FDS - SDF, orthonormal functions", "hartree"
        ),
        "units": by_place("units", "units of work"),
        "integrals": by_place("integrals", "integrals computed"),
        "used": by_place("used", "integrals not thrown away"),
        "seconds": by_place("seconds", "time computing units", "s"),
        "cpu_seconds": cpu,
        "wait_seconds": by_place("waited", "time waiting for the counter", "s"),
        "counter_operations": by_place("fetches", "counter operations"),
        "imbalance": by_iteration(
            cpu.values.max(1) / cpu.values.mean(1), "largest over mean processor time of a place"
        ),
        "fock_seconds": by_iteration(fock, "time of the Fock build", "s"),
        "other_seconds": by_iteration(other, "time of all else, at one place", "s"),
    }
    coords = {
        "iteration": ("iteration", np.arange(len(log)), {"long_name": "iteration"}),
        "place": ("place", np.arange(len(at)), {"long_name": "place"}),
        "address": ("place", at, {"long_name": "worker"}),
    }
    return xr.Dataset(variables, coords, attrs)
