"""What threads of a worker share: no schedule of its clusters changes a result."""

import threading
from functools import lru_cache, partial
from itertools import islice, permutations

import numpy as np
import pytest

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.once import Once
from dgsuite.core.engine.mailbox import Halos
from dgsuite.core.engine.program import Step, steps
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.core.parameters import make_kernel
from dgsuite.core.recursion.site import RecursiveSite
from dgsuite.core.running.options import RunOptions
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.kernels.bsp import Unicast, unicast, vote
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.views import incoming
from tests.cards.ranks import RANKS
from tests.dgsuite.engine.test_exchange import WAYS
from tests.dgsuite.network.test_network import NETWORKS, random
from tests.support import references
from tests.support.cases import TYPICAL, in_turn, typical
from tests.support.patience import PATIENCE
from tests.support.schedules import Ordered, Preempting
from tests.support.sites import assert_same, simulate
from tests.support.small_graphs import BY_CUT
from tests.support.toys import Reductions

CLUSTERS = 6


@lru_cache
def expected(name):
    """A kernel, and its run on one cluster; in as many clusters, if messages depend on these."""
    kernel = KERNELS[name](**options(name))
    return kernel, serial.run(kernel, cut_of(name, CLUSTERS if name in BY_CUT else 1).parts)


def cut_of(name, clusters):
    """The graph of a kernel in some clusters."""
    graph = references.mine(name, clusters)
    if name == "bfs2d":
        return arrange(graph)
    return incoming(graph) if graph.directed else graph


def options(name):
    """Parameters that keep a run short, and have it use what clusters share."""
    few = {"random_walks": {"length": 3}, "cdlp": {"iterations": 3}, "kc": {"k": 3}}
    if name in RANKS:
        return {"iterations": 3, "tolerance": None}
    return few.get(name, {})


@pytest.fixture
def compiled(monkeypatch):
    """Small graphs take the way of large ones."""
    monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)


STRUCK = [f"struck {what}" for what in ("absences", "drops", "frontier", "cut", "degree")]


def stopped_at_each_line(check):
    """Check with a pool that stops a thread once at every line of the engine while another passes."""
    pool, before = Preempting(), -1
    while len(pool.lines) > before:
        before = len(pool.lines)
        check(pool)
    assert pool.lines
    return pool


@pytest.mark.few(7)
@pytest.mark.parametrize(("name", "way"), in_turn(KERNELS, WAYS, TYPICAL))
def test_no_schedule_changes_a_result(name, way, request):
    large, shared = way
    if large:
        request.getfixturevalue("compiled")
    kernel, whole = expected(name)
    run = partial(simulate, kernel, cut_of(name, CLUSTERS), 2, shared=shared)
    stopped_at_each_line(lambda pool: assert_same(whole, run(pool=pool)))


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RECURSIVE)
def test_no_schedule_changes_what_tasks_do(name, monkeypatch):
    """The same where tasks spawn tasks."""
    kernel, cut = RECURSIVE[name](), cut_of(name, CLUSTERS)
    whole, run = serial.run(kernel, cut.parts), RecursiveSite._side_by_side

    def check(pool):
        monkeypatch.setattr(RecursiveSite, "_side_by_side", lambda *what: run(*what[:3], pool))
        assert_same(whole, serial.run(kernel, cut.parts))

    stopped_at_each_line(check)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [*STRUCK, "back", "forgets"])
def test_no_schedule_changes_what_an_adversary_does(kind):
    """The same on a network that strikes, whose watch and faults clusters share."""
    spec, cut = guarded(kind), random(clusters=CLUSTERS)
    kernel = make_kernel("bf", cut, 1, {})
    whole, run = serial.run(kernel, cut.parts, spec), partial(simulate, kernel, cut, 2, spec=spec)
    pool = stopped_at_each_line(lambda pool: assert_same(whole, run(pool=pool)))
    assert any(place.endswith("disturbed.py") for place, _ in pool.lines)


def guarded(kind):
    """What a checked run on a network is held to."""
    options = RunOptions(network=NETWORKS[kind], check=True, max_rounds=30)
    graph = random(clusters=1)
    return options.spec(graph, make_kernel("bf", graph, 1, {}))


@pytest.mark.parametrize("name", typical(KERNELS))
def test_no_order_of_clusters_changes_a_result(name):
    """Each of two sites has three clusters, which run in any of the six orders."""
    kernel, whole = expected(name)
    cut = cut_of(name, CLUSTERS)
    for order in permutations(range(3)):
        assert_same(whole, simulate(kernel, cut, 2, pool=Ordered(order)))


