"""Molecules and their basis sets: files of atoms, and what PySCF makes of them.

PySCF's loader of basis sets reads a file wherever one has the name of the set that is asked for, and
evaluates what it finds there. Here a name is never taken for a path.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by

NAMED = ("benzene", "aspirin")
"""Molecules that come with dgsuite, in bohr, as ANUChem has them."""

COUNT = re.compile("[1-9][0-9]{0,8}")
"""A number of atoms."""

FIRST = 3
"""Line of the first atom."""

NEAR = 1e-3
"""Bohr between two nuclei below which they are one and the same."""


@dataclass(frozen=True)
class Molecule:
    """Atoms of a file in XYZ form, which has one a line from line `FIRST` on.

    Attributes
    ----------
    path
        The file.
    symbols
        One an atom.
    positions
        Of the nuclei, bohr.
    """

    path: str
    symbols: tuple[str, ...]
    positions: tuple[tuple[float, float, float], ...]


def read(molecule: str | os.PathLike[str]) -> Molecule:
    """Read a molecule: one of `NAMED`, as text, or a file in XYZ form.

    Text that is one of the names stands for that molecule, whatever files there are. A file of such a
    name is read if it is given as a path: "./benzene", or a ``pathlib.Path``.

    The form is: a number of atoms; a comment line; a line per atom, with symbol, x, y, z, of which what
    follows is ignored. Lengths are in bohr in ANUChem's files (``.inp``), else in angstrom.

    Raises
    ------
    InputError
        The file cannot be read, or is malformed: with its line and field.
    """
    path = source = os.fspath(molecule)
    if isinstance(molecule, str) and molecule in NAMED:
        source = str(files(__package__) / f"{path}.inp")
    try:
        with open(source, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        known = " or ".join(repr(name) for name in NAMED)
        raise InputError(f"{path}: no such file, and no molecule of that name: {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    return parse(lines, path, in_bohr=source.endswith(".inp"))


def parse(lines: Sequence[str], path: str, in_bohr: bool) -> Molecule:
    """The molecule that lines in XYZ form describe; see `read`."""
    from pyscf.data.elements import ELEMENTS
    from pyscf.data.nist import BOHR

    first = lines[0].split() if lines else []
    if len(first) != 1 or not COUNT.fullmatch(first[0]):
        found = repr(lines[0]) if lines else "nothing"
        raise InputError(f"{path}: line 1: must be the number of atoms, got {found}")
    count = int(first[0])
    scale = 1.0 if in_bohr else 1 / BOHR
    symbols: list[str] = []
    positions: list[tuple[float, float, float]] = []
    for number in range(FIRST, count + FIRST):
        fields = lines[number - 1].split() if number <= len(lines) else []
        where = f"{path}: line {number}"
        if not fields:
            raise InputError(f"{where}: atom {number - 2} of {count} is missing")
        symbol = fields[0].capitalize()
        if symbol not in ELEMENTS[1:]:
            raise InputError(f"{where}: field 1: {fields[0]!r} is not the symbol of an element")
        if len(fields) < 4:
            raise InputError(f"{where}: must be a symbol and x, y, z, got {' '.join(fields)!r}")
        place = []
        for i, text in enumerate(fields[1:4], 2):
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                raise InputError(f"{where}: field {i} ({'xyz'[i - 2]}): {text!r} is not a number")
            place.append(scale * value)
        for other, there in enumerate(positions):
            if math.dist(place, there) < NEAR:
                raise InputError(f"{where}: the atom is where that of line {other + FIRST} is")
        symbols.append(symbol)
        positions.append((place[0], place[1], place[2]))
    for number, line in enumerate(lines[count + 2 :], count + 3):
        if line.strip():
            raise InputError(f"{path}: line {number}: line 1 says {count} atoms, and this is more")
    return Molecule(path, tuple(symbols), tuple(positions))


def mole(molecule: Molecule, basis: str, charge: int = 0) -> Any:
    """PySCF's form of a molecule, with Cartesian functions as ANUChem has them.

    Where the basis has effective core potentials they stand for the core electrons: the electrons and
    the charges of nuclei are fewer by these.

    Raises
    ------
    InputError
        A basis that PySCF does not have for one of the elements (see `load`), or an odd number of
        electrons.
    """
    gto = pyscf().gto
    sets: dict[str, Basis] = {}
    for line, symbol in enumerate(molecule.symbols, FIRST):
        try:
            sets[symbol] = sets.get(symbol) or load(basis, symbol)
        except InputError as error:
            raise InputError(f"{molecule.path}: line {line}: field 1: {error}") from None
    made = gto.Mole(verbose=0)
    made.build(
        False,
        False,
        atom=list(zip(molecule.symbols, molecule.positions, strict=True)),
        basis={symbol: found.functions for symbol, found in sets.items()},
        ecp={symbol: found.core for symbol, found in sets.items() if found.core},
        unit="bohr",
        charge=charge,
        spin=None,
        cart=True,
    )
    if made.nelectron < 1:
        raise InputError(f"{molecule.path}: charge {charge}: leaves no electrons")
    if made.nelectron % 2:
        raise InputError(
            f"{molecule.path}: {made.nelectron} electrons with charge {charge}: restricted Hartree-Fock "
            f"needs an even number; charge {charge + 1} or {charge - 1} would give one"
        )
    return made


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
