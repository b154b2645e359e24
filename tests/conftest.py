"""Fixtures for all tests: real worker processes, shared inputs, Hypothesis profiles."""

import os
import pickle
import signal
import subprocess
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import dask
import pytest
from hypothesis import HealthCheck, settings

from tests.support import originals
from tests.support.clusters import client_of, small_as_large
from tests.support.examples import MOST
from tests.support.warm import warm


@pytest.fixture
def interruptible():
    """This process raises KeyboardInterrupt on SIGINT, also where it was started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


os.environ.setdefault("DASK_DGSUITE__CHECK", "True")  # of commands that tests start
dask.config.set({"dgsuite.check": True})

LATE = {"distributed.deploy.lost-worker-timeout": "5 minutes"}

# each test process keeps some ten workers ready
warm()

# what dgsuite imports late is imported before any test patches what it would import
for late in (
    *("dgsuite.core.results.dataframe", "dgsuite.core.running.estimate"),
    *("dgsuite.core.running.runner", "dgsuite.faces.nx_backend", "dgsuite.genval.graphs"),
):
    import_module(late)

# how long examples take to draw or run says how busy the machine is; fixtures last for a session
for name, examples in (("default", MOST), ("long", 20 * MOST)):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=examples,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


WIDE = (
    *("accounting", "chem", "cli", "experiment", "lab", "network", "report", "scaling", "scc"),
    *("suites", "transports", "workers", "executors/test_recursive.py"),
    *("test_nx_arguments.py", "test_nx_backend.py", "test_nx_results.py", "../goldens"),
    *("test_accessor.py", "../genval/test_generate.py", "../genval/test_levels.py"),
    *(
        f"../kernels/test_{name}.py"
        for name in ("betweenness", "blocks", "leiden", "numbers", "since", "thresholds")
    ),
    *(
        f"../partition/test_{name}.py"
        for name in (
            *("collections", "csv", "duplicates", "held_labels", "installed", "matrix_of_columns"),
            *("netcdf", "partition", "readers", "rows", "views", "waiting"),
        )
    ),
    *(f"../project/test_{n}.py" for n in ("fuzz", "naming_nodes", "products", "startup", "wheel")),
)
"""The second layer, below dgsuite/: studies, faults, losses of workers, tables, commands, the package."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests of the second layer as wide, and cases as long beyond the first few that a test allows.

    Those that are long already do not count.
    """
    wide = [(Path(__file__).parent / "dgsuite" / place).resolve() for place in WIDE]
    assert all(place.exists() for place in wide)
    seen = Counter()
    for item in items:
        if any(item.path.is_relative_to(place) for place in wide):
            item.add_marker(pytest.mark.wide)
        few = item.get_closest_marker("few")
        if few is None or item.get_closest_marker("long"):
            continue
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] > few.args[0]:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """Runs a command's ``main`` within this process, in the test's folder."""
    monkeypatch.chdir(tmp_path)

    def run(main, *arguments):
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:  # of the parser
            status = end.code
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def three():
    """A client of three worker processes; others come in the place of those that are killed."""
    with client_of(3, LATE | {"dgsuite.timeout": "20 s"}, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def client():
    """A client of two worker processes."""
    with client_of(2) as client:
        yield client


@pytest.fixture(scope="session")
def threaded():
    """A client of two worker processes of three threads each, where graphs take the way of large ones."""
    with client_of(2, threads=3, set_as_default=False) as client, small_as_large(client):
        yield client


@pytest.fixture(scope="session")
def client_of_one():
    """A client of one worker process."""
    with client_of(1, set_as_default=False) as client:
        yield client


@pytest.fixture
def alone(monkeypatch):
    """There is no current client, also where other tests of this process have made one."""

    def none():
        raise ValueError("there is no client")

    monkeypatch.setattr("distributed.get_client", none)


@pytest.fixture
def brought(monkeypatch):
    """Bytes of each lot of results that clients have brought into this process."""
    from distributed import Client

    sizes: list[int] = []
    gather = Client._gather_remote

    async def counted(self, *arguments):
        response = await gather(self, *arguments)
        sizes.append(len(pickle.dumps(response.get("data"))))
        return response

    monkeypatch.setattr(Client, "_gather_remote", counted)
    return sizes


@pytest.fixture(scope="session")
def mortal():
    with client_of(2, LATE, set_as_default=False) as client:
        yield client


@pytest.fixture
def own_client(mortal):
    """A client of two worker processes that a test may kill: others come in their place.

    A run that loses one is not begun again, unless the test says so.
    """
    mortal.cluster.scale(2)
    while len(mortal.run(os.getpid, on_error="ignore")) != 2:
        time.sleep(0.05)
    with dask.config.set({"dgsuite.recovery.tries": 0}):
        yield mortal


@pytest.fixture(scope="session")
def imsuite_inputs(tmp_path_factory):
    """A folder of IMSuite's input files: ``generated``, ``original-64`` and ``original-other``."""
    folder = tmp_path_factory.mktemp("imsuite")
    originals.write_all(folder)
    return folder


@pytest.fixture
def ring():
    """A ring of 12 nodes, in this process."""
    import networkx as nx

    import dgsuite

    return dgsuite.Graph.from_networkx(nx.cycle_graph(12), client=None)
