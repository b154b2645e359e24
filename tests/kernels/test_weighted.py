"""Weights count where the graph has some, unless a run is told otherwise."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Weighted
from dgsuite.partition.graph.graph import Graph

NAMES = sorted(name for name, kernel in KERNELS.items() if issubclass(kernel, Weighted))
MORE = {"katz": {"alpha": 0.01}}
FRAME = pd.DataFrame(
    {
        "payer": [0, 0, 1, 2, 3, 4, 4, 5],
        "payee": [1, 2, 2, 3, 4, 5, 0, 3],
        "amount": [1.0, 8.0, 2.0, 50.0, 7.0, 2.0, 60.0, 5.0],
    }
)


def graph(weight=None, clusters=2):
    return Graph.from_dataframe(FRAME, "payer", "payee", weight=weight, clusters=clusters)


def found(ds):
    return np.concatenate([ds[name].values for name in KERNELS[ds.attrs["kernel"]].outputs])


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NAMES)
def test_weights_count_where_there_are_some(name):
    how = {"style": "serial", **MORE.get(name, {})}
    weighted, plain = graph("amount"), graph()
    by_default = dgsuite.run(name, weighted, **how)
    told = dgsuite.run(name, weighted, weighted=True, **how)
    without = dgsuite.run(name, weighted, weighted=False, **how)
    assert [ds.attrs["weighted"] for ds in (by_default, told, without)] == [1, 1, 0]
    np.testing.assert_array_equal(found(by_default), found(told))
    assert (found(by_default) != found(without)).any()
    for choice in (None, True, False):  # there are none to count
        ds = dgsuite.run(name, plain, weighted=choice, **how)
        assert ds.attrs["weighted"] == 0
        np.testing.assert_array_equal(found(ds), found(without))
    for ds in (by_default, without):
        assert genval.validate(name, weighted, ds).ok


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_follows_what_the_run_did(name):
    """Outputs are wrong if the run is said to have done the other."""
    weighted = graph("amount")
    ds = dgsuite.run(name, weighted, style="serial", **MORE.get(name, {}))
    assert not genval.validate(name, weighted, ds.assign_attrs(weighted=0)).ok
    outputs = {output: ds[output].values for output in KERNELS[name].outputs} | MORE.get(name, {})
    assert genval.validate(name, weighted, outputs).ok  # by default where the graph has weights


def test_pagerank_of_a_table_with_amounts():
    net = nx.from_pandas_edgelist(FRAME, "payer", "payee", "amount")
    right = nx.pagerank(net, weight="amount", tol=1e-12, max_iter=1000)
    ds = dgsuite.run("pagerank", graph("amount"), style="serial", tolerance=1e-12)
    np.testing.assert_allclose(ds["rank"], [right[v] for v in range(6)], rtol=1e-9)


def test_what_counted_is_in_the_file(tmp_path):
    ds = dgsuite.run("pagerank", graph("amount"), style="serial")
    dgsuite.save(ds, tmp_path / "ranks.nc")
    assert dgsuite.open(tmp_path / "ranks.nc").attrs["weighted"] == 1
