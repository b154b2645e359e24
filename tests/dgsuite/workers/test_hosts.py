"""Runs on several hosts, as network namespaces of this machine."""

import json
import sys

import pytest

import dgsuite
from dgsuite import genval
from dgsuite.studies.experiment.namespaces import ip
from tests.support import hosts, on_hosts
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

WHY = hosts.missing()
pytestmark = [pytest.mark.skipif(bool(WHY), reason=WHY), pytest.mark.timeout(300), pytest.mark.long]
CLIENT = ROOT / "tests" / "support" / "on_hosts.py"
SMOKE = [[name, "clocked", {}] for name in ("mis", "pagerank", "mst")]
SMOKE += [["bf", "finish_async", {}], ["dst", "finish_async", {"form": "recursive"}]]


def command(address, workers, which):
    return [sys.executable, str(CLIENT), address, str(workers), json.dumps(which)]


def assert_right(out, which=SMOKE):
    """The digests in what a client has written are those of serial runs."""
    graph = genval.graph("spmax", 200, weights=True)
    found = [json.loads(line)["digest"] for line in out.splitlines() if line.startswith("{")]
    runs = (dgsuite.run(kernel, graph, style="serial", **how) for kernel, _, how in which)
    assert found == [*map(on_hosts.digest, runs)]


def assert_runs(network, address, workers, which=SMOKE):
    assert_right(network.run(1, command(address, workers, which)), which)


def disturbed(monkeypatch, run, strike, **settings):
    """What a client writes when something strikes its run on three hosts."""
    for name, value in {"DGSUITE__TIMEOUT": "4s", **settings}.items():
        monkeypatch.setenv(f"DASK_{name}", value)
    with (
        hosts.Hosts(3) as network,
        network.cluster() as address,
        network.start(0, command(address, 3, [run])) as client,
    ):
        for line in client.stdout:
            if line.startswith("begun"):
                break
        strike(network)
        return client.communicate(timeout=PATIENCE)[0]


def test_four_hosts_of_two_workers_give_the_same_bits():
    with hosts.Hosts(4, delay=0.0002) as network, network.cluster(workers=2) as address:
        assert_runs(network, address, 8)


IP_6 = {"scheduler": ["--host", "[fd77::1]"], "worker": []}
ADDRESSES = {
    "IPv6": (IP_6, "tcp://[fd77::1]:8786"),
    "another interface": ({"worker": ["--interface", "eth1"]}, "tcp://10.77.0.1:8786"),
    "names that only hosts resolve": ({"worker": []}, "tcp://host-0:8786"),
}


@pytest.mark.parametrize(("options", "address"), ADDRESSES.values(), ids=ADDRESSES)
def test_addresses(options, address):
    with hosts.Hosts(2) as network, network.cluster(address=address, **options) as found:
        assert_runs(network, found, 2, SMOKE[:1])


def test_ports_of_a_range(monkeypatch):
    """Workers of one host share the range; where it is too small, the error names it."""
    monkeypatch.setenv("DASK_DGSUITE__CLOCKED__PORT", "9100:9101")
    with hosts.Hosts(2) as network:
        with network.cluster() as address:
            assert_runs(network, address, 2, SMOKE[:1])
        with (
            network.cluster(workers=3) as address,
            pytest.raises(RuntimeError, match=r"no port of dgsuite\.clocked\.port = '9100:9101'"),
        ):
            network.run(1, command(address, 6, SMOKE[:1]))


def test_a_host_that_goes_away(monkeypatch):
    """It ends the run with one error, within the time that is set, where runs do not begin again."""
    endless = ["pagerank", "clocked", {"iterations": 1_000_000}]
    tries = {"DGSUITE__RECOVERY__TRIES": "0"}
    out = disturbed(monkeypatch, endless, lambda network: network.cut(2), **tries)
    assert out.splitlines()[-1].startswith("dgsuite.base.errors.WorkerLost: ")
    assert "10.77.0.3" in out.splitlines()[-1]


def test_workers_that_do_not_reach_each_other(monkeypatch):
    """Each reaches the scheduler. The run begins again without one of them."""
    long = ["pagerank", "clocked", {"iterations": 3000, "tolerance": None}]

    def strike(network):
        ip("route add blackhole 10.77.0.2", network.space(2))

    comms = {f"DISTRIBUTED__COMM__TIMEOUTS__{name}": "12s" for name in ("CONNECT", "TCP")}
    out = disturbed(monkeypatch, long, strike, **comms)
    assert "again" in out
    assert_right(out, [long])
