"""Every execution of small cases, and searches that find what textbooks state."""

from itertools import combinations, product

import numpy as np
import pytest

import dgsuite
from dgsuite import InputError, experiment, genval
from dgsuite.__main__ import main
from dgsuite.kernels.lab.stable import StableMIS
from dgsuite.kernels.own import named
from dgsuite.studies.lab import explore, search


def ring(n):
    return dgsuite.Graph.from_edges(range(n), [(v + 1) % n for v in range(n)])


def complete(n):
    return genval.graph("cplt", n)


def k_state(n, k, daemon):
    """Dijkstra's K-state by hand: most moves until one is privileged, or None where it may never be so."""
    picks = {"central": 1, "distributed": n}
    most = {}

    def privileged(x):
        return [v for v in range(n) if (x[v] == x[v - 1]) == (v == 0)]

    def after(x, nodes):
        new = list(x)
        for v in nodes:
            new[v] = (x[v] + 1) % k if v == 0 else x[v - 1]
        return tuple(new)

    def look(x, path):
        if x in path:
            raise RecursionError
        if x not in most:
            able = privileged(x)
            counts = [len(able)] if daemon == "synchronous" else range(1, picks[daemon] + 1)
            ways = [] if len(able) == 1 else [s for c in counts for s in combinations(able, c)]
            most[x] = max((len(s) + look(after(x, s), path | {x}) for s in ways), default=0)
        return most[x]

    try:
        return max(look(x, frozenset()) for x in product(range(k), repeat=n))
    except RecursionError:
        return None


@pytest.mark.parametrize("daemon", ["central", "distributed", "synchronous"])
@pytest.mark.parametrize(("n", "k"), [(3, 2), (3, 3), (4, 2), (4, 3), (4, 4)])
def test_the_k_state_is_that_by_hand(n, k, daemon):
    found, wanted = explore("token_ring", ring(n), daemon=daemon, k=k), k_state(n, k, daemon)
    assert found.executions == k**n
    assert found.holds == (wanted is not None)
    if wanted is not None:
        assert found.most_moves == wanted


def test_the_k_state_of_five():
    """Most moves 8, 17 and 29, of at most 3 n (n - 1) / 2; one value fewer than needed, and it goes round."""
    found = [explore("token_ring", ring(n), daemon="distributed", k=n) for n in (3, 4, 5)]
    assert [one.most_moves for one in found] == [8, 17, 29]
    broken = explore("token_ring", ring(5), daemon="central", k=3)
    assert not broken.holds
    assert len(broken.states) > 1
    assert "no end" in str(broken)


@pytest.mark.parametrize(
    ("name", "how"), [("stable_mis", {}), ("stable_matching", {}), ("stable_colouring", {})]
)
def test_self_stabilising_kernels_come_to_rest_from_any_state(name, how):
    path = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    found = explore(name, path, daemon="central", **how)
    assert found.holds
    assert 0 < found.most_steps <= found.most_moves


def test_a_rule_that_never_rests():
    class Flips(StableMIS):
        name = "flips"

        def rules(self, v):
            return [one._replace(guard=np.ones(len(v.id), bool)) for one in super().rules(v)]

    assert not explore(Flips, ring(3), daemon="central").holds


INPUTS = {"inputs": [*product((0, 1), repeat=3)]}


def test_every_crash_of_floodset():
    how = {"crashes": 1, "vary": INPUTS}
    found = explore("floodset", complete(3), f=1, rounds=2, **how)
    assert found.holds
    assert found.executions == found.looked_at == 8 * (1 + 3 * 2 * 4)
    assert "holds in all 200 executions" in str(found)
    joined = explore("floodset", complete(3), f=1, rounds=2, symmetric=True, **how)
    assert joined.holds
    assert joined.looked_at < found.executions / 4
    broken = explore("floodset", complete(3), f=0, rounds=1, **how)
    assert not broken.holds
    assert [len(crash.receivers) for crash in broken.example.network.crashes] == [1]
    assert 8 < broken.looked_at < broken.executions
    assert "agreement" in str(broken)


@pytest.mark.long
def test_two_crashes_break_two_rounds_of_floodset():
    how = {"crashes": 2, "symmetric": True, "vary": {"inputs": [*product((0, 1), repeat=4)]}}
    found = explore("floodset", complete(4), f=1, rounds=2, **how)
    first, second = found.example.network.crashes
    assert (first.round, second.round) == (0, 1)
    assert explore("floodset", complete(4), f=2, rounds=3, most=1 << 20, **how).holds


def test_what_cannot_be_explored():
    with pytest.raises(InputError, match=r"there are [\d,]+ executions, and most=100"):
        explore("floodset", complete(5), crashes=2, most=100)
    with pytest.raises(InputError, match=r"78,125 states, which take about [\d.]+ GB"):
        explore("token_ring", ring(7), k=5, most=100)
    with pytest.raises(InputError, match="daemon must be one of"):
        explore("token_ring", ring(3), daemon="largest")
    named = dgsuite.Graph.from_edges(["a"], ["b"], relabel=True)
    with pytest.raises(InputError, match="on graphs without labels"):
        explore("bfs", named, crashes=1)
    with pytest.raises(InputError, match="on graphs without labels"):
        search("bfs", graph=named)
    with pytest.raises(InputError, match="without faults"):
        explore("token_ring", ring(3), crashes=1)


