"""Tasks of a clocked run on one host, which send through memory that they share."""

import subprocess
import sys

import dask
import psutil
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.core.exchange.mesh import SHARING, Mesh
from dgsuite.core.transports import fastest, memory
from tests.support.clusters import client_of
from tests.support.patience import until

HERE = "127.0.0.1"


def mapped(dask_worker=None):
    """On a worker: memory that it shares with others."""
    maps = psutil.Process().memory_maps()
    return [found.path for found in maps if found.path.startswith("/memfd:dgsuite")]


def close_kept(dask_worker):
    """On a worker: close what it keeps for the next run."""
    dask_worker.plugins["dgsuite"].meshes.close()


def test_asking_for_shared_memory_changes_no_setting():
    code = (
        "import copy, dask, distributed; from dgsuite.core.transports import fastest; "
        "before = copy.deepcopy(dask.config.config); fastest(); "
        "assert dask.config.config == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(fastest() != "mpb", reason="processes of this system share no memory")
def test_workers_of_one_host_share_memory_by_default():
    """With the same results, and it is gone with the connections."""
    graph = genval.graph("er", 3000, m=20_000, clusters=4, seed=1, client=None)
    with client_of(2, set_as_default=False) as client:
        with dask.config.set({"dgsuite.clocked.transport": "comm"}):
            plain = dgsuite.run("pagerank", graph, style="clocked", client=client)
        assert not any(client.run(mapped).values())
        ds = dgsuite.run("pagerank", graph, style="clocked", client=client)
        for found in client.run(mapped).values():
            assert any("mpb" in path for path in found)
            assert any("gate" in path for path in found)
            assert any("values" in path for path in found)
        assert int(ds.wire_bytes.sum()) > 0
        assert (ds["rank"] == plain["rank"]).all()
        assert (ds.messages == plain.messages).all()
        client.run(close_kept)
        ring = genval.graph("ring", 3000, clusters=2)
        dgsuite.run("pagerank", ring, style="clocked", client=client)
        for found in client.run(mapped).values():  # few nodes are read elsewhere
            assert any("gate" in path for path in found)
            assert not any("values" in path for path in found)
        client.run(close_kept)
        until(lambda: not any(client.run(mapped).values()))


def without_memory(dask_worker):
    """On a worker: the memory of another process is not to be seen."""
    memory.attach_of = lambda *where: None


@pytest.mark.skipif(fastest() != "mpb", reason="processes of this system share no memory")
@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [2, 4])
def test_large_messages_and_no_shared_values(workers):
    """Messages to single nodes go through comms, many of them after the gate; so do broadcasts that no memory
    is shared for.
    """
    with client_of(workers, set_as_default=False) as client:
        graph = genval.graph("er", 150_000, m=600_000, clusters=workers, seed=1, client=client)
        plain = {}
        with dask.config.set({"dgsuite.clocked.transport": "comm"}):
            for name in ("matching", "mis"):
                plain[name] = dgsuite.run(name, graph, style="clocked", client=client)
        for patch in (None, without_memory):
            if patch is not None:
                client.run(close_kept)
                client.run(patch)
            for name, expected in plain.items():
                ds = dgsuite.run(name, graph, style="clocked", client=client)
                for variable in ("messages", *(v for v in ds if "node" in ds[v].dims)):
                    assert (ds[variable].values == expected[variable].values).all()


PLACES = [
    ([f"tcp://{HERE}:1", f"tcp://{HERE}:2"], True, "mpb" if fastest() == "mpb" else "tcp"),
    ([f"tcp://{HERE}:1", f"tcp://{HERE}:2"], False, "tcp"),
    ([f"tcp://{HERE}:1", "tcp://10.0.0.2:2"], True, "tcp"),
    ([f"tls://{HERE}:1", f"tls://{HERE}:2"], True, "tls"),
    ([f"uds://{HERE}:1", f"uds://{HERE}:2"], True, "uds"),
    ([f"tcp://{HERE}:{port}" for port in range(1, SHARING + 2)], True, "tcp"),
]


@pytest.mark.parametrize(("places", "shares", "scheme"), PLACES)
def test_who_shares_memory(places, shares, scheme):
    mesh = Mesh("run", places, ["epoch"] * len(places), 0, shares=shares)
    assert mesh.scheme == scheme
    mesh.runner.close()
