"""Progress of long runs is shown on terminals and in notebooks alone."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import nbformat
import networkx as nx
import pytest
from nbclient import NotebookClient

import dgsuite
from dgsuite import Graph
from dgsuite.core.engine.progress import Progress, united
from dgsuite.core.running import progress
from tests.support.faulty import Sleeps
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE


@pytest.fixture
def ring():
    return Graph.from_networkx(nx.cycle_graph(12), clusters=3, client=None)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Every run is shown, and every round of a serial one is reported."""
    monkeypatch.setattr(progress, "AFTER", 0)
    monkeypatch.setattr("dgsuite.core.engine.progress.REPORT", 0)


@contextmanager
def terminal(monkeypatch):
    """Standard error is a terminal; yields what is read from it when the context ends."""
    screen, stderr = pty.openpty()
    read = []
    with os.fdopen(stderr, "w") as stream, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        yield read
    shown = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(screen, 1 << 16):  # it may come in parts
            shown += part
    read.append(shown.decode())
    os.close(screen)


def test_a_terminal_shows_a_line(monkeypatch, ring):
    with terminal(monkeypatch) as read:
        ds = dgsuite.run("lcr", ring)
    assert read[0].startswith("\rlcr, serial: ")
    assert read[0].endswith("\n")
    last = read[0].rstrip().rpartition("\r")[2].rstrip()
    sent = int(ds.messages.sum())
    assert re.fullmatch(f"lcr, serial: round 24, 1 active nodes, {sent} messages, \\d+ s", last)


def test_workers_report_what_they_do(monkeypatch, client):
    graph = Graph.from_networkx(nx.cycle_graph(12), clusters=2, client=None)
    with terminal(monkeypatch) as read:
        dgsuite.run(Sleeps(rounds=50), graph, style="clocked", client=client)
    assert re.search(r"toy, clocked: round \d+, 0 active nodes, 0 messages, \d+ s", read[0])


def test_sites_are_added_up():
    seen = []
    tell = united(seen.append, sites=2)
    tell(0, Progress(1, 7, 20))
    tell(1, Progress(4, 10, 100))
    assert not seen
    tell(0, Progress(3, 5, 50))
    tell(0, Progress(4, None, 60))
    assert seen == [Progress(4, 15, 150), Progress(4, 10, 160)]


def test_where_nothing_is_shown_and_where_it_is_wanted(monkeypatch, ring):
    """Not without a terminal, in a thread, with a function of the user's own, and where it is not wanted."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", io.StringIO())
        dgsuite.run("lcr", ring)
        assert sys.stderr.getvalue() == ""
        dgsuite.run("lcr", ring, progress=True)
        assert sys.stderr.getvalue().splitlines()[-1].startswith("lcr, serial: round 24, ")
    with terminal(monkeypatch) as read:
        thread = threading.Thread(target=dgsuite.run, args=("lcr", ring))
        thread.start()
        thread.join()
        rounds = []
        dgsuite.run("lcr", ring, on_round=rounds.append)
        dgsuite.run("lcr", ring, progress=False)
        print("end", file=sys.stderr)
    assert read == ["end\r\n"]
    assert rounds == [*range(1, 25)]
    with pytest.raises(dgsuite.InputError, match="progress must be"):
        dgsuite.run("lcr", ring, progress="yes")


COMPILES = """
import sys
from dgsuite.core.running import progress

def compile():
    import time
    import numpy as np
    from dgsuite.base import compiling, kept_loops
    compiling.SOON = 1e-9  # however fast the machine is
    time.sleep(0.3)  # the line of progress is there
    from dgsuite.partition.arrays import _compiled
    _compiled.tally(np.arange(4, dtype=np.int32), np.array([1, 3]))
    kept_loops.tell("bfs")
    time.sleep(0.3)

if __name__ == "__main__":
    progress.AFTER, progress.EVERY = 0, 0.01
    if sys.argv[1] == "here":
        with progress.shown("toy", "round", True, None):
            compile()
    else:
        from distributed import Client
        with Client(n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
            with progress.shown("toy", "round", True, None):
                client.submit(compile).result()
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["here", "worker"])
def test_what_is_said_meanwhile_has_a_line_of_its_own(tmp_path, where):
    """That a process compiles: this one, or a worker on the same terminal."""
    program = tmp_path / "program.py"
    program.write_text(COMPILES)
    screen, terminal = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, program, where], env=env, stderr=terminal)
    os.close(terminal)
    lines = list(drawn(screen))
    assert process.wait(PATIENCE) == 0
    said = [line for line in lines if "compiling" in line]
    assert len(said) == 1
    assert re.fullmatch(r"bfs: compiling 1 loops took [\d.]+ s; other processes .*", said[0])
    own = [line for line in lines if "toy" in line]
    assert own
    assert all(re.fullmatch(r"toy: \d+ s", line) for line in own), own


def drawn(screen):
    """The lines on a terminal once its last writer has left."""
    text = ""
    with suppress(OSError):  # so Linux tells the end
        while more := os.read(screen, 1 << 16):
            text += more.decode()
    os.close(screen)
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        if shown.strip():
            yield shown.rstrip()


CELLS = """
import networkx as nx
import dgsuite
from dgsuite.core.running import progress
from dgsuite.core.engine import progress as reports
reports.REPORT = 0
ring = dgsuite.Graph.from_networkx(nx.cycle_graph(12), clusters=3)
progress.AFTER = 0
---
ds = dgsuite.run('lcr', ring)
---
progress.AFTER = 60
ds = dgsuite.run('lcr', ring)
---
ring
---
dgsuite.list_kernels()
"""


def test_a_notebook_shows_it_below_the_cell():
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS.split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3").execute()
    _, slow, quick, graph, kernels = (cell.outputs for cell in notebook.cells)
    assert [output.output_type for output in slow] == ["display_data"]
    assert re.fullmatch(r"lcr, serial: round 24, .*messages, \d+ s", slow[0].data["text/plain"])
    assert quick == []
    assert "largest / mean" in graph[0].data["text/html"]
    assert "pagerank" in kernels[0].data["text/plain"]


def test_the_round_is_that_of_the_site_that_is_ahead():
    told = []
    report = united(told.append, sites=2)
    report(1, Progress(7, 2, 10))
    report(0, Progress(5, None, 20))
    assert told == [Progress(7, 2, 30)]
