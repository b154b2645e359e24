"""What works with the wheel and its dependencies alone: styles, the networkx backend, the command's help."""

import networkx as nx
from dask.distributed import Client

import dgsuite
from dgsuite import genval
from dgsuite.__main__ import main


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


if __name__ == "__main__":
    run_each_style()
    use_the_backend()
    assert main(["--help"]) == 0