CRASHES = {"graphs": "complete", "faults": ("crashes",)}

FOUND = [
    ("floodset", {"nodes": (4, 4), "most": 1, "f": 0, **CRASHES}, 1),
    pytest.param(
        *("floodset", {"nodes": (4, 4), "most": 2, "f": 1, **CRASHES}, 2), marks=pytest.mark.long
    ),
    ("benor", {"nodes": (4, 4), "most": 2, **CRASHES}, 2),
    ("phase_king", {"graphs": "complete", "nodes": (4, 4), "faults": ("liars",), "most": 1}, 0),
    ("lcr", {"graphs": "ring", "faults": ("drops",)}, 0),
    ("token_ring", {"graphs": "ring", "nodes": (4, 5), "faults": (), "k": lambda n: n - 2}, 0),
]
"""Lower bounds: a kernel, where it breaks, and how many crashes that takes."""


@pytest.mark.parametrize(("name", "how", "crashes"), FOUND)
def test_a_search_finds_what_textbooks_state(name, how, crashes):
    found = search(name, **how)
    assert len(found.network.crashes) == crashes
    if how["faults"] == ("drops",):
        assert len(found.network.drops) == 1


SOUND = [
    ("floodset", {"nodes": (4, 4), "most": 1, "f": 1, **CRASHES}),
    ("benor", {"nodes": (5, 5), "most": 2, **CRASHES}),
    ("phase_king", {"graphs": "complete", "nodes": (5, 5), "faults": ("liars",), "most": 1}),
    ("token_ring", {"graphs": "ring", "nodes": (4, 5), "faults": (), "k": lambda n: n}),
]


@pytest.mark.parametrize(("name", "how"), SOUND)
def test_a_search_finds_nothing_within_the_bound(name, how):
    assert search(name, tries=300, **how) is None


def test_a_search_draws_parameters(tmp_path):
    from hypothesis import strategies as st

    inputs = lambda n: st.lists(st.integers(0, 1), min_size=n, max_size=n)  # noqa: E731
    broken = search(
        "floodset", lambda graph, ds: ds.decision[0] == 0, nodes=(3, 3), inputs=inputs, faults=()
    )
    assert broken.parameters == {"seed": 0, "inputs": [1, 1, 1]}
    mixed = search("floodset", graph=complete(4), f=0, faults=("crashes",), most={"crashes": 1})
    assert mixed.graph.n == 4
    assert search("bfs", lambda g, ds: ds.lost.sum() == 0, faults=("churn",)).network.churn
    assert search("bfs", lambda g, ds: ds.virtual_time.max() < 9, faults=("delays",)).network.delay
    with pytest.raises(InputError, match="delays go with other faults for event-driven"):
        search("bfs", faults=("delays", "drops"))


OWN = """
from dataclasses import dataclass
import numpy as np
from dgsuite.kernels import bsp

@dataclass(eq=False)
class State(bsp.ClusterState):
    heard: np.ndarray = bsp.per_node(False)

@dataclass(frozen=True)
class Once(bsp.Kernel):
    name = "once"
    outputs = {"heard": bsp.Output("whether it heard a neighbour")}
    fields = {}
    state = State
    obeys = bsp.Model("edges")

    def program(self, net):
        yield bsp.Round(self.tell)
        yield bsp.Round(self.hear)

    def tell(self, c, s, inbox):
        return bsp.broadcast(np.arange(c.size))

    def hear(self, c, s, inbox):
        s.heard[inbox.count()[0]] = True
"""


def test_a_kernel_of_ones_own_is_taken_everywhere(tmp_path, monkeypatch, here, client):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    mine = named("mine.py:Once")
    every = lambda graph, ds: bool(ds.heard.all())  # noqa: E731
    found = search(mine, every, graphs="path", faults=("drops",))
    assert (found.graph.n, len(found.network.drops)) == (2, 1)
    found.write("found.toml")
    assert experiment.main(["found.toml", "-q"]) == 0
    assert not dgsuite.open("results/found.nc").heard.all()
    ds = dgsuite.lab.repeat("mine.py:Once", ring(5), 20, network={"loss": 0.5})
    assert 0 < int(ds.heard.sum()) < 100
    assert "valid" not in ds
    assert explore(mine, ring(3), every, crashes=0, rounds=1).holds
    graph = genval.graph("ring", 8, clusters=2, client=client)
    assert dgsuite.run("mine.py:Once", graph, style="clocked", client=client).heard.all()
    done = here(main, "kernel", "mine.py:Once", "ring", "--n", "6", "--page", "page.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").exists()
    with pytest.raises(InputError, match="has no class 'Twice'"):
        dgsuite.run("mine.py:Twice", ring(3))
    with pytest.raises(InputError, match="has no rule: pass property="):
        search(mine)
