"""Channels, without sockets: messages in their order, and comms that end."""

import asyncio

import pytest
from distributed.comm import CommClosedError

from dgsuite.core.exchange.channels import Channels
from dgsuite.core.workers.plugin import PeerLost


class End:
    """One end of a comm in memory; a message of n letters takes n bytes."""

    def __init__(self):
        self.other = None
        self.arrived = asyncio.Queue()

    async def read(self):
        message = await self.arrived.get()
        if message is None:
            raise CommClosedError("the other end has left")
        return message

    async def write(self, message):
        if self.other is None:
            raise CommClosedError("closed")
        await self.other.arrived.put(message)
        return len(message)

    def abort(self):
        self.other = None

    def leave(self):
        self.other.arrived.put_nowait(None)
        self.other.other = None


def pair():
    one, two = End(), End()
    one.other, two.other = two, one
    return one, two


def lost(peer):
    return PeerLost(f"worker {peer} was lost", str(peer))


async def test_a_comm_that_ends_is_news_after_what_it_brought():
    taken = []
    mine, theirs = pair()
    channels = Channels({3: mine}, lost, lambda peer, message: taken.append(message))
    channels.add(3, mine)
    channels.listen()
    await theirs.write("last")
    theirs.leave()
    while not channels.gone:
        await channels.news()
    assert taken == ["last"]
    error = channels.lost(3)
    assert error.worker == "3"
    assert isinstance(error.__cause__, CommClosedError)
    with pytest.raises(PeerLost, match="worker 3 was lost"):
        await channels.write(3, "too late")


async def test_two_comms_of_a_peer_are_both_read():
    """Both ends may open one at the same time."""
    taken = []
    ends = [pair(), pair()]
    channels = Channels({0: ends[0][0]}, lost, lambda peer, message: taken.append(message))
    channels.listen()
    for mine, _ in ends:
        channels.add(0, mine)
    await ends[1][1].write("second")
    await ends[0][1].write("first")
    while len(taken) < 2:
        await channels.news()
    assert {*taken} == {"first", "second"}
    channels.abort()


async def test_a_task_that_knows_who_sends_reads_by_itself():
    """Nothing is read of other peers meanwhile."""
    taken = []
    ends = {peer: pair() for peer in (1, 2)}
    mine = {peer: own for peer, (own, _) in ends.items()}
    channels = Channels(mine, lost, lambda peer, message: taken.append((peer, message)))
    for peer, (mine, theirs) in ends.items():
        channels.add(peer, mine)
        await theirs.write("x" * peer)
    await channels.receive(2)
    assert taken == [(2, "xx")]
    await channels.receive(1)
    assert taken == [(2, "xx"), (1, "x")]
    ends[1][1].leave()
    await channels.receive(1)
    assert [*channels.gone] == [1]
