"""Clusters that commands start."""

from __future__ import annotations

import dask
import psutil

from dgsuite.core.transports import CLOCKS
from dgsuite.studies.experiment.clusters import local


def test_other_hosts_cannot_reach_a_cluster_of_our_own():
    """Neither its scheduler, nor its workers, nor the dashboard. Dask's clocks there are slow."""
    me = psutil.Process()
    before = {c.laddr for c in me.net_connections("inet")}
    with local(1, 1, "0") as client:
        assert client.dashboard_link
        processes = [me, *me.children(recursive=True)]
        found = {c for p in processes for c in p.net_connections("inet") if c.status == "LISTEN"}
        hosts = {c.laddr.ip for c in found if c.laddr not in before}
        ticks = client.run(dask.config.get, "distributed.admin.tick.interval")
    assert hosts == {"127.0.0.1"}
    assert {*ticks.values()} == {CLOCKS["distributed"]["admin"]["tick"]["interval"]}
