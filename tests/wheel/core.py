"""What works with the wheel and its dependencies alone: styles, the networkx backend, the command's help."""

from __future__ import annotations

import contextlib
import io
import re

import networkx as nx
from dask.distributed import Client

import dgsuite
from dgsuite import genval
from dgsuite.__main__ import main
from dgsuite.base.extras import pip_install
from dgsuite.faces.cli.app import app


def run_each_style():
    """A kernel in each style, and as a recursive form, on two worker processes."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(60), clusters=4)
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        for how in (
            {"style": "serial"},
            {"style": "finish_async"},
            {"style": "clocked"},
            {"style": "finish_async", "form": "recursive"},
        ):
            ds = dgsuite.run("bf", graph, root=0, **how)
            assert genval.validate("bf", graph, ds).ok, how


def use_the_backend():
    """A function of networkx that dgsuite computes."""
    ring = nx.cycle_graph(60)
    assert set(nx.pagerank(ring, backend="dgsuite")) == set(ring)


def printed(*arguments):
    """Exit status, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    return status, out.getvalue(), err.getvalue()


def helped(name):
    """Whether a sub-command gives its help; else it names the extra."""
    status, out, err = printed(name, "--help")
    if status == 0:
        assert out.startswith(f"Usage: dgsuite {name}"), out
        return True
    command = re.escape(pip_install("command"))
    said = rf"error: this command needs \w+, which is not installed: {command}\n"
    assert re.fullmatch(said, err), err
    return False


if __name__ == "__main__":
    run_each_style()
    use_the_backend()
    assert printed("--help")[1].startswith("Usage: dgsuite")
    print("need an extra:", *(name for name in app.list_commands(None) if not helped(name)))
