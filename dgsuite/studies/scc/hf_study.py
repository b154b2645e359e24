"""Hartree-Fock of "X10 on the SCC": Fock builds measured on one and two places, simulated on more.

The ledger has the seconds of each unit of work and of all else, measured on this machine: the least of some
repeats, since others may share it. Replay gives every place a processor of its own. Transport "none" costs
nothing: what is left is how units fall on places. So does "counted", whose units take what the original's
integrals did: as many seconds in all under "filled", in proportion to their quartets of primitive functions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from time import perf_counter, thread_time
from typing import Annotated, Any

import numpy as np
import xarray as xr
from distributed import Client
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from dgsuite.core.results.dataset import made_by, variable
from dgsuite.core.results.provenance import moment
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import molecule as molecules
from dgsuite.studies.chem import places as on
from dgsuite.studies.chem.fock import BALANCES, Fock
from dgsuite.studies.chem.scf import hartree_fock, plan
from dgsuite.studies.experiment.model import Count, Many, Section
from dgsuite.studies.scc import chip, ledger, options
from dgsuite.studies.scc.ledger import Transport, cyclic
from dgsuite.studies.scc.simulate import Simulation
from dgsuite.studies.transports import carriers
from dgsuite.studies.transports.kernels import workers

COUNTED = ("dynamic", "unique")
FREE = ("counted", "none")
"""Columns without a transport: units as the original's integrals cost, counted, and as ours do, measured."""

PLACES = [1, 2, *range(4, 49, 4), 64, 128, 256, 512, 1024]


def _known(arm: str) -> str:
    balance, colon, fetch = arm.partition(":")
    if balance not in BALANCES:
        raise ValueError(f"must be one of {', '.join(BALANCES)}")
    if colon and (balance not in COUNTED or not fetch.isdecimal() or int(fetch) < 1):
        raise ValueError("units a fetch are such as 'dynamic:16', for dynamic and unique")
    return arm


class Input(Section):
    """What is computed."""

    molecule: str
    """A name, or the path of a file, from the configuration's folder."""
    basis: str
    """Name of a basis set, such as "sto-3g"."""


class Study(options.Study):
    """The table ``[hf]`` of a file."""

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    """Of the result, and of its files."""
    input: Annotated[list[Input], Field(min_length=1)]
    """Molecules, each in a basis."""
    balance: Many[Annotated[str, AfterValidator(_known)]] = ["static", "dynamic"]
    """Such as "static", "dynamic", or "dynamic:16" with sixteen units a fetch."""
    protocols: Many[str] = ["tcp"]
    """Transports; those that cannot be had here are left out, with a note."""
    places: Many[Count] = PLACES
    """Places to simulate."""


class File(Section):
    """A file for ``dgsuite scc``."""

    hf: Study
    """The study."""
    figure: options.Figure | None = None
    """Which figure of the paper this is."""


class Problem:
    """A molecule in a basis: its serial run, and the work of a build under each balance.

    Attributes
    ----------
    name
        Such as "benzene sto-3g".
    run
        Dataset of the serial run.
    units
        Seconds of each unit of work, by balance.
    per_primitive
        Seconds of a quartet of primitive functions.
    """

    def __init__(self, given: Input, folder: str) -> None:
        at = given.molecule
        path = at if at in molecules.NAMED else os.path.join(folder, at)
        self.name = f"{os.path.splitext(os.path.basename(at))[0]} {given.basis}"
        self.run = hartree_fock(path, basis=given.basis, balance="filled")
        self._mole = molecules.mole(molecules.read(path), given.basis)
        self._density = np.eye(self._mole.nao)  # nothing is screened: any density costs the same
        self.nbytes = self._density.nbytes
        self.other = float(self.run.other_seconds[1:].min())
        self.units: dict[str, NDArray] = {}
        spent = float(self.run.cpu_seconds.sum("place").min())
        self.per_primitive = spent / primitives(self.work("filled")[0]).sum()

    def work(self, arm: str) -> tuple[Any, NDArray]:
        """The work of a build, and a density in its order."""
        balance, _, fetch = arm.partition(":")
        work, order = plan(self._mole, balance, int(fetch) if fetch else None)
        return work, self._density[np.ix_(order, order)]

    def held(self, arm: str) -> int:
        """Bytes that a place holds: the density, its part of the matrix, and the table of units."""
        return 2 * self.nbytes + int(self.work(arm)[0].units().nbytes)

    def measure_units(self, arm: str, repeats: int) -> NDArray:
        """Processor seconds of each unit on this machine."""
        balance = arm.partition(":")[0]
        if balance not in self.units:
            work, density = self.work(balance)
            table = work.units().tolist()
            fock = Fock(work, density)
            with molecules.pyscf().lib.with_omp_threads(1):
                self.units[balance] = ledger.units(
                    lambda unit: fock.add(table[unit]), len(table), repeats, thread_time
                )
        return self.units[balance]


