"""Units of work of a Fock build, and what one place does with its share of them.

What travels is plain arrays; handles of the integral library are made where they are used, and stay there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.studies.chem import _compiled
from dgsuite.studies.chem.molecule import pyscf

PAIRS = ("static", "filled", "dask")
"""Ways of balancing whose unit is a pair of shells; of the others it is a quartet of atoms."""

BALANCES = (*PAIRS, "dynamic", "unique")
INTEGRAL = "int2e_cart"


@dataclass(frozen=True, eq=False)
class Work:
    """A Fock build, as every place needs to know it.

    Attributes
    ----------
    balance
        One of `BALANCES`.
    fetch
        Units that a place takes at a time, where it takes them from a counter.
    atm, bas, env
        The integral library's tables of atoms, shells and numbers.
    starts
        Shape (blocks + 1,): first shell of each block; a block is a shell, or an atom's shells.
    """

    balance: str
    fetch: int
    atm: NDArray
    bas: NDArray
    env: NDArray
    starts: NDArray

    name = "hartree_fock"

    @property
    def counted(self) -> bool:
        """Whether places take units from a counter."""
        return self.balance not in PAIRS

    def units(self) -> NDArray:
        """All units in order, shape (units, 2 or 4), int32: their blocks."""
        blocks = len(self.starts) - 1
        if self.balance == "static":  # gmatype 5: ordered pairs, of which a < b are empty
            return np.argwhere(np.ones((blocks, blocks), bool)).astype(np.int32)
        pairs = np.argwhere(np.tri(blocks, dtype=bool)).astype(np.int32)
        if self.balance in PAIRS:
            return pairs
        n = len(pairs)
        if self.balance == "dynamic":  # gmatype 4: no relation between ab and cd
            return np.hstack([np.repeat(pairs, n, axis=0), np.tile(pairs, (n, 1))])
        left, right = np.tril_indices(n)
        return np.hstack([pairs[left], pairs[right]])


class Share(NamedTuple):
    """What one place contributes to a Fock build, and what that took.

    Attributes
    ----------
    matrix
        Two-electron part of the Fock matrix, in the order of the work's shells.
    units, integrals, used
        How many were computed; ``used`` of the integrals were not thrown away.
    seconds, cpu
        Computing units: by the clock, and of processor.
    waited
        Seconds waiting for the counter.
    fetches
        Counter operations.
    """

    matrix: NDArray
    units: int
    integrals: int
    used: int
    seconds: float
    cpu: float
    waited: float = 0.0
    fetches: int = 0

    def plus(self, other: Share) -> Share:
        """Both, at one place."""
        return Share(*map(operator.add, self, other))


@lru_cache(maxsize=4)
def _optimizer(atm: bytes, bas: bytes, env: bytes) -> Any:
    """What the integral library prepares once a molecule: a C pointer, never pickled."""
    gto = pyscf().gto
    tables = (
        np.frombuffer(atm, np.int32).reshape(-1, 6),
        np.frombuffer(bas, np.int32).reshape(-1, 8),
        np.frombuffer(env),
    )
    return gto.moleintor.make_cintopt(*tables, INTEGRAL)


class Fock:
    """One place's part of a Fock build.

    Parameters
    ----------
    work
        The build.
    density
        Shape (functions, functions), with two electrons an orbital, in the order of the work's shells.
    """

    def __init__(self, work: Work, density: NDArray) -> None:
        self._moleintor = moleintor = pyscf().gto.moleintor
        self._tables = work.atm, work.bas, work.env
        self._optimizer = _optimizer(*(table.tobytes() for table in self._tables))
        self._starts = work.starts.tolist()
        self._first = moleintor.make_loc(work.bas, INTEGRAL)[work.starts].tolist()
        self._work = work
        self.density = np.ascontiguousarray(density)
        self.coulomb = np.zeros_like(self.density)
        self.exchange = np.zeros_like(self.density)
        self.units = self.integrals = self.used = 0
        self.seconds = self.cpu = 0.0

    def add(self, unit: tuple[int, ...]) -> None:
        """Compute a unit: its integrals, and what they add to the matrix."""
        before, spent = perf_counter(), thread_time()
        self.units += 1
        if self._work.counted:
            self._quartet(*unit)
        elif unit[0] >= unit[1]:
            self._pair(*unit)
        self.cpu += thread_time() - spent
        self.seconds += perf_counter() - before

    def _pair(self, a: int, b: int) -> None:
        """All (ab|cd) with c <= a and d <= c."""
        s, f = self._starts, self._first
        slab = self._integrals((s[a], s[a + 1], s[b], s[b + 1], 0, s[a + 1], 0, s[a + 1]), "s2kl")
        rows, columns = f[a + 1] - f[a], f[b + 1] - f[b]
        slab = slab.reshape(rows * columns, -1)
        self.used += _compiled.pair(
            slab, f[a], f[b], rows, columns, self.density, self.coulomb, self.exchange
        )

    def _quartet(self, a: int, b: int, c: int, d: int) -> None:
        s, f = self._starts, self._first
        slab = self._integrals(tuple(s[x + e] for x in (a, b, c, d) for e in (0, 1)), "s1")
        whole = self._work.balance == "unique" and (a, b) != (c, d)
        self.used += _compiled.quartet(
            slab, f[a], f[b], f[c], f[d], whole, self.density, self.coulomb, self.exchange
        )

    def _integrals(self, shells: tuple[int, ...], symmetry: str) -> NDArray:
        slab = self._moleintor.getints(
            INTEGRAL, *self._tables, shells, 1, aosym=symmetry, cintopt=self._optimizer
        )
        self.integrals += slab.size
        return slab

    def matrix(self) -> NDArray:
        """The two-electron part that the units so far give: Coulomb less half of exchange."""
        half = self.coulomb - 0.5 * self.exchange
        return half + half.T

    def share(self, waited: float = 0.0, fetches: int = 0) -> Share:
        """What there is so far."""
        counted = self.units, self.integrals, self.used
        return Share(self.matrix(), *counted, self.seconds, self.cpu, waited, fetches)


def compute(work: Work, density: NDArray, units: Iterable[int]) -> Fock:
    """Compute some units, by their numbers, in one thread."""
    table = work.units().tolist()
    fock = Fock(work, density)
    with pyscf().lib.with_omp_threads(1):
        for number in units:
            fock.add(table[number])
    return fock
