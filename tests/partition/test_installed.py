"""Clusters whose processes have another dgsuite, or none."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from distributed import Client

import dgsuite
from dgsuite.partition.client import installed
from dgsuite.partition.client.session import Session
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import in_turn
from tests.support.clusters import client_of
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

COMMAND = "from distributed.cli.dask_{0} import main; main()"


def copy(folder):
    """Another copy of the package, as it is where it is installed."""
    ignore = shutil.ignore_patterns("*.nb*")
    shutil.copytree(ROOT / "dgsuite", folder / "dgsuite", ignore=ignore)
    for package in installed.BESIDE:
        shutil.copytree(ROOT / package, folder / "dgsuite" / package, ignore=ignore)
    return folder


def bare(folder):
    """All that is installed beside this Python, without dgsuite."""
    folder.mkdir()
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if not item.name.startswith("dgsuite"):
            (folder / item.name).symlink_to(item)
    return folder


@contextmanager
def running(what, path, *options):
    """A scheduler's or worker's process of its own that imports from a folder first."""
    # -S: what an editable installation adds to the path is added by the module site
    alone = ["-S"] if path.name == "bare" else []
    command = [sys.executable, *alone, "-c", COMMAND.format(what), *options]
    where = {"env": {**os.environ, "PYTHONPATH": str(path)}, "cwd": path}
    process = subprocess.Popen(command, **where, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextmanager
def worker(client, path):
    """A worker that joins, and has left at the end; yields its address."""
    before = set(Session.of(client).workers())
    options = ("--no-nanny", "--no-dashboard", "--nthreads", "1")
    with running("worker", path, client.scheduler.address, *options):
        while not (address := set(Session.of(client).workers()) - before):
            time.sleep(0.05)
        yield address.pop()
    while set(Session.of(client).workers()) != before:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def own_client():
    """A cluster that workers join and leave."""
    with client_of(1) as client:
        yield client


def run(client):
    """Run a kernel on a graph from before, style given so that it needs the workers."""
    ring = Graph.from_networkx(nx.cycle_graph(12), client=None)
    ds = dgsuite.run("lcr", ring, style="finish_async", client=client)
    assert (ds.leader == 11).all()


def build(client):
    """Build a graph large enough to be built on the workers."""
    nodes = np.arange(100_000)
    Graph.from_edges(nodes[:-1], nodes[1:], client=client)


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "use"), in_turn(["none", "other"], [run, build]))
def test_a_worker_that_joins_is_looked_at(own_client, tmp_path, kind, use):
    """Also after a first run; the error names it, what it has, and what this process has."""
    client = own_client
    use(client)
    if kind == "none":
        path = bare(tmp_path / "bare")
        found = rf"has no dgsuite that Python {sys.executable} can import \(ModuleNotFoundError: .*'dgsuite'"
    else:
        path = copy(tmp_path / "copy")
        source = path / "dgsuite" / "kernels" / "imsuite" / "mis" / "textbook.py"
        source.write_text(source.read_text() + "# edited\n")
        found = rf"has dgsuite {dgsuite.__version__} from {path} \(code [0-9a-f]{{12}}\)"
    with worker(client, path) as address:
        with pytest.raises(dgsuite.InputError, match=rf"worker {address} {found}") as error:
            use(client)
        assert f"this process has {installed.here()}" in str(error.value)
        assert f"restart worker {address}" in str(error.value)
    use(client)


@pytest.mark.long
def test_a_worker_with_the_same_code_elsewhere(own_client, tmp_path):
    """Where the files are does not matter."""
    with worker(own_client, copy(tmp_path / "copy")):
        run(own_client)


def test_a_scheduler_without_it(tmp_path):
    path = bare(tmp_path / "bare")
    file = tmp_path / "scheduler.json"
    options = ("--scheduler-file", str(file), "--port", "0", "--no-dashboard")
    said = r"the scheduler at tcp://.* has no dgsuite that .*restart the scheduler"
    with (
        running("scheduler", path, *options),
        Client(scheduler_file=str(file), timeout=PATIENCE) as client,
    ):
        for use in (run, lambda client: Session.of(client).workers()):
            with pytest.raises(dgsuite.InputError, match=said):
                use(client)


def test_the_fingerprint_is_of_what_python_finds(tmp_path):
    """The same in a folder and in a zip file; another one where a file differs."""
    code = "from dgsuite.partition.client import installed as i; print(i.fingerprint(), i.__file__)"

    def elsewhere(path):
        where = {"env": {**os.environ, "PYTHONPATH": str(path)}, "cwd": tmp_path}
        found = subprocess.check_output([sys.executable, "-c", code], text=True, **where)
        fingerprint, place = found.split()
        assert place.startswith(str(path))
        return fingerprint

    folder = copy(tmp_path / "copy")
    zipped = shutil.make_archive(str(tmp_path / "zipped"), "zip", folder)
    assert elsewhere(folder) == elsewhere(zipped) == installed.fingerprint()
    moved = folder / "dgsuite" / "kernels" / "imsuite" / "contest.py"
    moved.rename(folder / "dgsuite" / "contest.py")
    assert elsewhere(folder) != installed.fingerprint()
