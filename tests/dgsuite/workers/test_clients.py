"""Many clients of one cluster at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from tests.support.clusters import client_of

CLIENTS = 10
RUNS = [("mis", None, "clocked"), ("mis", None, "finish_async"), ("dst", "recursive", "clocked")]


@pytest.fixture(scope="module")
def four():
    """A client of four worker processes."""
    with client_of(4, set_as_default=False) as client:
        yield client


@pytest.mark.long
def test_ten_clients_at_once(four):
    """Each has a graph on the workers of its own; runs that need all workers take turns."""
    from distributed import Client

    def one(number):
        here = genval.graph("er", 60, seed=number, clusters=4, client=None)
        found = []
        with Client(four.scheduler.address, set_as_default=False) as client:
            graph = here.persist(client)
            for turn in range(2):
                kernel, form, style = RUNS[(number + turn) % len(RUNS)]
                ds = dgsuite.run(kernel, graph, form=form, style=style, seed=number, client=client)
                same = dgsuite.run(kernel, here, form=form, style="serial", seed=number)
                name = "in_mis" if kernel == "mis" else "distance"
                found.append(np.array_equal(ds[name], same[name]))
        return found

    with ThreadPoolExecutor(CLIENTS) as pool:
        assert [*pool.map(one, range(CLIENTS))] == [[True] * 2] * CLIENTS
