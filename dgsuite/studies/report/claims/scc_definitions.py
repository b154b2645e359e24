"""Formulas and mechanisms of "X10 on the SCC", compared with what our programs and transports do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import dask
import networkx as nx
import numpy as np
from distributed.comm import connect, listen
from distributed.protocol import to_serialize
from numpy.typing import ArrayLike

import dgsuite
from dgsuite.kernels.analytics.replicated import Searcher, gathered
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.kernels import STEEPER
from dgsuite.studies.report.claims.scc import FILES, chunks
from dgsuite.studies.report.claims.verdicts import (
    Verdict,
    check,
    compared,
    need_pyscf,
    needed,
    seen,
)
from dgsuite.studies.scc.chip import SCC
from dgsuite.studies.transports.chip import FLAG, MPIMPB, Core

PATIENCE = 30.0
"""Seconds that a short run, or a message in it, may take."""

AS_ON_THE_CHIP = {"buffer": SCC.buffer, "places": SCC.cores}
"""The buffer of a place."""


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
    """Time and space of searches as powers of the bounds, over Table 1's graphs; without weights the edges
    that are looked at, over n times m, and space, on graphs of two sizes and two densities.
    """
    ds = needed(evidence.result(FILES[10]), f"no results of {FILES[10]}")
    scale = {row[1]: row[2] for row in claims()["scc.table1.workloads"].data["rows"]}
    n, m = 2.0 ** np.array([scale[w] for w in ds.workload.values]), ds.edges.values
    powers = {
        "time": _power(n * m + n**2 * np.log2(n), ds.work_seconds),
        "space": _power(n + m, ds.held_bytes),
    }
    looked, sizes, room = [], [], []
    for nodes, edges in ((64, 200), (128, 400), (128, 800)):
        graph = dgsuite.Graph.from_networkx(nx.gnm_random_graph(nodes, edges, seed=1))
        ran = dgsuite.run("bc", graph, style="serial", weighted=False)
        looked.append(int(ran.scanned.sum()) / (nodes * edges))
        sizes.append(nodes + edges)
        room.append(Searcher(gathered(graph.gather(), False), False).nbytes)
    powers["space without weights"] = _power(sizes, room)
    told = ", ".join(f"{name} as its bound^{power:.2f}" for name, power in powers.items())
    holds = max(powers.values()) <= 1 + STEEPER and max(looked) <= 2
    ours = f"{told}; without weights {max(looked):.2g} n m edges looked at"
    return compared(
        claim, holds, ours, f"{STEEPER} in a power; time without weights is not measured"
    )


def _power(bounds: ArrayLike, values: ArrayLike) -> float:
    """Exponent with which values grow with a bound."""
    return float(np.polyfit(np.log(bounds), np.log(values), 1)[0])


@check
def remote_write(claim: Claim, evidence: Evidence) -> Verdict:
    """Whose buffer is written, and whose read, and by which end."""
    ends = ("local", "remote")
    ours = {"write": ends[MPIMPB.remote_write], "read": ends[not MPIMPB.remote_write]}
    holds = all(claim.data[name] == end for name, end in ours.items())
    return compared(claim, holds, ours, "flags are lines of memory and of a socket, not registers")


@check
def send(claim: Claim, evidence: Evidence) -> Verdict:
    """What a place is seen to do that sends."""
    return seen(claim, _sent_and_received()[0])


@check
def receive(claim: Claim, evidence: Evidence) -> Verdict:
    """What the place is seen to do to which that one sends."""
    return seen(claim, _sent_and_received()[1])


def _sent_and_received() -> list[Any]:
    """What is seen at a place that sends a message, and then pieces; and at the other, which first computes.

    Meanwhile a third sends to the first.
    """
    computes, waits, came, computed = (threading.Event() for _ in range(4))
    pieces = [chunks()["mpb"]] * PIECES

    async def sends(one: Any, other: Any) -> list[bool]:
        flags = _flags_of(one)
        await _until(computes.is_set)
        writes = asyncio.ensure_future(one.write(HEADED))
        await _until(lambda: flags)
        waits.set()
        await _until(came.is_set)
        waited, given = not writes.done(), await other.read() == HEADED
        computed.set()
        await writes
        await one.write(LARGE)
        own = (Core.here(pieces[0]).buffer[-FLAG:] == FILL).all()
        unread = [written - taken for written, taken, *_ in flags]
        return [bool(own), waited, given, unread[1:-1] == pieces]

    async def receives(comm: Any) -> list[bool]:
        flags, start = _flags_of(comm), comm._got
        computes.set()
        computed.wait(PATIENCE)  # the event loop has no turn
        await _until(lambda: comm._there > start)
        asked, small, large = not flags, await comm.read(), await comm.read()
        read = np.diff([start, *(got for *_, got in flags)]).tolist()
        in_turn = read[1:-1] == pieces and all(there == got for *_, there, got in flags)
        return [asked, in_turn, small == HEADED and bool((large == FILL).all())]

    async def asks(comm: Any) -> None:
        waits.wait(PATIENCE)
        await comm.write(HEADED)
        came.set()

    return talked(sends, receives, asks)


PIECES, FILL = 3, 7
"""Pieces that a long message fills, and what each of its bytes is."""

LARGE = to_serialize(np.full(PIECES * chunks()["mpb"], FILL, np.uint8))

HEADED = {"kind": "put", "size": 8}
"""A message with what the paper's header says."""


