"""What a cluster keeps does not grow with the number of runs; `tests.soak` looks at memory as well."""

import networkx as nx
import pytest

import dgsuite
from dgsuite.partition.client import scheduler
from dgsuite.partition.graph.graph import Graph
from tests.soak import counted, grown, of_span, runs
from tests.support.clusters import client_of


@pytest.mark.long
def test_nothing_is_kept_of_a_run():
    """Names of tasks repeat, and spans, which forget what the scheduler has forgotten."""
    with client_of(2) as client:
        mixed = runs(client)
        for _ in range(2):
            for run in mixed:
                run()
        for _ in range(3):  # Dask may count something rare for the first time; a leak goes on
            before = counted(client)
            for run in 2 * mixed:
                run()
            found = grown(before, counted(client))
            if not found:
                break
        assert found == []


def test_votes_leave_no_log_records(client):
    """A run asks its workers for votes each turn; a worker's log must not get longer with their number."""
    ring = Graph.from_networkx(nx.cycle_graph(12), client=client, clusters=2)

    def logged(dask_worker):
        """Records of requests; on a busy machine there are others, of a loop that was slow."""
        return sum(r.name == "distributed.worker" for r in dask_worker._deque_handler.deque)

    dgsuite.run("bf", ring, style="finish_async", client=client)
    before = client.run(logged)
    dgsuite.run("bf", ring, style="finish_async", client=client)
    # one more: the counting itself
    assert client.run(logged) == {place: count + 1 for place, count in before.items()}


def test_spans_forget(monkeypatch):
    monkeypatch.setattr(scheduler, "MAX_GROUPS", 4)
    with client_of(2, processes=False) as client:
        mixed = runs(client)
        for _ in range(12):
            mixed[1]()  # six groups and collections each
        assert max(client.run_on_scheduler(of_span)) < 24