def test_what_clusters_share_is_sealed_while_they_run():
    """A write names the attribute; the lock's owner may write, and all may once clusters have run."""
    graph = references.mine("mis", 2)
    site = Site(Reductions(), graph.parts, np.array([0, 2]), 0, RunSpec(check=True))
    site.step(Step(0, "send", False, 0))
    site.deliver({})
    store = site.mailbox.arriving
    with pytest.raises(RunError, match=r"Broadcasts\.count is set while clusters run, which share"):
        store.count = 3
    with pytest.raises(RunError, match=r"Mailbox\.kept is set"):
        site.mailbox.kept = None
    with pytest.raises(ValueError, match="read-only"):
        store.sent[0] = False
    with pytest.raises(ValueError, match="read-only"):
        store.slots["value"][0] = 1
    with pytest.raises(TypeError, match="does not support item assignment"):
        store.slots["more"] = 1
    with store.made.lock:
        store._full = None
    site.step(Step(0, "read", True, 0))
    store.count = 3
    store.sent[0] = store.slots["value"][0] = 1


def test_faults_and_what_watches_are_sealed_while_clusters_run():
    """Their own methods set what they hold under their lock."""
    graph = random(clusters=2)
    kernel = make_kernel("bf", graph, 1, {})
    site = Site(kernel, graph.parts, np.array([0, 2]), 0, guarded(STRUCK[0]))
    faults, watch = site.disturbed, site.disturbed._watch
    first, second = islice(steps(kernel, graph.n, lambda over: lambda: site.tally.vote), 2)
    site.step(first)
    site.deliver({})
    for thing, name in ((faults, "fate"), (faults, "lost"), (watch, "_left"), (watch, "_mixed")):
        with pytest.raises(RunError, match=rf"{type(thing).__name__}\.{name} is set while"):
            setattr(thing, name, None)
    with pytest.raises(ValueError, match="read-only"):
        watch._heard[0] = True
    site.step(second)
    assert faults.fate is not None
    watch._heard[0] = True


def test_no_update_of_a_watch_is_lost(monkeypatch):
    """One thread looks at what its cluster has sent while that of another notes a unicast."""
    graph = random(clusters=2)
    kernel = make_kernel("bf", graph, 1, {})
    site = Site(kernel, graph.parts, np.array([0, 2]), 0, guarded(STRUCK[0]))
    disturbed = site.disturbed
    watch, step = disturbed._watch, Step(0, "send", False, 0)
    looking, go, cast = threading.Event(), threading.Event(), vote(any=True)

    class Looks(type):
        def __instancecheck__(cls, item):
            if item is cast:
                looking.set()
                assert go.wait(PATIENCE)
            return type(item) is Unicast

    monkeypatch.setattr("dgsuite.studies.network.watch.Unicast", Looks("Looks", (), {}))
    monkeypatch.setattr("dgsuite.studies.network.watch._count", lambda *what: None)
    one = threading.Thread(target=watch.after, args=(step, 0, None, (cast,), disturbed._dead))
    one.start()
    assert looking.wait(PATIENCE)
    watch.after(step, 1, None, (unicast([0], [0]),), disturbed._dead)
    go.set()
    one.join(PATIENCE)
    watch.begin(step._replace(position=1))
    for k in range(2):
        with pytest.raises(InputError, match="send otherwise, too"):
            watch._reached(k)


class Writes(Reductions):
    """Writes to what clusters share."""

    def read(self, c, s, inbox):
        inbox._messages.sent[0] = True


def test_an_error_names_what_is_written_to():
    with pytest.raises(RunError, match=r"read-only, at 'inbox\._messages\.sent\[0\] = True'"):
        serial.run(Writes(), references.mine("mis", 2).parts, RunSpec(check=True))


def test_two_threads_that_ask_for_a_halo_get_the_same():
    parts, bounds = references.mine("mis", 2).parts, np.array([0, 2])

    def check(pool):
        found = pool.map(partial(Halos().get, parts, bounds, 0), [False] * 3)
        assert found[0] is found[1] is found[2]

    assert stopped_at_each_line(check).waited


@pytest.mark.parametrize("name", ["dst", "sssp"])
def test_a_table_that_is_filled_without_a_lock_is_seen(name, compiled, monkeypatch):
    """The schedules above find what they are for."""

    def get(self, key, make):
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]

    monkeypatch.setattr(Once, "get", get)
    kernel, whole = expected(name)
    cut = cut_of(name, CLUSTERS)
    pool = Preempting()

    def run_often():
        for _ in range(40):
            assert_same(whole, simulate(kernel, cut, 2, pool=pool))

    with pytest.raises((AssertionError, RunError)):
        run_often()
