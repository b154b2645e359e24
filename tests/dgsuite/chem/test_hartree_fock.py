"""Hartree-Fock: PySCF's energies, the same for every balance; what is counted; what goes wrong."""

import _thread
import math
import os
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest

import dgsuite
from dgsuite.base.errors import InputError
from dgsuite.core.workers.plugin import install
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import molecule as molecules
from dgsuite.studies.chem.fock import BALANCES, compute
from dgsuite.studies.chem.molecule import start
from dgsuite.studies.chem.scf import plan
from tests.support.clusters import assert_nothing_held, client_of, has_worked
from tests.support.patience import until

pyscf = pytest.importorskip("pyscf", reason="PySCF is not installed: pip install 'dgsuite[chem]'")

WATER = """3
water
O  0.0000  0.0000  0.1173
H  0.0000  0.7572 -0.4692
H  0.0000 -0.7572 -0.4692
"""


@pytest.fixture
def water(tmp_path):
    path = tmp_path / "water.xyz"
    path.write_text(WATER)
    return path


def molecule(path, *atoms):
    path.write_text(f"{len(atoms)}\n\n" + "\n".join(atoms) + "\n")
    return path


def stationary(atoms, basis, ecp=None):
    """PySCF's energies of a molecule: where it ends, and further down until the state is a minimum."""
    mole = pyscf.gto.M(atom="; ".join(atoms), basis=basis, ecp=ecp or {}, cart=True, verbose=0)
    found = pyscf.scf.RHF(mole)
    found.conv_tol = 1e-11
    density, stable = None, False
    while not stable:
        yield found.kernel(density)
        assert found.converged
        orbitals, _, stable, _ = found.stability(return_status=True)
        density = found.make_rdm1(orbitals, found.mo_occ)


MOLECULES = [
    (WATER.splitlines()[2:], "cc-pvdz", 0),
    (("H 0 0 0", "Cl 0 0 1.2746"), "lanl2dz", 10),
    (("N 0 0 0", "N 0 0 3.0"), "sto-3g", 0),
    (WATER.splitlines()[2:], "6-31g*", 0),
    (("H 0 0 0", "Br 0 0 1.414"), "lanl2dz", 28),
    (("H 0 0 0", "I 0 0 1.609"), "def2-svp", 28),
    (("H 0 0 0", "Br 0 0 1.414"), "def2-svp", 0),
    (("O 0 0 0", "O 0 0 1.2075"), "6-31g*", 0),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("atoms", "basis", "core"), MOLECULES)
def test_energies_are_pyscfs(tmp_path, atoms, basis, core):
    """With d functions, general contractions and effective core potentials. Stretched nitrogen and singlet
    oxygen are hard to converge: rounding decides in which stationary state PySCF ends first.
    """
    ds = dgsuite.hartree_fock(molecule(tmp_path / "m.xyz", *atoms), basis=basis)
    assert ds.attrs["core_electrons"] == core
    energies = stationary(atoms, basis, {atoms[-1].split()[0]: basis} if core else None)
    hard = len({atom.split()[0] for atom in atoms}) == 1
    energies = energies if hard else [next(energies)]
    assert any(float(ds.energy[-1]) == pytest.approx(energy, abs=1e-8) for energy in energies)


def test_benzene():
    ds = dgsuite.hartree_fock("benzene", basis="sto-3g")
    assert float(ds.energy[-1]) == pytest.approx(-227.891120645, abs=1e-8)
    assert ds.attrs["nuclear_repulsion"] == pytest.approx(204.844465543, abs=1e-8)
    assert (ds.energy.attrs["units"], ds.energy.dims) == ("hartree", ("iteration",))
    with pytest.raises(dgsuite.RunError, match="no convergence in 4 iterations"):
        dgsuite.hartree_fock("benzene", iterations=4)


VALENCE = [
    (("Cu 0 0 0", "H 0 0 1.46"), "cc-pwcvtz-pp"),
    (("Ag 0 0 0", "Ag 0 0 2.5"), "aug-cc-pvdz-pp"),
    (("C 0 0 0", "O 0 0 1.13"), "bfd-vdz"),
    (("O 0 0 0", "C 0 0 1.13"), "gth-szv"),
    (("Rb 0 0 0", "H 0 0 2.4"), "def2-mtzvp"),
]


@pytest.mark.parametrize(("atoms", "basis"), VALENCE)
def test_a_basis_of_valence_electrons_alone_is_refused(tmp_path, atoms, basis):
    """PySCF has no potential under the basis's name: without one the energy is some other number."""
    with pytest.raises(InputError, match=r"line 3: field 1: .*(leaves out core|no basis)"):
        dgsuite.hartree_fock(molecule(tmp_path / "m.xyz", *atoms), basis=basis)


