"""Whether workers reach each other: each may answer the scheduler while a link between two of them is cut."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


async def cut(client: Client, workers: Iterable[str], seconds: float) -> tuple[str, str] | None:
    """A worker that others cannot connect to within some seconds, or that cannot connect to others.

    Returns
    -------
    Its address, and that of one at the other end; None if all reach each other. Of several it is the worker
    with the most such links.
    """
    places = list(workers)
    answers: dict[str, list[str]] = await client.run(
        _unreached, places, seconds, workers=places, asynchronous=True
    )
    links = [(place, peer) for place, peers in answers.items() for peer in peers]
    if not links:
        return None
    worst = Counter(end for link in links for end in link).most_common(1)[0][0]
    first, second = next(link for link in links if worst in link)
    return worst, second if first == worst else first


async def _unreached(peers: Sequence[str], seconds: float, dask_worker: Any) -> list[str]:
    """On a worker: which of some others it cannot connect to."""
    from distributed.comm import connect

    async def reached(peer: str) -> bool:
        try:
            comm = await connect(peer, timeout=seconds, **dask_worker.connection_args)
        except OSError:
            return False
        await comm.close()
        return True

    others = [peer for peer in peers if peer != dask_worker.address]
    answers = await asyncio.gather(*map(reached, others))
    return [peer for peer, reaches in zip(others, answers, strict=True) if not reaches]
