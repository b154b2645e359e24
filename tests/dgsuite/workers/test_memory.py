"""Runs that need more memory than workers have."""

import gc
from functools import partial

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph, InputError, RunError, genval
from dgsuite.base.memory import give_back
from dgsuite.core.engine.site import Site
from dgsuite.core.running import attempt
from dgsuite.core.workers import recovery
from tests.support.cases import in_turn
from tests.support.clusters import assert_nothing_held, client_of
from tests.support.faulty import Greedy
from tests.support.patience import until
from tests.support.toys import TellsAll

STYLES = ["clocked", "finish_async"]


def test_a_run_that_does_not_fit_is_refused(monkeypatch):
    """Before anything is sent; one that fits runs."""
    with client_of(1, set_as_default=False) as client:
        limit = next(iter(client.scheduler_info()["workers"].values()))["memory_limit"]
        small = genval.graph("ring", 50, client=None)
        dgsuite.run("pagerank", small, style="clocked", client=client)
        states = recovery.ordered_states

        def limited(client):
            return {a: {**s, "memory_limit": limit >> 12} for a, s in states(client).items()}

        monkeypatch.setattr(recovery, "ordered_states", limited)
        monkeypatch.setattr(attempt, "_run", None)  # is not called
        large = Graph.from_edges([0], [1], n=(limit >> 12) // 8, client=None)
        with pytest.raises(InputError, match=r"may use .* needs at least .* \(graph .*, state .*"):
            dgsuite.run("pagerank", large, style="clocked", client=client)


def hold(dask_worker, more):
    """On a worker: let it use some bytes more than now, or hardly any; Dask does not pause it for that."""
    gc.collect()
    give_back()
    manager = dask_worker.memory_manager
    manager.memory_pause_fraction = manager.memory_spill_fraction = False
    used = dask_worker.monitor.get_process_memory()
    manager.memory_limit = max(used + more, 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES[::-1])
def test_messages_that_do_not_fit_are_refused(style):
    """And the next run, whose messages are few, is right."""
    nodes = 2500  # 2 workers send each other 25 MB
    large, small = (genval.graph("ring", n, client=None) for n in (nodes, 50))
    with client_of(2, set_as_default=False) as client:
        how = {"style": style, "client": client}
        runs = [partial(dgsuite.run, TellsAll(), g, **how) for g in (large, small)]
        assert (runs[0]().got == nodes).all()
        client.run(hold, more=10 << 20)
        with pytest.raises(RunError, match="phase 'send': the messages that arrive may take "):
            runs[0]()
        assert_nothing_held(client)
        assert (runs[1]().got == 50).all()


def test_a_halo_that_leaves_no_room_is_refused():
    """Once it is there, on the worker."""
    with client_of(2, set_as_default=False) as client:
        spread = genval.graph("er", 40_000, m=80_000, clusters=2, seed=1, client=client)
        dgsuite.run("bf", spread, style="clocked", client=client)
        client.run(hold, more=-(1 << 40))
        with pytest.raises(RunError, match="values of nodes and of their neighbours may take "):
            dgsuite.run("bf", spread, style="clocked", client=client)


def test_a_worker_that_dask_kills_for_its_memory_is_named(ring):
    """With what it used and its limit; the run is not begun again once two tries have ended so."""
    settings = {f"distributed.worker.memory.{what}": False for what in ("pause", "spill")}
    settings["dgsuite.recovery.tries"] = 7
    with client_of(2, settings, memory_limit="500 MiB", set_as_default=False) as client:
        told = (
            r"Dask killed worker tcp://[0-9.:]+, which used [0-9.]+ MiB of its limit of 500.00 MiB; "
            r"start more workers, or workers with more memory; it was begun 2 times"
        )
        with pytest.raises(RunError, match=told):
            dgsuite.run(Greedy(), ring, style="clocked", client=client)


def sites(dask_worker):
    """On a worker: how many runs' sites it still has, and to collect no garbage from now on."""
    gc.disable()
    kept = [thing for thing in gc.get_objects() if isinstance(thing, Site)]
    return len(kept)


@pytest.mark.few(1)
@pytest.mark.parametrize(("form", "style"), in_turn(["iterative", "recursive"], STYLES))
def test_the_memory_of_a_run_is_free_at_its_end(style, form):
    """Without a collection of garbage: the next run gets the same memory, not new pages."""
    with client_of(2, set_as_default=False) as client:
        ring = genval.graph("ring", 50, client=None)
        run = partial(dgsuite.run, "bf", ring, style=style, form=form, client=client)
        run()
        client.run(gc.collect)
        client.run(sites)
        run()
        assert_nothing_held(client)
        until(lambda: not any(client.run(sites).values()))


def test_what_dask_can_write_to_disk_does_not_count():
    with client_of(1, set_as_default=False) as client:
        ring = genval.graph("ring", 50, client=None)
        dgsuite.run("bf", ring, style="clocked", client=client)
        kept = client.submit(np.ones, 1 << 24)
        kept.result()
        client.run(hold, more=-(1 << 26))
        assert dgsuite.run("bf", ring, style="clocked", client=client).sizes["node"] == 50
        kept.release()
