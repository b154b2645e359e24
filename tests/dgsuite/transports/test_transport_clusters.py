"""Dask over the transports of this host: the same results as over TCP, through restarts."""

import os
import socket
import sys

import dask
import dask.array as da
import numpy as np
import psutil
import pytest
from distributed import Client

import dgsuite
from dgsuite import Graph, genval
from dgsuite.partition.client.session import Session
from dgsuite.studies.scc.ledger import Echo
from dgsuite.studies.transports import carriers
from tests.support.clusters import client_of

LONG = pytest.mark.long


@pytest.fixture(params=[pytest.param("uds", marks=LONG), "mpb", pytest.param("mpimpb", marks=LONG)])
def there(request):
    """A client of two workers by a transport."""
    with client_of(2, protocol=request.param) as client:
        assert client.cluster.scheduler_address.startswith(f"{request.param}://")
        yield client


def test_dask_and_kernels_as_over_tcp(there):
    x = np.arange(3_000_000)
    sent = there.scatter(x)
    np.testing.assert_array_equal(there.gather(sent), x)
    assert there.submit(np.sum, sent).result() == x.sum()
    square = da.random.default_rng(1).integers(0, 99, (2000, 2000), chunks=(500, 2000))
    total = square.rechunk((2000, 500)).sum(axis=0).compute()
    np.testing.assert_array_equal(total, square.sum(axis=0).compute(scheduler="sync"))
    graph = genval.graph("er", 3000, m=20_000, clusters=4, client=there)
    for style in ("clocked", "finish_async"):
        ds = dgsuite.run("mis", graph, client=there, style=style)
        assert genval.validate("mis", graph, ds).ok
    serial = dgsuite.run("mis", graph, style="serial")
    np.testing.assert_array_equal(serial.in_mis, ds.in_mis)
    np.testing.assert_array_equal(serial.messages, ds.messages)

    # workers come and go
    there.restart()
    assert there.gather(there.map(lambda k: k + 1, range(50))) == list(range(1, 51))
    there.cluster.adapt(minimum=1, maximum=2)
    assert there.submit(lambda: 7).result() == 7
    # and clients
    with Client(there.cluster.scheduler_address) as second:
        assert second.submit(lambda: 8).result() == 8


@pytest.fixture(scope="module", params=["mpi", "mpi-sock"])
def by_mpi(request):
    """Two workers that MPI has started, and by which transport of MPI's."""
    pytest.importorskip("mpi4py")
    try:
        from mpi4py import MPI  # noqa: F401
    except (ImportError, RuntimeError):
        pytest.skip("no MPI library")
    with carriers.workers(request.param, 2) as client, carriers.chosen(request.param):
        yield request.param, client


@pytest.mark.few(1)
def test_what_mpi_sends_over(by_mpi):
    """Over sockets all that a run exchanges, otherwise nothing of it."""

    def received():
        """Bytes that a worker has received over TCP so far."""
        total = 0
        for connection in psutil.Process().net_connections("tcp4"):
            with socket.socket(fileno=os.dup(connection.fd)) as sock:
                info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
                total += int.from_bytes(info[128:136], sys.byteorder)  # tcpi_bytes_received
        return total

    name, client = by_mpi
    pair = Graph.from_edges([0], [1], n=2, clusters=2)
    before = min(client.run(received).values())
    dgsuite.run(Echo(rounds=4, size=1 << 18), pair, style="clocked", client=client)
    sent = 4 * 8 * (1 << 18)
    found = min(client.run(received).values()) - before
    assert (found > sent) == (name == "mpi-sock")


@pytest.mark.few(1)
def test_clocked_runs_over_mpi(by_mpi):
    _, client = by_mpi
    assert all(address.startswith("tcp://127.") for address in Session.of(client).workers())
    graph = genval.graph("er", 3000, m=20_000, clusters=4, client=client)
    with dask.config.set({"dgsuite.clocked.transport": "comm"}):
        plain = dgsuite.run("mis", graph, client=client)
    ds = dgsuite.run("mis", graph, client=client)
    np.testing.assert_array_equal(plain.in_mis, ds.in_mis)
    np.testing.assert_array_equal(plain.messages, ds.messages)
    assert int(ds.wire_bytes.sum()) > 0


def test_mpi_needs_workers_that_have_it(client):
    graph = genval.graph("er", 100, m=500, clusters=2, client=client)
    for transport, message in (
        ("pigeon", "must be one of fastest, comm, in_turn, mpi, got"),
        ("mpi", "start workers by `mpiexec"),
    ):
        with (
            dask.config.set({"dgsuite.clocked.transport": transport}),
            pytest.raises(dgsuite.DgsuiteError, match=message),
        ):
            dgsuite.run("mis", graph, style="clocked", client=client)
