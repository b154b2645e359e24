"""Checkpoints of recursive forms: a run that goes on amid its tasks ends with the same outputs and counts."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import InputError, RunError
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.executors import recursive
from dgsuite.core.recursion.checkpoint import KeptTasks
from dgsuite.kernels import RECURSIVE
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph
from tests.faults.inject import Signal, arm
from tests.support.cases import cuts, inputs
from tests.support.clusters import COME_BACK
from tests.support.examples import examples

NAMES = sorted(RECURSIVE)

MOST = 8
"""Ticks of a run after each of which it goes on elsewhere."""

COUNTS = ("messages", "remote", "nbytes", "opened", "asyncs", "comm", "mutexes")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_it_goes_on_from_any_tick(name, monkeypatch):
    total = []

    @given(st.data())
    @examples(8)
    def check(data):
        kernel, make = data.draw(inputs(name, 12))
        kernel = RECURSIVE[name](**kernel.__dict__)
        graph = make(**data.draw(cuts(make().n)))
        outputs, log = recursive.serial(kernel, graph.parts)
        plan = Checkpoints("memory://recursive-checkpoints", 0.0, {})
        plan = plan.begun(graph.partition.offsets.tolist(), plan.newest())
        ticks = []

        def write(self):
            undisturbed(self)
            if self.plan.every == 0 and len(ticks) < MOST:
                there = replace(plan, every=sys.maxsize, found=plan.newest())
                found, again = recursive.serial(
                    kernel, graph.parts, spec=RunSpec(checkpoints=there)
                )
                for output, values in outputs.items():
                    np.testing.assert_array_equal(found[output], values, err_msg=output)
                assert [*map(str, again.steps)] == [*map(str, log.steps)]
                for count in COUNTS:
                    np.testing.assert_array_equal(again[count], log[count], err_msg=count)
                ticks.append(there.found.phases)

        undisturbed = KeptTasks.write
        try:
            with monkeypatch.context() as patch:
                patch.setattr(KeptTasks, "write", write)
                recursive.serial(kernel, graph.parts, spec=RunSpec(checkpoints=plan))
            assert ticks == [*range(len(ticks))]
            total.append(len(ticks))
        finally:
            plan.remove()

    check()
    assert sum(total)


@pytest.mark.long
@pytest.mark.parametrize("style", ["clocked", "in_turn"])
@pytest.mark.parametrize(("name", "calls"), [("mst", 30), ("dr", 10)])
def test_a_run_that_loses_a_worker_goes_on(three, name, calls, style, tmp_path, caplog):
    """Also on other workers, and in this process."""
    rng = np.random.default_rng(7)
    ends = rng.integers(0, 40, (2, 100))
    src, dst = np.append(ends[0], np.arange(40)), np.append(ends[1], (np.arange(40) + 1) % 40)
    weights = rng.permutation(len(src)) + 1 if name == "mst" else None
    graph = Graph.from_edges(src, dst, weights=weights, clusters=6)
    expected = dgsuite.run(name, graph, style="serial", form="recursive", count_as="clocked")
    three.wait_for_workers(3, timeout=COME_BACK)
    for checkpoint in (True, tmp_path / "folder"):
        three.run(arm, calls, True, Signal(), workers=[worker_addresses(three)[1]])
        with (
            caplog.at_level(logging.INFO, "dgsuite"),
            dask.config.set({"dgsuite.checkpoint.every": 0}),
        ):
            found = dgsuite.run(
                name,
                graph,
                style=style,
                form="recursive",
                client=three,
                count_as="clocked",
                checkpoint=checkpoint,
            )
        assert "goes on after phase" in caplog.text
        caplog.clear()
        for variable in ("messages", "asyncs", "finishes"):
            np.testing.assert_array_equal(found[variable], expected[variable], err_msg=variable)
        outputs = [v for v in expected if "node" in expected[v].dims]
        for variable in outputs:
            np.testing.assert_array_equal(found[variable], expected[variable], err_msg=variable)
        three.wait_for_workers(3, timeout=COME_BACK)


def test_it_goes_on_in_this_process(three, tmp_path, caplog):
    graph = Graph.from_edges(np.arange(30), (np.arange(30) + 1) % 30, clusters=6)
    three.wait_for_workers(3, timeout=COME_BACK)
    three.run(arm, 12, True, Signal(), workers=[worker_addresses(three)[1]])
    with dask.config.set({"dgsuite.checkpoint.every": 0, "dgsuite.recovery.tries": 0}):
        with pytest.raises(RunError, match="lost"):
            run(graph, style="clocked", client=three, checkpoint=tmp_path)
        with caplog.at_level(logging.INFO, "dgsuite"):
            found = run(graph, style="serial", checkpoint=tmp_path)
    assert "goes on after phase" in caplog.text
    np.testing.assert_array_equal(found.distance, run(graph, style="serial").distance)


def run(graph, **options):
    return dgsuite.run("bf", graph, form="recursive", **options)


def test_what_is_refused(client, tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    with pytest.raises(InputError, match="give style='clocked', or leave out form='recursive'"):
        run(graph, client=client, style="finish_async", checkpoint=tmp_path)
