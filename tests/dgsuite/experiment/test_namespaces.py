"""Workers in network namespaces, with real links that the kernel limits."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.__main__ import main
from dgsuite.studies.experiment import namespaces
from dgsuite.studies.transports.throttle import make
from tests.support.clusters import heed_signals
from tests.support.patience import PATIENCE
from tests.support.processes import begun

WHY_NOT = namespaces.missing(make("1 MB"))
needed = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
NO_DELAY = WHY_NOT or namespaces.missing(make("1 MB", latency="1ms"))

EXPERIMENT = """
[experiment]
plot = false
[cluster]
workers = [2]
protocol = "throttle+tcp"
[throttle]
means = "tc"
nominal = "1 MB"
percent = [5, 100]
scope = "process"
[graph]
generate = "rmat"
[[run]]
kernel = "pagerank"
style = "clocked"
n = 4096
params.iterations = 3
"""


def left(process=None):
    """What is there of the networks of a process: namespaces, interfaces, and processes in them."""
    process = process or os.getpid()
    spaces = namespaces.ip("netns list")
    links = namespaces.ip("-br link")
    found = re.findall(rf"dgsuite-{process}-\S+", spaces) + re.findall(rf"dg{process}\d+", links)
    for worker in psutil.process_iter(["cmdline"]):
        words = worker.info["cmdline"] or []
        if f"dgsuite-{process}-" in " ".join(words):
            found.append(words)
    return found


def busiest(dataset, hosts):
    """Bytes that the host that sends most sends, at least."""
    return int(dataset.wire_bytes.sum()) / hosts


@pytest.mark.long
@needed
def test_what_workers_exchange_crosses_the_links_and_no_more_of_it_than_they_let_through():
    expected = dgsuite.run("pagerank", genval.graph("rmat", 1 << 12), style="serial", iterations=10)
    with namespaces.cluster(3, 1, "auto") as (client, network):
        graph = genval.graph("rmat", 1 << 12, client=client)
        rate = 400e3
        for limit in ((), (2 * rate, 50), ()):
            network.limit(*limit)
            before = np.array(network.sent())
            ds = dgsuite.run("pagerank", graph, style="clocked", client=client, iterations=10)
            sent = network.sent() - before
            np.testing.assert_array_equal(ds["rank"], expected["rank"])
            wire = int(ds.wire_bytes.sum())
            assert (sent > 0).all()
            # headers and acknowledgements come on top, and what the tasks say to begin
            assert wire < sent.sum() < 2 * wire + 20_000 * network.hosts
            if limit:
                seconds = (busiest(ds, 3) - ds.sizes["round"] * namespaces.PACKET) / rate
                assert ds.attrs["seconds"] > seconds > 0
        hosts = {address.split(":")[1] for address in client.nthreads()}
        assert hosts == {f"//{address}" for address in network.addresses}
    assert not left()


@needed
def test_nothing_is_left_behind_by_a_network_that_cannot_be_made(monkeypatch):
    monkeypatch.setattr(namespaces, "CLASSES", "qdisc add dev {device} root nonsense")
    with pytest.raises(dgsuite.RunError, match=r"tc -n dgsuite-.*nonsense"):
        namespaces.Network(2).__enter__()
    assert not left()


@needed
def test_a_worker_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", "no_such_module")
    with pytest.raises(dgsuite.RunError, match=r"does not start: .*no_such_module"):
        namespaces.cluster(2, 1, "auto").__enter__()
    assert not left()


@needed
@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_experiment_and_leaves_nothing_behind(number, tmp_path):
    config = tmp_path / "slow.toml"
    config.write_text(EXPERIMENT.replace('"1 MB"', '"1 kB"'))
    output = tmp_path / "slow.nc"
    command = ["-m", "dgsuite", "run", config, "--output", output]
    with begun(*command, preexec_fn=heed_signals) as process:
        deadline = time.monotonic() + PATIENCE
        while len(left(process.pid)) < 4:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        workers = psutil.Process(process.pid).children()
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert not left(process.pid)
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert not alive


WRONG = [
    ('scope = "process"', "", ".scope: must be 'process'"),
    ('"throttle+tcp"', '"uds"', ".means: 'tc' limits a network"),
    ('protocol = "throttle+tcp"', 'scheduler = "tcp://127.0.0.1:1"', ".means: 'tc' makes a"),
    ('means = "tc"', 'means = "InterSense"', ".means"),
]


@pytest.mark.parametrize(("line", "instead", "said"), WRONG)
def test_what_links_cannot_do_is_told_before_anything_runs(tmp_path, capsys, line, instead, said):
    config = tmp_path / "wrong.toml"
    assert line in EXPERIMENT
    config.write_text(EXPERIMENT.replace(line, instead))
    assert main(["run", str(config), "--dry-run"]) == 2
    assert f"throttle{said}" in capsys.readouterr().err


def test_without_the_programs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(dgsuite.InputError, match="'tc': there is no command ip"):
        namespaces.check()


@needed
@pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no command setpriv")
def test_without_the_rights():
    code = "from dgsuite.studies.experiment import namespaces; namespaces.check()"
    fewer = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    found = subprocess.run([*fewer, sys.executable, "-c", code], capture_output=True, text=True)
    assert "InputError: throttle.means 'tc': network namespaces are not perm" in found.stderr
    assert not left()


@needed
@pytest.mark.skipif(not NO_DELAY, reason="this kernel delays packets")
def test_a_kernel_that_cannot_delay_is_told():
    with pytest.raises(dgsuite.InputError, match=r"'tc': tc -n .* netem .*unknown"):
        namespaces.check("1ms")


@needed
@pytest.mark.skipif(bool(NO_DELAY), reason=str(NO_DELAY))
def test_each_packet_of_an_exchange_takes_the_latency():
    with namespaces.cluster(2, 1, "auto") as (client, network):
        graph = genval.graph("rmat", 1 << 10, client=client)
        network.limit("1 GB", latency="20ms")
        ds = dgsuite.run("bfs", graph, style="clocked", client=client, root=6)
    assert ds.attrs["seconds"] > 0.02 * ds.sizes["round"]
