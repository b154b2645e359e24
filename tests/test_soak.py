"""What a cluster keeps does not grow with the number of runs; `tests.soak` looks at memory as well."""

from __future__ import annotations

from conftest import client_of
from soak import counted, grown, of_span, runs

from dgsuite import spans


def test_nothing_is_kept_of_a_run():
    """Names of tasks repeat, in one span, which forgets what the scheduler has forgotten."""
    with client_of(2) as client:
        mixed = runs(client)
        for _ in range(2):
            for run in mixed:
                run()
        before = counted(client)
        for _ in range(2):
            for run in mixed:
                run()
        assert grown(before, counted(client)) == []


def test_the_span_forgets(monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(spans, "MOST", 4)
    with (
        LocalCluster(
            n_workers=2, processes=False, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        mixed = runs(client)
        for _ in range(12):
            mixed[1]()  # six groups and collections each
        assert max(client.run_on_scheduler(of_span)) < 24
