"""Exchanges of tasks of one host whose parcels are larger than the buffers between them."""

from __future__ import annotations

from itertools import product

import dask
import numpy as np
import pytest
from distributed.protocol.core import dumps
from distributed.utils import nbytes

from dgsuite import genval
from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.program import SILENT
from dgsuite.core.engine.registry import BY_BATCH
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.exchange.channels import Message
from dgsuite.core.exchange.comms import HEAD
from dgsuite.core.transports import fastest
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Vote
from tests.support.meshes import together
from tests.support.sites import simulate

pytestmark = pytest.mark.skipif(
    fastest() != "mpb", reason="processes of this system share no memory"
)

SIZES = [1, 3000, 200_000, 900_000]
"""Bytes of parcels; all would be written ahead of the barrier into buffers of Dask's TCP."""


def sent(size, sender):
    values = np.random.default_rng([size, sender]).integers(0, 256, size, np.uint8)
    return UnicastBatch(np.empty(0, np.int32), None, None, {"x": values})


@pytest.mark.few(2)
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("tasks", [2, 3, 4])
@pytest.mark.parametrize("buffer", ["4 KiB", "64 KiB"])
def test_a_task_sends_while_the_others_sleep_at_the_gate(few, tasks, buffer, monkeypatch):
    """They send nothing, and take nothing in before all have met."""
    monkeypatch.setattr("dgsuite.core.exchange.mesh.MAX_ALL_TO_ALL", few)

    async def task(mesh):
        number = 0
        for sender, size in product(range(tasks), SIZES):
            sends = {}
            if mesh.rank == sender:
                sends = {peer: sent(size, sender) for peer in range(tasks) if peer != sender}
            came, said = await mesh.exchange(sends, Vote(sum=mesh.rank))
            assert said.sum == tasks * (tasks - 1) // 2
            assert [*came] == ([] if mesh.rank == sender else [sender])
            for found in came.values():
                np.testing.assert_array_equal(found.fields["x"], sent(size, sender).fields["x"])
            number += 1
        return number

    with dask.config.set({"dgsuite.mpb.buffer": buffer}):
        assert together(tasks, task) == [tasks * len(SIZES)] * tasks


@pytest.mark.few(3)
@pytest.mark.parametrize("meets", [True, False])
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("tasks", [2, 3])
@pytest.mark.parametrize("rounds", [100, 500])
def test_tasks_that_look_out_send_and_receive_parcels_of_all_sizes(
    rounds, few, tasks, meets, monkeypatch
):
    """Written ahead of the barrier or after it, in one piece or many, while others come."""
    monkeypatch.setattr("dgsuite.core.exchange.mesh.MAX_ALL_TO_ALL", few)

    async def task(mesh):
        mesh.alone = True
        for number in range(rounds):
            sizes = np.random.default_rng(number).choice([0, 500, 3000, 9000], (tasks, tasks))
            np.fill_diagonal(sizes, 0)
            sends = {
                peer: sent(size, mesh.rank) for peer, size in enumerate(sizes[mesh.rank]) if size
            }
            came, _ = await mesh.exchange(sends, Vote())
            found = [came[peer].nbytes if peer in came else 0 for peer in range(tasks)]
            assert found == [size and sent(size, 0).nbytes for size in sizes[:, mesh.rank]]
        return number + 1

    with dask.config.set({"dgsuite.mpb.buffer": "4 KiB"}):
        assert together(tasks, task, meets) == [rounds] * tasks


def test_a_message_takes_little_more_than_the_arrays_of_its_parcel(monkeypatch):
    """In either form, whatever it consists of."""
    most = {}
    undisturbed = Site.step

    def measured(self, *arguments):
        found = undisturbed(self, *arguments)
        for batch in found.values():
            for message in (Message(1, Contribution(SILENT), batch), Message(1, None, batch)):
                more = sum(map(nbytes, dumps(message.packed()))) - batch.nbytes
                most[type(batch).__name__] = max(more, most.get(type(batch).__name__, 0))
        return found

    monkeypatch.setattr(Site, "step", measured)
    graph = genval.graph("er", 120, m=400, clusters=4, seed=1, client=None)
    for name in ("mis", "random_walks", "triangles", "bc"):
        simulate(KERNELS[name](), graph, 2)
    assert len(most) == len(BY_BATCH)
    assert max(most.values()) < HEAD
