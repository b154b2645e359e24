"""What is of a wrong type is refused with one clear error, wherever users hand it over."""

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, genval
from dgsuite.studies.scaling import trace

RING = [0, 1, 2], [1, 2, 0]
TWO = np.array([1, 2])


def graph(**how):
    return Graph.from_edges(*RING, **how)


def masked(*values):
    """Values of which the last is masked."""
    return np.ma.array(values, mask=[0] * (len(values) - 1) + [1])


def run(kernel="bfs", **how):
    return dgsuite.run(kernel, graph(), style="serial", **how)


PATHS = "path must be text or a pathlib.Path"


WRONG = [
    (lambda: run(form=TWO), "unknown form"),
    (lambda: run(count_as=TWO), "unknown count_as"),
    (lambda: dgsuite.run("bfs", graph(), style=TWO), "unknown style"),
    (lambda: run(progress=TWO), "progress must be True, False or None, got array"),
    (lambda: run(check=TWO), "check must be True, False or None, got array"),
    (lambda: run(on_round=3), "on_round must be a function of the number of rounds, got 3"),
    (lambda: run(client=[]), "client must be a distributed.Client, got list"),
    (lambda: graph(client=[]), "client must be a distributed.Client, got list"),
    (lambda: graph(client="tcp://10.0.0.1:1"), "client must be a distributed.Client, got str"),
    (lambda: dgsuite.save("text", "a.nc"), "dataset must be an xarray.Dataset, .* got str"),
    (lambda: dgsuite.save(None, "a.nc"), "dataset must be .* got NoneType"),
    (lambda: dgsuite.save(run(), 3), f"{PATHS}, got int 3"),
    (lambda: dgsuite.save(run(), b"a.nc"), f"{PATHS}, got bytes"),
    (lambda: dgsuite.open(None), f"{PATHS}, got NoneType"),
    (lambda: graph().save(3), f"{PATHS}, got int 3"),
    (lambda: Graph.load(None), f"{PATHS}, got NoneType"),
    (lambda: Graph.read_edge_list([1]), f"{PATHS}, got list"),
    (lambda: Graph.read_matrix_market(2.5), f"{PATHS}, got float"),
    (lambda: Graph.read_imsuite(3), f"{PATHS}, or the content as bytes, got int 3"),
    (lambda: Graph.read_imsuite(b"2", kernel=None), "no IMSuite input format for kernel None"),
    (lambda: genval.validate("bfs", 3, run()), "graph must be a dgsuite.Graph, got int"),
    (lambda: dgsuite.run("bfs", 3), "graph must be a dgsuite.Graph, got int"),
    (lambda: genval.validate("bfs", graph(), 3), "results must be a mapping .* got int"),
    (lambda: genval.validate("bfs", graph(), [1]), "results must be a mapping .* got list"),
    (lambda: genval.validate(["bfs"], graph(), run()), r"no validator for kernel \['bfs'\]"),
    (lambda: trace("bfs", 3, clusters=[2]), "graph must be a dgsuite.Graph, got int"),
    (lambda: trace("bfs", graph(), clusters=2), "clusters must be integers of .* got 2"),
    (lambda: trace("bfs", graph(), clusters=["a"]), "clusters must be integers of at least 1"),
    (lambda: trace("bfs", graph(), clusters=[1.5]), "clusters must be integers of at least 1"),
    (lambda: trace(TWO, graph(), clusters=[2]), "kernel must be a name or a Kernel"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_a_wrong_type_is_one_clear_error(call, message):
    with pytest.raises(dgsuite.InputError, match=message):
        call()


MASKED = [
    (lambda: run("bc", sources=masked(0, 1)), "kernel 'bc': sources"),
    (lambda: run("pagerank", personalisation=masked(1.0, 1.0, 1.0)), "personalisation"),
    (lambda: Graph.from_edges(masked(0, 1, 2), [1, 2, 0]), "src"),
    (lambda: Graph.from_edges([1, 2, 0], masked(0, 1, 2)), "dst"),
    (lambda: graph(weights=masked(1.0, 2.0, 3.0)), "weights"),
    (lambda: graph(uid=masked(1, 2, 3)), "uid"),
    (lambda: graph(partition=masked(0, 1, 0)), "a node-to-cluster map"),
    (lambda: graph(labels=masked(7, 8, 9)), "labels"),
    (lambda: graph().subgraph(masked(0, 1)), "nodes"),
]


@pytest.mark.parametrize(("call", "what"), MASKED)
def test_masked_values_are_refused(call, what):
    with pytest.raises(dgsuite.InputError, match=f"{what} must not be masked: 1 of . values"):
        call()


def test_a_mask_that_hides_nothing_is_none():
    plain = run("bc", sources=[0, 1])
    again = run("bc", sources=np.ma.array([0, 1], mask=[0, 0]))
    np.testing.assert_array_equal(plain.betweenness, again.betweenness)
    assert Graph.from_edges(*map(np.ma.array, RING)).m == 3


@pytest.mark.parametrize("faithful", [False, True])
def test_a_parameter_that_is_too_large_takes_no_longer_than_the_graph_allows(faithful):
    large = run("kc", k=2**31, faithful=faithful)
    same = run("kc", k=3, faithful=faithful)
    np.testing.assert_array_equal(large.committee, same.committee)
    assert large.sizes["round"] == same.sizes["round"]
    assert genval.validate("kc", graph(), large).ok
    with pytest.raises(dgsuite.InputError, match="length must be from 1 to 16777216, got 2"):
        run("random_walks", length=2**31)
