"""A cluster whose connections are encrypted, those of `clocked` runs included."""

import pickle
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import numpy as np
import psutil
import pytest
from distributed.security import Security

import dgsuite
from dgsuite import Graph, genval
from tests.support.clusters import client_of
from tests.support.patience import PATIENCE

WORKERS = 4  # a mesh of more than three listens as long as it lives
SMOKE = [("mis", None, "clocked", "in_mis"), ("pagerank", None, "clocked", "rank")]
SMOKE += [("mst", None, "finish_async", "parent")]
SMOKE += [("dst", "recursive", "finish_async", "distance")]


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """Files of a certificate and its key."""
    folder = tmp_path_factory.mktemp("tls")
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=folder,
        capture_output=True,
        check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("no openssl to make a certificate with")
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.fixture(scope="module")
def client(identity):
    """A client of workers in this process."""
    cert, key = identity
    roles = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker")
             for part, path in (("cert", cert), ("key", key))}  # fmt: skip
    security = Security(tls_ca_file=cert, require_encryption=True, **roles)
    options = {"security": security, "protocol": "tls://", "processes": False}
    with client_of(WORKERS, set_as_default=False, **options) as client:
        yield client


class Touch:
    """Leaves a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def listening():
    """The ports at which this process listens."""
    return {c.laddr.port for c in psutil.Process().net_connections() if c.status == "LISTEN"}


def ended(connection, data=b"hello"):
    """Whether the other end closes a connection that sends something, and sends nothing."""
    try:
        connection.sendall(data)
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_strangers_leave_no_trace_in_a_run(client, identity, tmp_path):
    """Those without a certificate, and those with one that do not know the secret of the run."""
    ring = genval.graph("ring", 12, clusters=WORKERS, client=None)
    before = listening()

    def leaders():
        how = {"style": "clocked", "client": client, "faithful": True}
        return int(dgsuite.run("lcr", ring, **how).messages.sum())

    assert leaders() == 144
    ports = listening() - before  # of the mesh that is kept
    assert len(ports) == WORKERS
    data = pickle.dumps(Touch(str(tmp_path / "unpickled")))
    known = ssl.create_default_context(cafile=identity[0])
    known.load_cert_chain(*identity)

    def plain(port):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as stranger:
            return ended(stranger, data)

    def encrypted(port):
        with (
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as under,
            known.wrap_socket(under, server_hostname="127.0.0.1") as stranger,
        ):
            return ended(stranger, data)

    with ThreadPoolExecutor(2 * WORKERS) as pool:
        refused = [pool.submit(way, port) for way in (plain, encrypted) for port in ports]
        while not all(answer.done() for answer in refused):
            assert leaders() == 144
        assert all(answer.result() for answer in refused)
    assert listening() - before == ports
    assert not (tmp_path / "unpickled").exists()


def test_runs_graphs_and_files(client, tmp_path):
    assert client.scheduler.address.startswith("tls://")
    here = genval.graph("spmax", 60, weights=True, clusters=WORKERS, client=None)
    here.persist(client).save(tmp_path / "graph")
    there = Graph.load(tmp_path / "graph", client=client)
    for kernel, form, style, output in SMOKE:
        found = dgsuite.run(kernel, there, form=form, style=style, client=client)
        expected = dgsuite.run(kernel, here, form=form, style="serial")
        np.testing.assert_array_equal(found[output], expected[output])
    ends = np.random.default_rng(1).integers(0, 500, (2, 2000))
    lazy = (da.from_array(side, chunks=1000) for side in ends)
    built = Graph.from_edges(*lazy, n=500, client=client)
    assert not built.local
    expected = Graph.from_edges(*ends, n=500, client=None).degree.compute()
    np.testing.assert_array_equal(built.degree.compute(scheduler=client), expected)