def test_starting_densities_are_pyscfs(water):
    mole = molecules.mole(molecules.read(water), "6-31g*")
    np.testing.assert_allclose(start(mole), pyscf.scf.hf.init_guess_by_minao(mole), atol=1e-12)


NAMES = ("sto-3g", "ano", "lanl2dz", "benzene", "sto3g", "STO-3G")


def test_files_with_the_names_of_sets_and_molecules(tmp_path, monkeypatch, water):
    """Are neither read nor evaluated, for the functions, the potentials and the start."""
    alone = {basis: dgsuite.hartree_fock(water, basis=basis) for basis in ("sto-3g", "lanl2dz")}
    call = "open('evaluated','w').close() 1.0"
    evil = f"O S\n  {call}\nH S\n  {call}\n"
    for name in NAMES:
        (tmp_path / name).write_text(evil)
    monkeypatch.chdir(tmp_path)
    for basis, there in alone.items():
        here = dgsuite.hartree_fock(water, basis=basis)
        np.testing.assert_allclose(here.energy, there.energy, atol=1e-9)
    assert not (tmp_path / "evaluated").exists()


def test_a_file_with_the_name_of_a_molecule_is_read_if_it_is_given_as_a_path(tmp_path, monkeypatch):
    (tmp_path / "benzene").write_text(WATER)
    monkeypatch.chdir(tmp_path)
    for name, electrons in ((Path("benzene"), 10), ("./benzene", 10), ("benzene", 42)):
        assert molecules.mole(molecules.read(name), "sto-3g").nelectron == electrons
    assert dgsuite.hartree_fock("./benzene").attrs["electrons"] == 10


@pytest.mark.parametrize("basis", ["C S\n 1 1", "/etc/x", "../sto-3g", Path("sto-3g"), "x" * 200])
def test_a_basis_is_a_name(basis):
    with pytest.raises(InputError, match="basis must be the name of a basis set"):
        dgsuite.hartree_fock("benzene", basis=basis)


@pytest.mark.few(2)
@pytest.mark.parametrize("balance", ["static", "filled", "dask", "dynamic", "unique"])
def test_units_add_up_to_a_fock_build(balance):
    """For any symmetric density, in any order, as PySCF's matrices."""
    mole = molecules.mole(molecules.read("benzene"), "sto-3g")
    density = np.random.default_rng(1).random((mole.nao, mole.nao))
    density += density.T
    coulomb, exchange = pyscf.scf.hf.get_jk(mole, density)
    work, order = plan(mole, balance)
    mine = density[np.ix_(order, order)]
    total = len(work.units())
    totals = {"static": 576, "filled": 300, "dask": 300, "dynamic": 6084, "unique": 3081}
    assert total == totals[balance]
    parts = [compute(work, mine, range(total)[p::3]).share() for p in range(3)]
    found, right = sum(part.matrix for part in parts), coulomb - exchange / 2
    np.testing.assert_allclose(found, right[np.ix_(order, order)], atol=1e-11)
    # every canonical integral once: 36 functions, 666 pairs
    assert sum(part.used for part in parts) == 666 * 667 // 2


