"""Basis sets and effective core potentials by name, and the densities of atoms that iterations start from.

PySCF's loader reads a file wherever one has the name of the set that is asked for, and evaluates what
it finds there. Here a name is never taken for a path.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by

NAME = re.compile(r"[\w+*(),@. -]{1,80}", re.ASCII)
"""What a name may consist of. Without line breaks PySCF does not take it for the text of a set."""

NO_FILE = "-" * 256
"""No file can have a name of so many bytes. PySCF ignores hyphens in the names of sets."""

VALENCE = re.compile(r"(aug)?ccp(wc)?v.zpp(nr)?|bfd.*|gth.*|.*ccecp.*")
"""Sets, as PySCF abbreviates their names, that stand for valence electrons alone."""

SHELLS = range(4)
"""Angular momenta of the shells that an atom fills."""


class Basis(NamedTuple):
    """Functions of an element, and what stands for the electrons that they leave out.

    Attributes
    ----------
    functions
        In PySCF's form.
    core
        The effective core potential in PySCF's form; empty where all electrons have functions.
    """

    functions: list[Any]
    core: list[Any]


def pyscf() -> Any:
    """PySCF, or an error that says how to get it."""
    with needed_by("Hartree-Fock"):
        import pyscf.gto
        import pyscf.scf
    return pyscf


def load(name: str, symbol: str) -> Basis:
    """A basis set of PySCF's for an element, with its effective core potential if it has one.

    Raises
    ------
    InputError
        Not a name, no such set, or one for the valence electrons without a potential for the core.
    """
    basis = pyscf().gto.basis
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(f"basis must be the name of a basis set, not a file or text: {name!r}")
    functions = _found(basis.load, name, symbol)
    if not functions:
        raise InputError(
            f"PySCF has no basis {name!r} for {symbol}; "
            f"names are such as 'sto-3g', '3-21g', '6-31g*', 'cc-pvdz'"
        )
    core = _found(basis.load_ecp, name, symbol)
    if not core and _lacks_core(name, symbol, functions):
        raise InputError(
            f"basis {name!r} leaves out core electrons of {symbol}, and PySCF has no effective core "
            f"potential of that name for it"
        )
    return Basis(functions, core)


def _found(loader: Any, name: str, symbol: str) -> list[Any]:
    """What one of PySCF's loaders has under a name; nothing if it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about packages that would have more sets
            return loader(NO_FILE + name, symbol) or []
    except Exception:  # the type depends on which of its readers failed
        return []


def _lacks_core(name: str, symbol: str, functions: list[Any]) -> bool:
    """Whether functions cannot describe an atom's innermost electrons.

    In a set for all electrons the steepest s function has an exponent above the square of the nuclear
    charge, in one for valence electrons mostly a small part of that.
    """
    short = name.lower().translate({ord(c): None for c in "-_ "})
    exponents = [row[0] for shell in functions if shell[0] == 0 for row in shell[1:]]
    steepest = max((e for e in exponents if isinstance(e, float)), default=0.0)
    return bool(VALENCE.fullmatch(short)) or steepest < pyscf().gto.charge(symbol) ** 2


def start(mole: Any) -> NDArray[np.float64]:
    """Densities of free atoms, projected onto a molecule's functions: PySCF's "minao".

    PySCF's own function would read a file named "ano" in the current folder.

    Returns
    -------
    (functions, functions) density, with two electrons an orbital.

    Raises
    ------
    InputError
        An element without an atomic density.
    """
    gto = pyscf().gto
    from pyscf.scf import addons, atom_hf

    functions: dict[str, list[Any]] = {}
    occupations: dict[str, NDArray] = {}
    for atom in range(mole.natm):
        symbol = mole.atom_symbol(atom)
        if symbol in functions:
            continue
        atomic = load("ano", symbol).functions
        core = gto.ecp.core_configuration(mole.atom_nelec_core(atom), atom_symbol=symbol)
        functions[symbol] = []
        shells = []
        for angular in SHELLS:
            full, rest = atom_hf.frac_occ(symbol, angular)
            if full < core[angular]:
                continue
            shells.append(np.repeat([2.0] * (full - core[angular]) + [rest], 2 * angular + 1))
            rows = [row[:1] + row[1 + core[angular] : full + 2] for row in atomic[angular][1:]]
            functions[symbol].append([angular, *rows])
        occupations[symbol] = np.concatenate(shells)
    atoms = gto.Mole()
    atoms._atm, atoms._bas, atoms._env = atoms.make_env(mole._atom, functions, [])
    atoms._built = True
    orbitals = addons.project_mo_nr2nr(atoms, np.eye(atoms.nao), mole)
    filled = np.concatenate([occupations[mole.atom_symbol(atom)] for atom in range(mole.natm)])
    return np.asarray((orbitals * filled) @ orbitals.T)