def primitives(work: Any) -> NDArray:
    """Quartets of primitive functions of each unit: what it took the original, to a factor.

    Parameters
    ----------
    work
        A `dgsuite.studies.chem.fock.Work`.

    Returns
    -------
    float64, shape (units,).
    """
    angular, exponents, contractions = work.bas[:, 1], work.bas[:, 2], work.bas[:, 3]
    shells = exponents * contractions * (angular + 1) * (angular + 2) / 2
    blocks = np.add.reduceat(shells, work.starts[:-1])
    units = work.units()
    if work.counted:  # of an atom with itself, each pair of shells once
        pairs = np.outer(blocks, blocks)
        squares = np.add.reduceat(shells**2, work.starts[:-1])
        np.fill_diagonal(pairs, (blocks**2 + squares) / 2)
        return pairs[units[:, 0], units[:, 1]] * pairs[units[:, 2], units[:, 3]]
    below = np.cumsum(blocks * np.cumsum(blocks))  # all cd with c <= a and d <= c
    a, b = units.T
    return np.where(a >= b, blocks[a] * blocks[b] * below[a], 0.0)


def simulate(
    units: NDArray, arm: str, places: int, transport: Transport, setup: float, nbytes: int
) -> Simulation:
    """A Fock build: density to all places, their units, and parts that place 0 adds up one by one.

    Parameters
    ----------
    units
        Seconds of each unit.
    arm
        Balance, with units a fetch.
    setup
        Seconds that a build takes before its units.
    nbytes
        Of a matrix.
    """
    found = Simulation(places, transport)
    found.clock += setup
    found.broadcast(nbytes)
    balance, _, fetch = arm.partition(":")
    if balance in COUNTED:
        found.dynamic(units, chunk=int(fetch or 1), prefetch=True)
    else:
        found.static(units, cyclic(np.arange(len(units)), places))
    found.collect(nbytes)
    return found


def build_seconds(
    problem: Problem, arm: str, client: Client, places: Sequence[str], repeats: int
) -> tuple[float, float]:
    """Wall seconds of a Fock build on workers, and the most processor seconds of one of them."""
    work, density = problem.work(arm)
    deal = on.tasked if work.balance == "dask" else on.spread

    def once() -> tuple[float, float]:
        begin = perf_counter()
        with client.as_current():
            shares = deal(work, density, client, places)
        np.sum([share.matrix for _, share in shares], axis=0)
        return perf_counter() - begin, max(share.cpu for _, share in shares)

    once()
    wall, processor = np.mean([once() for _ in range(repeats)], axis=0)
    return float(wall), float(processor)