@pytest.mark.few(2)
@pytest.mark.parametrize("balance", BALANCES)
def test_balances_agree(client, water, balance):
    ds = dgsuite.hartree_fock(water, basis="3-21g", balance=balance, client=client)
    alone = dgsuite.hartree_fock(water, basis="3-21g")
    np.testing.assert_allclose(ds.energy, alone.energy, atol=1e-9)
    total = ds.attrs["work_units"]
    assert (ds.units.sum("place") == total).all()
    assert (ds.used.sum("place") == alone.used.sum("place")).all()
    counted = total if balance in ("dynamic", "unique") else 0
    assert (ds.counter_operations.sum("place") == counted).all()
    if balance in ("static", "filled"):
        assert ds.units[0].values.tolist() == [-(-total // 2), total // 2]
    assert (ds.imbalance >= 1).all()


def test_some_units_a_fetch(client, water):
    ds = dgsuite.hartree_fock(water, balance="dynamic", fetch=5, client=client)
    assert ds.attrs["work_units"] == 36
    assert (ds.counter_operations.sum("place") == math.ceil(36 / 5)).all()
    assert_nothing_held(client)


def test_the_double_work_of_gmatype_4():
    mole = molecules.mole(molecules.read("benzene"), "sto-3g")
    density = np.eye(mole.nao)
    works = [plan(mole, balance)[0] for balance in ("dynamic", "static")]
    twice, once = (compute(work, density, range(len(work.units()))).share() for work in works)
    assert twice.used == once.used
    assert 1.9 < twice.integrals / once.integrals < 2.2


def test_results_are_kept(water, tmp_path):
    ds = dgsuite.hartree_fock(water)
    dgsuite.save(ds, tmp_path / "water.nc")
    assert dgsuite.open(tmp_path / "water.nc").identical(ds)


def once_at_work(worker):
    """Kill a worker that has begun the next iteration."""
    has_worked([worker], 0.05)
    worker.kill()


KILLED = [("static", 1, "tcp"), ("dask", 0, "tcp"), ("dynamic", 0, "mpb"), ("dynamic", 1, "tcp")]


@pytest.mark.few(2)
@pytest.mark.parametrize(("balance", "rank", "protocol"), KILLED)
def test_a_killed_worker(balance, rank, protocol):
    """Is named, whether it has the counter or not; Dask's own balancing goes on without it."""
    named = pytest.raises(dgsuite.RunError, match=rf"worker {protocol}://.* lost")
    with client_of(2, protocol=protocol, set_as_default=False) as client:
        victim = psutil.Process(client.run(os.getpid)[worker_addresses(client)[rank]])

        def kill(number, energy):
            if number == 0:
                threading.Thread(target=once_at_work, args=(victim,)).start()

        with nullcontext() if balance == "dask" else named:
            ds = dgsuite.hartree_fock("benzene", balance=balance, client=client, on_iteration=kill)
            assert float(ds.energy[-1]) == pytest.approx(-227.891120645, abs=1e-8)


@pytest.mark.parametrize("balance", ["static", "dynamic"])
def test_an_interrupt_stops_the_workers(client, balance, interruptible):
    """Such a build takes minutes; its places stop when the client is interrupted."""
    install(client)

    def interrupt():
        while not any(client.processing().values()):
            time.sleep(0.05)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        dgsuite.hartree_fock("aspirin", basis="6-311g**", balance=balance, client=client)
    for place in worker_addresses(client):
        client.submit(os.getpid, workers=[place], pure=False).result(timeout=60)
    assert_nothing_held(client)


def test_no_worker_is_left(own_client):
    def leave(number, energy):
        own_client.cluster.scale(0)
        until(lambda: not Session.of(own_client).workers())

    with (
        dask.config.set({"dgsuite.timeout": "4s"}),
        pytest.raises(dgsuite.RunError, match=r"hartree_fock.*: no worker is left"),
    ):
        dgsuite.hartree_fock("benzene", balance="dask", client=own_client, on_iteration=leave)


WRONG_FILES = [
    (("3\n", "three\n"), "line 1: must be the number of atoms, got 'three'"),
    (("3\n", "2\n"), "line 5: line 1 says 2 atoms, and this is more"),
    (("3\n", "4\n"), "line 6: atom 4 of 4 is missing"),
    (("O  0", "Ox 0"), "line 3: field 1: 'Ox' is not the symbol of an element"),
    (("0.7572", "0,7572"), r"line 4: field 3 \(y\): '0,7572' is not a number"),
    (("0.7572", "nan"), r"line 4: field 3 \(y\): 'nan' is not a number"),
    ((" 0.1173", ""), "line 3: must be a symbol and x, y, z, got 'O 0.0000 0.0000'"),
    (("-0.7572", "0.7572"), "line 5: the atom is where that of line 4 is"),
    ((WATER, ""), "line 1: must be the number of atoms, got nothing"),
    (("O  0", "F  0"), "11 electrons with charge 0: .* charge 1 or -1"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_FILES)
def test_bad_files(tmp_path, change, message):
    path = tmp_path / "bad.xyz"
    path.write_text(WATER.replace(*change, 1))
    with pytest.raises(InputError, match=f"bad.xyz: {message}"):
        dgsuite.hartree_fock(path)


WRONG_OPTIONS = [
    ({"molecule": "bensene"}, "bensene: no such file, and no molecule of that name: 'benzene'"),
    ({"basis": "3-21h"}, "benzene: line 3: field 1: PySCF has no basis '3-21h' for C"),
    ({"balance": "statik"}, "unknown balance 'statik'; did you mean 'static'"),
    ({"fetch": 2}, "fetch must be at least 1, and is for 'dynamic'"),
    ({"fetch": 0, "balance": "dynamic"}, "fetch must be at least 1"),
    ({"charge": 1}, "41 electrons with charge 1"),
    ({"charge": 42}, "charge 42: leaves no electrons"),
    ({"iterations": 0}, "iterations and tolerance must be above 0"),
    ({"balance": "dask"}, "balance 'dask' needs a Dask client"),
]


@pytest.mark.parametrize(("options", "message"), WRONG_OPTIONS)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        dgsuite.hartree_fock(**options)
