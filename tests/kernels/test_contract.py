"""What kernels that users write may rely on, and what they are told when they err."""

import math
from fractions import Fraction

import dask
import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dgsuite
from dgsuite.base.errors import InputError, RunError
from dgsuite.core.executors import serial
from dgsuite.kernels import BLOCK, RECURSIVE
from dgsuite.kernels import KERNELS as ALL
from dgsuite.kernels.bsp import Kernel, vote
from dgsuite.kernels.tools import exact
from dgsuite.partition.arrays.loops import loops
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming
from tests.support.faithful import FAITHFUL
from tests.support.faulty import BadProgram, Endless, EndlessTasks, Sly, Unfit, Wrong
from tests.support.floats import FloatSums, FloatVotes, FoldedFloats, SpawnedFloats, Vectors, draws
from tests.support.sites import assert_same, simulate
from tests.support.toys import LargeNumbers, OverwritesSenders, OwnFields, Some, Toy

STYLES = ("serial", "finish_async", "clocked")


def ring(n, **how):
    nodes = np.arange(n)
    return Graph.from_edges(nodes, (nodes + 1) % n, n=n, **how)


WAYS = ("few", "NumPy's", "compiled")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from(WAYS))
@example([1.0, -0.0, 1e-30, -1e300, 1.7e308, 5e-324, -(2.0**-1030)] * 200, "compiled")
def test_sums_are_exact(values, way):
    array = np.array(values, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "MAX_FSUM", len(values) if way == "few" else 0)
        patch.setattr(exact, "fast", lambda _: loops() if way == "compiled" else None)
        found = exact.exact_sum(array)
        change = exact.exact_change(array / 4, array[::-1] / 4)
    assert found == sum(map(Fraction, values))
    assert change == sum(map(Fraction, np.abs(array / 4 - array[::-1] / 4).tolist()))
    for dtype in (np.int64, np.uint64, np.int8):
        limits = np.iinfo(dtype)
        whole = np.array([limits.max, limits.min, limits.max], dtype)
        assert exact.exact_sum(whole) == 2 * int(limits.max) + int(limits.min)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("clusters", [1, 3, 8])
def test_floats_in_votes_are_added_exactly(client, style, clusters):
    for n in (1, 1500):
        dgsuite.run(FloatVotes, ring(n), style=style, clusters=clusters, client=client)


def test_many_floats_in_votes_are_added_exactly():
    for clusters in (1, 3):
        dgsuite.run(FloatVotes, ring(30_000), style="serial", clusters=clusters)


@pytest.mark.parametrize(
    ("cast", "message"),
    [
        ({"sum": 0.3}, r"vote\(sum=0.3\) is not an integer"),
        ({"sum": np.float64(3)}, "vote the array"),
        ({"sum": np.array([1.0, np.nan])}, "nan cannot be added exactly"),
        ({"sum": np.array([np.inf])}, "inf cannot be added exactly"),
        ({"sum": np.array(["a"])}, "dtype <U1 cannot be added"),
        ({"min": np.nan}, "nan cannot be compared"),
        ({"max": np.array([0.0, np.nan])}, "nan cannot be compared"),
        ({"max": "a"}, "'a' cannot be compared"),
        ({"any": "yes"}, r"vote\(any='yes'\) is no truth value"),
        ({"any": None}, r"vote\(any=None\) is no truth value"),
        ({"any": np.array(["no"])}, "is no truth value: vote True or False, a number"),
    ],
)
def test_what_cannot_be_voted_is_refused(cast, message):
    with pytest.raises(InputError, match=message):
        vote(**cast)


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_number_is_not_added(wrong, way, monkeypatch):
    monkeypatch.setattr(exact, "fast", lambda _: loops() if way == "compiled" else None)
    values = np.ones(3 if way == "few" else 1000)
    values[1] = wrong
    with pytest.raises(InputError, match=f"{wrong} cannot be added exactly"):
        exact.exact_sum(values)


def test_clusters_broadcast_the_same_fields():
    with pytest.raises(RunError, match="cluster 1: sends other fields than another cluster"):
        dgsuite.run(OwnFields, ring(6), style="serial", clusters=2)


def test_numbers_that_nobody_adds_may_be_large():
    ds = dgsuite.run(LargeNumbers, ring(6), style="serial", clusters=2, check=True)
    assert set(ds.got.values.tolist()) == {2**62}


FLAGS = [name for name, kind in Kernel.__annotations__.items() if kind == "ClassVar[bool]"]