def study(asked: Study, folder: str, say: Any = print) -> xr.Dataset:
    """Measure, and simulate.

    Parameters
    ----------
    folder
        Where paths of molecules start.
    say
        Called with lines of progress.

    Returns
    -------
    xarray.Dataset
        With dims input, balance, transport, places. ``measured`` has the wall seconds of a Fock build on
        one and two workers, ``processor`` the most processor time that one of them took, which others on
        the machine do not change, ``simulated`` the seconds of the replay with an interval for what
        messages cost, ``elapsed`` those of all its iterations.
    """
    before = moment()
    problems = []
    for given in asked.input:
        problem = Problem(given, folder)
        problems.append(problem)
        say(f"{problem.name}: {float(problem.run.energy[-1]):.9f} Hartree")
        for arm in asked.balance:
            if arm != "dask":
                units = problem.measure_units(arm, asked.repeats)
                say(f"  {arm}: {len(units)} units, {units.sum():.3f} s of processor")
    here, absent = options.present(asked.protocols)
    for why in absent.values():
        say(f"left out: {why}")
    columns = [*FREE, *(name for name in asked.protocols if name not in absent)]
    transports = [
        chip.transport(name) if name in chip.SCHEMES else Transport(name, 0.0, 0.0)
        for name in columns
    ]
    setups = dict.fromkeys(columns, 0.0)
    arms, counts = [*enumerate(asked.balance)], [*enumerate(asked.places)]
    shape = (len(problems), len(asked.balance), len(columns), len(asked.places))
    measured, processor, elapsed, share = (np.full(shape, np.nan) for _ in range(4))
    simulated = np.full((3, *shape), np.nan)  # with costs of messages as measured, and at both ends
    with options.buffers(asked.buffers) as pieces, workers(here) as clients:
        for transport in ledger.transports(clients, asked.repeats, pieces):
            name, client = transport.name, clients[transport.name]
            at = worker_addresses(client)
            transports[t := columns.index(name)] = transport
            setups[name] = ledger.setup(client, np.zeros(problems[0].nbytes // 8), at)
            say(
                f"{name}: counter operation {1e3 * transport.counter:.4f} ms, "
                f"message {1e3 * transport.message:.3f} ± {1e3 * transport.message_half:.3f} ms, "
                f"{1e-6 / max(transport.byte, 1e-15):.0f} MB/s, set-up {1e3 * setups[name]:.1f} ms"
            )
            if name in carriers.MPI:  # a build's counter and matrices go over Dask's comms
                continue
            for (i, problem), (b, arm), (k, places) in product(enumerate(problems), arms, counts):
                if places <= len(at):
                    seconds = build_seconds(problem, arm, client, at[:places], asked.repeats)
                    measured[i, b, t, k], processor[i, b, t, k] = seconds
                    say(f"  {problem.name}, {arm}, {places} places: {seconds[0]:.3f} s")
    for (i, problem), (b, arm) in product(enumerate(problems), arms):
        if arm == "dask":
            continue
        costs, held = problem.measure_units(arm, asked.repeats), problem.held(arm)
        counted = primitives(problem.work(arm)[0]) * problem.per_primitive
        for (t, transport), (k, places) in product(enumerate(transports), counts):
            if transport.why_not(places, held):
                continue
            units = counted if transport.name == "counted" else costs
            fixed = (setups[transport.name], problem.nbytes)
            found = simulate(units, arm, places, transport, *fixed)
            simulated[:, i, b, t, k] = found.elapsed
            if transport.message_half or transport.byte_half:
                simulated[1:, i, b, t, k] = [
                    simulate(units, arm, places, transport.at(end), *fixed).elapsed
                    for end in (-1, 1)
                ]
            elapsed[i, b, t, k] = found.elapsed + problem.other
            elapsed[i, b, t, k] *= problem.run.sizes["iteration"]
            share[i, b, t, k] = found.busy.max() / found.busy.mean()
    dims = ("input", "balance", "transport", "places")
    messages = "the same, messages at"
    by_all = {
        "measured": (measured, "Fock build, measured on this machine"),
        "processor": (processor, "the same, the most processor time of a place"),
        "simulated": (simulated[0], "Fock build, simulated"),
        "simulated_low": (simulated[1], f"{messages} the least of their intervals"),
        "simulated_high": (simulated[2], f"{messages} the most of theirs"),
        "elapsed": (elapsed, "all iterations, simulated"),
    }
    largest = "largest over mean time of a place, simulated"

    by_input = {
        "energy": [float(p.run.energy[-1]) for p in problems],
        "iterations": [p.run.sizes["iteration"] for p in problems],
        "shells": [p.run.attrs["shells"] for p in problems],
        "other_seconds": [p.other for p in problems],
        "held_bytes": [
            max(p.held(arm) for arm in asked.balance if arm != "dask") for p in problems
        ],
    }
    by_transport = {
        "counter_operation": [x.counter for x in transports],
        "message": [x.message for x in transports],
        "matrix": [float(x.seconds(problems[0].nbytes, 0, 1)) for x in transports],  # first input's
        "byte": [x.byte for x in transports],
        "setup": [setups[x] for x in columns],
    }
    return xr.Dataset(
        {
            **{name: variable(dims, *of, "s") for name, of in by_all.items()},
            "imbalance": variable(dims, share, largest),
            **{
                name: ("transport", values, {"units": "s"}) for name, values in by_transport.items()
            },
            "chunk": ("transport", [x.chunk for x in transports], {"units": "B"}),
            **{name: ("input", values) for name, values in by_input.items()},
        },
        {
            "input": [p.name for p in problems],
            "balance": list(asked.balance),
            "transport": columns,
            "places": list(asked.places),
        },
        {
            "title": asked.name,
            "study": asked.model_dump_json(),
            "left_out": "; ".join(absent.values()),
            **made_by(),
            **before,
        },
    )
