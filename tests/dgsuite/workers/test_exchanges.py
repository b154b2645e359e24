"""Exchanges of tasks of one host: parcels larger than the buffers between them, large votes, many tasks."""

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
from dgsuite.core.exchange.gate import ROOM, Gate
from dgsuite.core.transports import fastest
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Vote
from tests.support.meshes import together
from tests.support.sites import simulate

pytestmark = pytest.mark.skipif(fastest() != "mpb", reason="processes here share no memory")

gated = pytest.mark.skipif(not Gate.is_there(), reason="no gate here")

SIZES = [1, 3000, 200_000, 900_000]
"""Bytes of parcels; all would be written ahead of the barrier into buffers of Dask's TCP."""


def sent(size, sender):
    values = np.random.default_rng([size, sender]).integers(0, 256, size, np.uint8)
    return UnicastBatch(np.empty(0, np.int32), None, None, {"x": values})


async def swap(mesh, sizes):
    """Exchange parcels of so many bytes, by sender and receiver; each gets those that are for it."""
    sends = {peer: sent(size, mesh.rank) for peer, size in enumerate(sizes[mesh.rank]) if size}
    came, said = await mesh.exchange(sends, Vote(sum=mesh.rank))
    assert said.sum == len(sizes) * (len(sizes) - 1) // 2
    assert sorted(came) == np.flatnonzero(sizes[:, mesh.rank]).tolist()
    for peer, found in came.items():
        expected = sent(sizes[peer, mesh.rank], peer).fields["x"]
        np.testing.assert_array_equal(found.fields["x"], expected)


@pytest.mark.few(2)
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("tasks", [2, 3, 4])
@pytest.mark.parametrize("buffer", ["4 KiB", "64 KiB"])
def test_a_task_sends_while_the_others_sleep_at_the_gate(few, tasks, buffer, monkeypatch):
    """They send nothing, and take nothing in before all have met."""
    monkeypatch.setattr("dgsuite.core.exchange.mesh.MAX_ALL_TO_ALL", few)

    async def task(mesh):
        for sender, size in product(range(tasks), SIZES):
            sizes = np.zeros((tasks, tasks), int)
            sizes[sender] = size
            sizes[sender, sender] = 0
            await swap(mesh, sizes)

    with dask.config.set({"dgsuite.mpb.buffer": buffer}):
        together(tasks, task)


@pytest.mark.few(3)
@pytest.mark.parametrize("meets", [True, False])
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("tasks", [2, 3])
@pytest.mark.parametrize("rounds", [100, 500])
def test_tasks_that_look_out_swap_parcels_of_all_sizes(rounds, few, tasks, meets, monkeypatch):
    """Written ahead of the barrier or after it, in one piece or many, while others come."""
    monkeypatch.setattr("dgsuite.core.exchange.mesh.MAX_ALL_TO_ALL", few)

    async def task(mesh):
        mesh.alone = True
        for number in range(rounds):
            sizes = np.random.default_rng(number).choice([0, 500, 3000, 9000], (tasks, tasks))
            np.fill_diagonal(sizes, 0)
            await swap(mesh, sizes)

    with dask.config.set({"dgsuite.mpb.buffer": "4 KiB"}):
        together(tasks, task, meets)


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


LARGE = 1 << 10 * ROOM
"""A whole number that no row holds."""


@gated
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("long", [[0], [1], [0, 1, 2]])
def test_they_go_by_messages(few, long, monkeypatch):
    """Where one has such a vote, those of all do; and the next ones at the gate again."""
    monkeypatch.setattr("dgsuite.core.exchange.mesh.MAX_ALL_TO_ALL", few)

    async def task(mesh):
        heard, by_messages, exchange = [], [], mesh._exchange

        async def noted(*what):
            by_messages.append(mesh.number - first)
            return await exchange(*what)

        mesh._exchange, first = noted, mesh.number + 1
        for number in range(4):
            mine = LARGE if mesh.rank in long and number % 2 else 1
            _, said = await mesh.exchange({}, Vote(sum=mine))
            heard.append(said.sum)
        return heard, by_messages

    large = len(long) * LARGE + 3 - len(long)
    assert together(3, task) == [([3, large, 3, large], [1, 3])] * 3


@gated
@pytest.mark.parametrize("tasks", [65, pytest.param(130, marks=pytest.mark.long)])
def test_each_gets_the_parcels_of_the_others(tasks):
    """Where the workers' own comms are in memory, however many of them there are."""
    ring, few = np.zeros((2, tasks, tasks), int)
    ring[range(tasks), np.roll(range(tasks), -1)] = 9
    few[np.ix_([0, 63, tasks - 1], [0, tasks - 1])] = 9
    np.fill_diagonal(few, 0)

    async def task(mesh):
        for sizes in (ring, few, ring, few):
            await swap(mesh, sizes)

    with dask.config.set({"dgsuite.mpb.buffer": "4 KiB"}):
        together(tasks, task, scheme="mpb")