@pytest.mark.parametrize("kernel", [*ALL.values(), *FAITHFUL, *RECURSIVE.values(), *BLOCK.values()])
def test_what_a_kernel_says_of_itself_is_no_method(kernel):
    assert {type(getattr(kernel, name)) for name in FLAGS} == {bool}
    if kernel.undirected and not kernel.both_ways:
        with pytest.raises(InputError, match="needs an undirected graph"):
            dgsuite.run(kernel, ring(6, directed=True), style="serial")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("list", "kernel 'toy': program must yield its rounds, .* it returned list"),
        ("nothing", "program must yield its rounds, .* it returned NoneType"),
        ("phase", "round 0: the program yields the method 'send', which is not a Round"),
        ("unvoted", r"round 0, phases 'send', 'cast': .* reads reply.sum, .* vote\(sum=\.\.\.\)"),
        ("unvoted at all", "kernel 'toy', round 0, phase 'send': the program reads reply.any"),
        ("no phases", "at least one phase"),
        ("too many phases", "at most 32,767 phases, not 32,768"),
        ("nameless phase", "Round takes methods of the kernel, or their names, got <lambda>"),
        ("list of phases", "Round takes methods of the kernel, or their names, got list"),
    ],
)
def test_a_program_that_is_none_is_named(what, message):
    with pytest.raises(dgsuite.DgsuiteError, match=message):
        dgsuite.run(BadProgram, ring(6), what=what, style="serial", clusters=2)


@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_votes_that_no_cluster_cast_are_named_on_workers(client, style):
    with pytest.raises(RunError, match=r"phases 'send', 'cast': the program reads reply.sum"):
        dgsuite.run(BadProgram, ring(6), what="unvoted", style=style, clusters=2, client=client)


@pytest.mark.parametrize("style", STYLES)
def test_rounds_have_a_limit(client, style):
    graph = ring(8, clusters=2)
    how = {"style": style, "client": client}
    with pytest.raises(
        RunError,
        match="kernel 'toy', round 3, phases 'send', 'read': the program has not ended after "
        "max_rounds=3 rounds; it last read the votes sum=8",
    ):
        dgsuite.run(Endless, graph, max_rounds=3, **how)
    rounds = dgsuite.run("lcr", graph, **how).sizes["round"]
    assert dgsuite.run("lcr", graph, max_rounds=rounds, **how).sizes["round"] == rounds
    with pytest.raises(RunError, match=f"round {rounds - 1}, phase.* max_rounds={rounds - 1}"):
        dgsuite.run("lcr", graph, max_rounds=rounds - 1, **how)
    with pytest.raises(RunError, match=r"depth 5, phase 'read', cluster .: tasks go deeper"):
        dgsuite.run(EndlessTasks, graph, max_rounds=5, **how)


def test_a_limit_of_rounds_is_a_number():
    for bad in (0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match="max_rounds must be a whole number from 1 on"):
            dgsuite.run("mis", Graph.from_networkx(nx.path_graph(3)), max_rounds=bad)


LARGE = 12_000
"""Nodes of a graph whose broadcasts are reduced by compiled loops."""


