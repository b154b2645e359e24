"""Votes that take more bytes than the row that a task has at the gate."""

from __future__ import annotations

import pytest

import dgsuite
from dgsuite.core.exchange.gate import ROOM, Gate
from dgsuite.core.transports import fastest
from dgsuite.kernels.bsp import Vote
from tests.support.meshes import together
from tests.support.toys import LargeVotes

LARGE = 1 << 10 * ROOM
"""A whole number that no row holds."""


@pytest.mark.skipif(not (fastest() == "mpb" and Gate.is_there()), reason="no gate here")
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


def test_runs_on_one_host_have_large_votes_as_elsewhere(client, ring):
    for style in ("serial", "clocked", "finish_async"):
        ds = dgsuite.run(LargeVotes, ring, style=style, client=client)
        assert int(ds.messages.sum()) == 0