def _flags_of(comm: Any) -> list[tuple[int, int, int, int]]:
    """Bytes whenever an end sets a flag: written, of these read at the other end; come, and of these read."""
    flags, tell = [], comm._tell

    def noted() -> None:
        flags.append((comm._written, comm._taken, comm._there, comm._got))
        tell()

    comm._tell = noted
    return flags


async def _until(done: Callable[[], Any]) -> None:
    while not done():
        await asyncio.sleep(0)


@check
def extensions(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether a place looks for messages without waiting, takes one from whoever sends, with its kind, and
    receives while it sends.
    """

    async def probes(*comms: Any) -> list[bool]:
        reads = [asyncio.ensure_future(comm.read()) for comm in comms]
        at_first, _ = await asyncio.wait(reads, timeout=0)
        await comms[1].write("send")
        came, _ = await asyncio.wait(reads, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        reads[0].cancel()
        return [not at_first, came == {reads[1]}, await reads[1] == HEADED]

    async def answers(comm: Any) -> None:
        await comm.read()
        await comm.write(HEADED)

    (found, *_), (sender, *_) = talked(probes, answers, answers), _sent_and_received()
    return seen(claim, found and sender and [*found, sender[2]])


@check
def one_at_a_time(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether a small message to one place waits until a large one to another is read, and how long."""

    async def sends(one: Any, other: Any) -> tuple[float, float, bool]:
        times = []
        for large in (1, BULK):
            first = asyncio.ensure_future(one.write([to_serialize(np.zeros(large, np.uint8))]))
            await asyncio.sleep(0)
            start = time.perf_counter()
            await other.write(HEADED)
            times.append(1e3 * (time.perf_counter() - start))
            waited = first.done()
            await first
        return *times, waited

    async def takes(comm: Any) -> None:
        for _ in range(2):
            await comm.read()

    (found, *_) = talked(sends, takes, takes)
    alone, behind, waited = needed(found, "the messages did not arrive")
    told = f"{behind:.3g} ms behind {BULK} bytes to another place, {alone:.2g} ms behind one byte"
    return compared(claim, waited and behind > alone, told, "a lock for each event loop")


BULK = 1 << 20
"""Bytes of a message that takes long."""


Talk = Callable[..., Awaitable[Any]]
"""What a place does with its comms."""


def talked(first: Talk, *others: Talk) -> list[Any]:
    """What places come to, each a thread: the first has a comm to each of the others. False: it failed."""
    addresses: list[Future[str]] = [Future() for _ in others]

    async def connects() -> Any:
        there = [await asyncio.wrap_future(address) for address in addresses]
        return await _over(first, [await connect(address) for address in there])

    async def listens(talk: Talk, address: Future[str]) -> Any:
        comms: asyncio.Queue[Any] = asyncio.Queue()
        listener = await listen("rcce://127.0.0.1", comms.put)
        address.set_result(listener.contact_address)
        try:
            return await _over(talk, [await comms.get()])
        finally:
            listener.stop()

    settings = {"dgsuite.rcce": AS_ON_THE_CHIP}
    with dask.config.set(settings), ThreadPoolExecutor(1 + len(others)) as pool:
        ends = [connects(), *map(listens, others, addresses)]
        return [one.result() for one in [pool.submit(asyncio.run, _ended(end)) for end in ends]]


async def _ended(end: Awaitable[Any]) -> Any:
    """What a place comes to; False if a comm is not made or breaks, or it takes too long."""
    try:
        return await asyncio.wait_for(end, PATIENCE)
    except OSError:
        return False


async def _over(talk: Talk, comms: list[Any]) -> Any:
    try:
        return await talk(*comms)
    finally:
        for comm in comms:
            comm.abort()  # a close would wait for what nobody reads