def random_graph(n, **how):
    """Of about 3 edges a node, and one node with very many."""
    rng = np.random.default_rng(n)
    src, dst = rng.integers(0, n, (2, 3 * n))
    hub = rng.permutation(n)[: n // 3]
    src, dst = np.concatenate([src, np.full(len(hub), n // 2)]), np.concatenate([dst, hub])
    return Graph.from_edges(src, dst, n=n, **how)


CUTS = [{"clusters": 2}, {"clusters": 7}]
CUTS += [{"clusters": 5, "partition": "hash"}, {"clusters": 3, "partition": "edges"}]
KERNELS = (FloatSums(), FoldedFloats(), Vectors())


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("n", [1500, LARGE])
def test_sums_of_floats_have_the_same_bits_for_every_cut(n, kernel):
    whole = serial.run(kernel, random_graph(n, clusters=1).parts)
    for turn, cut in enumerate(CUTS):
        graph = random_graph(n, **cut)
        for sites in {1, 2 + turn % 2}:
            assert_same(whole, simulate(kernel, graph, sites))


@pytest.mark.parametrize("push", [False, True])
def test_sums_of_floats_are_the_same_pulled_and_pushed(push, monkeypatch):
    """In the order of the senders, as a loop over them adds."""
    monkeypatch.setattr("dgsuite.core.engine.broadcasts.Broadcasts.pulls", lambda *a: not push)
    graph = random_graph(LARGE, clusters=1)
    outputs, _ = serial.run(FloatSums(), graph.parts)
    c = graph.parts[0]
    for part, name in ((1, "all"), (1, "totals"), (3, "third"), (3, "thirds"), (40, "few")):
        said = np.where(c.ids % part == 0, draws(c.ids), 0.0)
        for node in (LARGE // 2, 0, 2, 8, 1000):
            total = 0.0
            for sender in c.indices[c.indptr[node] : c.indptr[node + 1]]:
                total += float(said[sender])
            assert outputs[name][node] == total


def test_sums_of_integers_are_not_cut_to_their_field():
    for n in (1500, LARGE):
        graph = random_graph(n, clusters=1)
        outputs, _ = serial.run(FloatSums(), graph.parts)
        for name in ("count", "counts"):
            np.testing.assert_array_equal(outputs[name], graph.parts[0].degree * (2.0**31 - 1))


@pytest.mark.parametrize("sites", [1, 2, 3])
@pytest.mark.parametrize("silent", [None, "nodes without neighbours", "a node"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_silent_node_is_noticed(sites, silent, directed):
    """Bits of senders are not tested where every neighbour sent."""
    graph = random_graph(LARGE, clusters=6, directed=directed)
    degree = np.concatenate([c.degree for c in graph.parts])
    assert (degree == 0).any()
    speaks = np.ones(LARGE, bool)
    whose = {None: [], "nodes without neighbours": degree == 0, "a node": LARGE // 2}
    speaks[whose[silent]] = False
    graph = incoming(graph) if directed else graph
    outputs, _ = simulate(Some(speaks=tuple(speaks)), graph, sites)
    assert (outputs["full"] == (silent != "a node")).all()
    senders = np.concatenate([c.senders[1] for c in graph.parts])
    row = np.repeat(np.arange(LARGE), np.concatenate([c.in_degree for c in graph.parts]))
    row, said = row[speaks[senders]], senders[speaks[senders]] + 1.0
    np.testing.assert_array_equal(outputs["total"], np.bincount(row, said, LARGE))
    least = np.full(LARGE, np.inf)
    np.minimum.at(least, row, said)
    np.testing.assert_array_equal(outputs["least"], np.where(least < np.inf, least, 0))


@pytest.mark.few(2)
@pytest.mark.parametrize("style", ["finish_async", "clocked"])
@pytest.mark.parametrize("n", [1500, LARGE])
def test_sums_of_floats_have_the_same_bits_on_workers(threaded, client_of_one, style, n):
    whole = random_graph(n)
    for workers, clusters in ((client_of_one, 2), (threaded, 5)):
        graph = random_graph(n, clusters=clusters)
        for kernel in KERNELS:
            expected = dgsuite.run(kernel, whole, style="serial", clusters=1)
            found = dgsuite.run(kernel, graph, style=style, client=workers)
            for name in kernel.outputs:
                np.testing.assert_array_equal(expected[name], found[name])


@pytest.mark.parametrize("style", ["serial", "clocked"])
def test_tasks_add_floats_alike_for_every_cut(threaded, style):
    expected = dgsuite.run(SpawnedFloats, ring(1500), style="serial", clusters=1)
    for k in (2, 7):
        found = dgsuite.run(SpawnedFloats, ring(1500), style=style, clusters=k, client=threaded)
        np.testing.assert_array_equal(expected.got, found.got)


@pytest.mark.parametrize("n", [1000, LARGE])
def test_a_list_of_senders_may_be_overwritten(n):
    graph = random_graph(n, clusters=1)
    outputs, _ = serial.run(OverwritesSenders(), graph.parts)
    c = graph.parts[0]
    said = np.where(c.indices % 2 == 0, c.indices, n)
    least = np.minimum.reduceat(np.append(said, n), c.indptr[:-1])
    least[(c.degree == 0) | (least == n)] = -1
    np.testing.assert_array_equal(outputs["got"], least)


UNSENT = (
    *("missing node", "negative node", "no sender", "unknown field", "wrong length", "two kinds"),
    *("nonsense", "known to one", "unknown to one", "known from nowhere", "unsorted lists"),
    *("a negative length", "lists too short", "lists without lengths"),
)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        *((what, "^kernel 'toy', round 0, phase 'send', cluster [01]") for what in UNSENT),
        ("unsorted senders", "broadcasts from node 1 after node 2; nodes must ascend"),
        ("repeated senders", "broadcasts from node 0 after node 0; .* each named once"),
        ("far senders", "broadcasts from node 1 after node 1000000000"),
        ("absent sender", "broadcasts from node 3, which does not exist"),
        ("sender below 0", "broadcasts from node -1, which does not exist"),
        ("a mask of senders", r"nodes given as bool .*; of a mask take np\.flatnonzero"),
        ("missing sender", "sends from node 3, which does not exist: there are 3"),
        ("negative sender", "sends from node -1, which does not exist: there are 3"),
        ("too few senders", "sends 3 messages, and names 1 senders"),
        ("float receivers", "sends to nodes given as float64"),
        ("missing cluster", "ships to cluster 99, which does not exist: there are 2"),
        ("missing announcer", "announces from node 3, which does not exist: there are 3"),
        ("or of floats", "combine='or' takes integers and truth values, no floats"),
        ("other combiners", "combines its messages otherwise than another cluster"),
        ("a sum too large", "combines messages: 6442450944 does not fit into int32"),
        ("unknown combiner", "unknown combine 'mean'; one of: min, max, sum, or"),
    ],
)
def test_what_cannot_be_sent_is_named(what, message, compiled, monkeypatch):
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)
    with pytest.raises(RunError, match=message):
        serial.run(Wrong(what=what), ring(6, clusters=2).parts)


def test_only_a_kernel_that_pulls_sends_backwards():
    serial.run(Wrong(what="backwards"), ring(6, clusters=2).parts)
    with pytest.raises(RunError, match="needs pulls = True"):
        serial.run(Wrong(what="backwards"), ring(6, clusters=2, directed=True).parts)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["broadcast", "unicast", "announce", "ship"])
@pytest.mark.parametrize(
    ("field", "number", "dtype"),
    [
        ("value", 0.5, "int64"),
        ("value", math.nan, "int64"),
        ("value", 2.0**63, "int64"),
        ("small", 128, "int8"),
        ("small", -129, "int8"),
        ("half", 1e300, "float32"),
        ("yes", 2, "bool"),
    ],
)
def test_values_that_a_field_cannot_hold_are_refused(kind, field, number, dtype, directed):
    kernel = Unfit(kind=kind, field=field, number=number)
    graph = ring(6, clusters=2, directed=directed)
    found = r"nan" if number != number else np.array(number).item()
    with pytest.raises(
        RunError,
        match=f"kernel 'toy', round 0, phase 'send', cluster 1: sends '{field}': "
        rf"{found!s} does not fit into {dtype}".replace("+", r"\+"),
    ):
        serial.run(kernel, graph.parts)
    fits = 1.0 if field == "yes" else 100.0
    serial.run(Unfit(kind=kind, field=field, number=fits), graph.parts)


class Shorter(Toy):
    def read(self, c, s, inbox):
        s.got = s.got[1:]


def test_an_output_of_another_length_is_refused():
    with pytest.raises(RunError, match=r"'got' is an output, .* each of 3 nodes, not .* \(2,\)"):
        serial.run(Shorter(), ring(6, clusters=2).parts)


SEEN_WHEN_CHECKED = [
    ("set", "phase 'read', cluster .: .* among counts 3 nodes, and its mask holds 2"),
    ("size", r"among has a mask of bool, shape \(4,\), for 3 nodes"),
    ("counts", r"count_down takes a signed integer .* 3 nodes, got float64 of shape \(3,\)"),
    ("least", "field 'half' holds NaN, which cannot be compared"),
    ("minima", "field 'half' holds NaN, which cannot be compared"),
    ("sum", "sums of field 'value' do not fit into 64 bits"),
    ("entries", "along.'value'. names entries out of range; there are 6"),
    ("beside", "phase 'send', cluster 0: sends from node 0 to node 2, which is no neighbour"),
    ("repeat", "phase 'send', cluster 0: broadcasts a negative number of times"),
    ("links", "broadcasts to a number of neighbours that is negative, or more than there are"),
    ("state", "kernel 'toy': the states of two clusters share an array"),
]


@pytest.mark.parametrize(("what", "message"), SEEN_WHEN_CHECKED)
def test_a_checked_run_sees_more(what, message):
    run = {"kernel": Sly, "what": what, "style": "serial"}
    dgsuite.run(graph=ring(6, clusters=2), check=False, **run)
    with pytest.raises(RunError, match=message):
        dgsuite.run(graph=ring(6, clusters=2), check=True, **run)


def test_a_run_is_checked_where_the_setting_says_so(client):
    graph = ring(6, clusters=2)
    for style in STYLES:
        run = {"kernel": Sly, "graph": graph, "what": "least", "style": style, "client": client}
        with dask.config.set({"dgsuite.check": True}), pytest.raises(RunError, match="holds NaN"):
            dgsuite.run(**run)
        with dask.config.set({"dgsuite.check": False}):
            dgsuite.run(**run)
    with (
        dask.config.set({"dgsuite.check": "yes"}),
        pytest.raises(InputError, match=r"dgsuite\.check must be true or false, got 'yes'"),
    ):
        dgsuite.run(**run)


def test_what_arrived_cannot_be_written():
    for what, message in (
        ("written", "phase 'read', cluster 0: ValueError: assignment destination is read-only"),
        ("graph", "phase 'send', cluster 0: ValueError: assignment destination is read-only"),
        ("output", "'got' is an output, .* each of 3 nodes, not int"),
    ):
        with pytest.raises(RunError, match=message):
            dgsuite.run(Sly, ring(6, clusters=2), what=what, style="serial", check=False)
