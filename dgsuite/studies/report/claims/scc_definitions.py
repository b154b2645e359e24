"""Formulas and mechanisms of "X10 on the SCC", compared with what our programs and transports do."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import dask
import networkx as nx
import numpy as np
from distributed.comm import CommClosedError, connect, listen
from distributed.protocol import to_serialize

import dgsuite
from dgsuite.studies.report.claims.data import Claim
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.scc import chunks
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, need_pyscf
from dgsuite.studies.scc.chip import SCC
from dgsuite.studies.transports.chip import MPIMPB

PATIENCE = 30.0
"""Seconds that messages may take to arrive."""


@check
def fock(claim: Claim, evidence: Evidence) -> Verdict:
    """A build beside the formula, worked out from all integrals at once."""
    need_pyscf()
    from dgsuite.studies.chem import molecule, places
    from dgsuite.studies.chem.molecule import start
    from dgsuite.studies.chem.scf import plan

    mole = molecule.mole(molecule.read("benzene"), "sto-3g")
    density = start(mole)
    integrals = mole.intor("int2e")  # (ij|kl) = <ik|jl>
    formula = np.einsum("kl,ijkl->ij", density, integrals)
    formula -= np.einsum("kl,ikjl->ij", density, integrals) / 2
    off = {}
    for balance in ("static", "dynamic"):
        work, order = plan(mole, balance)
        mixed = np.ix_(order, order)
        ((_, share),) = places.alone(work, density[mixed])
        off[balance] = float(np.abs(share.matrix - formula[mixed]).max())
    told = {name: f"off by {value:.1g}" for name, value in off.items()}
    return compared(claim, max(off.values()) < 1e-10, told, "rounding")


@check
def brandes(claim: Claim, evidence: Evidence) -> Verdict:
    """Edges that are looked at, over n times m, on graphs of two sizes and two densities."""
    ours: dict[str, list[float]] = {}
    for n, m in ((64, 200), (128, 400), (128, 800)):
        graph = dgsuite.Graph.from_networkx(nx.gnm_random_graph(n, m, seed=1))
        for name, weighted in (("unweighted", False), ("weighted", True)):
            ran = dgsuite.run("bc", graph, style="serial", weighted=weighted)
            ours.setdefault(name, []).append(int(ran.scanned.sum()) / (n * m))
    told = {name: f"{max(each):.2g} n m edges looked at" for name, each in ours.items()}
    within = "what a heap costs, and space, are not counted"
    return compared(claim, max(map(max, ours.values())) <= 2, told, within)


@check
def remote_write(claim: Claim, evidence: Evidence) -> Verdict:
    """Whose buffer is written, and whose read, and by which end."""
    ends = ("local", "remote")
    ours = {"write": ends[MPIMPB.remote_write], "read": ends[not MPIMPB.remote_write]}
    holds = all(claim.data[name] == end for name, end in ours.items())
    return compared(claim, holds, ours, "flags are lines of memory and of a socket, not registers")


@check
def send(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether two that send each other several pieces at the same time both receive them."""
    pieces = 3
    got = exchanged(pieces * chunks()["mpb"])
    told = f"{pieces} pieces each way at the same time: {'arrive' if got else 'do not arrive'}"
    return compared(claim, got, told, _FLAGS)


@check
def receive(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether messages of a byte, of a piece, and of more than pieces arrive whole."""
    piece = chunks()["mpb"]
    sizes = [1, piece, piece + 1, 3 * piece]
    arrived = [size for size in sizes if exchanged(size)]
    return compared(claim, arrived == sizes, f"messages of {arrived} bytes arrive whole", _FLAGS)


_FLAGS = "flags are numbers in a line of memory; a process that sleeps is woken through a socket"


def exchanged(size: int) -> bool:
    """Whether two places, each a thread, send each other so many bytes at the same time, and get them."""
    address: Future[str] = Future()

    async def listens() -> bool:
        found = asyncio.get_running_loop().create_future()

        async def take(comm: Any) -> None:
            found.set_result(comm)

        listener = await listen("rcce://127.0.0.1", take)
        try:
            address.set_result(listener.contact_address)
            return await _swapped(await found, size, 1)
        finally:
            listener.stop()

    async def connects() -> bool:
        where = await asyncio.wrap_future(address)
        return await _swapped(await connect(where), size, 2)

    settings = {"buffer": SCC.buffer, "places": SCC.cores}
    with dask.config.set({"dgsuite.rcce": settings}), ThreadPoolExecutor(2) as pool:
        both = [pool.submit(asyncio.run, end()) for end in (listens, connects)]
        return all(one.result() for one in both)


async def _swapped(comm: Any, size: int, mine: int) -> bool:
    """Whether what the other end writes while this end writes arrives; both read once they have written."""
    try:
        await asyncio.wait_for(comm.write([to_serialize(np.full(size, mine, np.uint8))]), PATIENCE)
        (got,) = await asyncio.wait_for(comm.read(), PATIENCE)
    except (TimeoutError, CommClosedError):
        return False
    else:
        return bool(np.array_equal(got, np.full(size, 3 - mine, np.uint8)))
    finally:
        await comm.close()
