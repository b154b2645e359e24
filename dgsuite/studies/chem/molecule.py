"""Molecules: files of atoms, and what PySCF makes of them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.studies.chem.basis import Basis, load, pyscf

NAMED = ("benzene", "aspirin")
"""Molecules that come with dgsuite, in bohr, as ANUChem has them."""

UNITS = ("angstrom", "bohr")
COUNT = re.compile("[1-9][0-9]{0,8}")
"""A number of atoms."""

NEAR = 1e-3
"""Bohr between two nuclei below which they are one and the same."""


@dataclass(frozen=True)
class Molecule:
    """Atoms, and where each was read.

    Attributes
    ----------
    path
        The file.
    symbols
        One an atom.
    positions
        Of the nuclei, bohr.
    lines
        Of the file, one an atom, from 1.
    """

    path: str
    symbols: tuple[str, ...]
    positions: tuple[tuple[float, float, float], ...]
    lines: tuple[int, ...]


def read(molecule: str | os.PathLike[str], unit: str | None = None) -> Molecule:
    """Read a molecule: one of `NAMED`, as text, or a file in XYZ form.

    Text that is one of the names stands for that molecule, whatever files there are. A file of such a
    name is read if it is given as a path: "./benzene", or a ``pathlib.Path``.

    The form is: a number of atoms; a comment line; a line per atom, with symbol, x, y, z, of which what
    follows is ignored.

    Parameters
    ----------
    unit
        Of the file's lengths; by default bohr for ANUChem's files (``.inp``), else angstrom.

    Raises
    ------
    InputError
        The file cannot be read, or is malformed: with its line and field.
    """
    if unit is not None and unit not in UNITS:
        raise InputError(f"unit must be 'angstrom' or 'bohr', got {unit!r}")
    path = os.fspath(molecule)
    if isinstance(molecule, str) and molecule in NAMED:
        source, unit = str(files(__package__) / f"{path}.inp"), "bohr"
    else:
        source = path
    try:
        with open(source, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        known = " or ".join(repr(name) for name in NAMED)
        raise InputError(f"{path}: no such file, and no molecule of that name: {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    if unit is None:
        unit = "bohr" if path.endswith(".inp") else "angstrom"
    return parse(lines, path, unit)


def parse(lines: Sequence[str], path: str, unit: str) -> Molecule:
    """The molecule that lines in XYZ form describe; see `read`."""
    from pyscf.data.elements import ELEMENTS
    from pyscf.data.nist import BOHR

    first = lines[0].split() if lines else []
    if len(first) != 1 or not COUNT.fullmatch(first[0]):
        found = repr(lines[0]) if lines else "nothing"
        raise InputError(f"{path}: line 1: must be the number of atoms, got {found}")
    count = int(first[0])
    scale = 1.0 if unit == "bohr" else 1 / BOHR
    symbols: list[str] = []
    positions: list[tuple[float, float, float]] = []
    for number in range(3, count + 3):
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
                raise InputError(f"{where}: the atom is where that of line {other + 3} is")
        symbols.append(symbol)
        positions.append((place[0], place[1], place[2]))
    for number, line in enumerate(lines[count + 2 :], count + 3):
        if line.strip():
            raise InputError(f"{path}: line {number}: line 1 says {count} atoms, and this is more")
    return Molecule(path, tuple(symbols), tuple(positions), tuple(range(3, count + 3)))


def mole(molecule: Molecule, basis: str, charge: int = 0) -> Any:
    """PySCF's form of a molecule, with Cartesian functions as ANUChem has them.

    Where the basis has effective core potentials they stand for the core electrons: the electrons and
    the charges of nuclei are fewer by these.

    Raises
    ------
    InputError
        A basis that PySCF does not have for one of the elements (see `basis.load`), or an odd number of
        electrons.
    """
    gto = pyscf().gto
    sets: dict[str, Basis] = {}
    for symbol, line in zip(molecule.symbols, molecule.lines, strict=True):
        if symbol in sets:
            continue
        try:
            sets[symbol] = load(basis, symbol)
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
