"""Runs on several hosts, as network namespaces of this machine."""

import json
import sys

import pytest

import dgsuite
from dgsuite import genval
from tests.support import hosts, on_hosts
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

WHY_NOT = hosts.missing()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),
    pytest.mark.timeout(300),
    pytest.mark.long,
]
CLIENT = ROOT / "tests" / "support" / "on_hosts.py"
SMOKE = [
    ["mis", "clocked", {}],
    ["pagerank", "clocked", {}],
    ["mst", "clocked", {}],
    ["bf", "finish_async", {}],
    ["dst", "finish_async", {"form": "recursive"}],
]


def command(address, workers, which):
    return [sys.executable, str(CLIENT), address, str(workers), json.dumps(which)]


def runs(network, address, workers, which=SMOKE):
    out = network.run(1, command(address, workers, which))
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def expected(which=SMOKE):
    graph = genval.graph("spmax", 200, weights=True)
    return [
        on_hosts.digest(dgsuite.run(kernel, graph, style="serial", **parameters))
        for kernel, _, parameters in which
    ]


@pytest.mark.long
def test_four_hosts_of_two_workers_give_the_same_bits():
    with hosts.Hosts(4, delay=0.0002) as network, network.cluster(workers=2) as address:
        found = runs(network, address, 8)
    assert [row["digest"] for row in found] == expected()


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ({"scheduler": ["--host", "[fd77::1]"], "worker": []}, "tcp://[fd77::1]:8786"),
        ({"worker": ["--interface", "eth1"]}, "tcp://10.77.0.1:8786"),
        ({"worker": []}, "tcp://host-0:8786"),
    ],
    ids=["IPv6", "another interface", "names that only hosts resolve"],
)
def test_addresses(options, address):
    with (
        hosts.Hosts(2) as network,
        network.cluster(address=address, **options) as found,
    ):
        assert [row["digest"] for row in runs(network, found, 2, SMOKE[:1])] == expected(SMOKE[:1])


def test_ports_of_a_range(monkeypatch):
    """Workers of one host share the range; where it is too small, the error names it."""
    monkeypatch.setenv("DASK_DGSUITE__CLOCKED__PORT", "9100:9101")
    with hosts.Hosts(2) as network:
        with network.cluster() as address:
            found = runs(network, address, 2, SMOKE[:1])
            assert [row["digest"] for row in found] == expected(SMOKE[:1])
        with (
            network.cluster(workers=3) as address,
            pytest.raises(
                RuntimeError, match=r"no port of dgsuite\.clocked\.port = '9100:9101' is free"
            ),
        ):
            runs(network, address, 6, SMOKE[:1])


def test_a_host_that_goes_away(monkeypatch):
    """It ends the run with one error, within the time that is set, where runs do not begin again."""
    monkeypatch.setenv("DASK_DGSUITE__TIMEOUT", "4s")
    monkeypatch.setenv("DASK_DGSUITE__RECOVERY__TRIES", "0")
    endless = [["pagerank", "clocked", {"iterations": 1_000_000}]]
    with (
        hosts.Hosts(3) as network,
        network.cluster() as address,
        network.start(0, command(address, 3, endless)) as client,
    ):
        for line in client.stdout:
            if line.startswith("begun"):
                break
        network.cut(2)
        out, _ = client.communicate(timeout=PATIENCE)
    assert client.returncode == 1
    assert out.splitlines()[-1].startswith("dgsuite.base.errors.WorkerLost: ")
    assert "10.77.0.3" in out.splitlines()[-1]
