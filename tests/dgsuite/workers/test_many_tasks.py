"""More tasks on a host than a machine word has bits."""

from __future__ import annotations

import dask
import numpy as np
import pytest

from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.exchange.gate import Gate
from dgsuite.core.transports import fastest
from dgsuite.kernels.bsp import Vote
from tests.support.meshes import together


@pytest.mark.skipif(not (fastest() == "mpb" and Gate.is_there()), reason="no gate here")
@pytest.mark.parametrize("tasks", [65, pytest.param(130, marks=pytest.mark.long)])
def test_each_gets_the_parcels_of_the_others(tasks):
    """Where the workers' own comms are in memory, however many of them there are."""

    def sent(sender):
        return UnicastBatch(np.empty(0, np.int32), None, None, {"x": np.array([sender])})

    def receivers(number, rank):
        if number:
            return [0, tasks - 1] if rank in (0, 63, tasks - 1) else []
        return [(rank + 1) % tasks]

    async def task(mesh):
        for number in range(4):
            peers = {peer for peer in receivers(number % 2, mesh.rank) if peer != mesh.rank}
            came, said = await mesh.exchange(
                {p: sent(mesh.rank) for p in peers}, Vote(max=mesh.rank)
            )
            assert said.max == tasks - 1
            senders = [r for r in range(tasks) if mesh.rank in receivers(number % 2, r)]
            assert sorted(came) == [r for r in senders if r != mesh.rank]
            assert all(batch.fields["x"] == [peer] for peer, batch in came.items())
        return mesh.rank

    with dask.config.set({"dgsuite.mpb.buffer": "4 KiB"}):
        assert together(tasks, task, scheme="mpb") == [*range(tasks)]
