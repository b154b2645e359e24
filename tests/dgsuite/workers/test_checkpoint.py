"""Checkpoints: a run that goes on from one, on workers of any number, ends with the same bits."""

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError, RunError, genval
from dgsuite.__main__ import main
from dgsuite.core.engine.checkpoint import Kept
from dgsuite.core.engine.checkpoint_files import Checkpoints
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.values import Classes, Reader, Writer
from dgsuite.core.executors import serial
from dgsuite.core.parameters import make_kernel
from dgsuite.kernels import BLOCK, MIS, bsp
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.clusters.subset import Subset
from tests.faults.inject import Signal, arm
from tests.support.cases import NAMES, TYPICAL, cuts, in_turn, inputs
from tests.support.clusters import COME_BACK
from tests.support.examples import examples
from tests.support.sites import alone, assert_same, simulate
from tests.support.small_graphs import typical
from tests.support.toys import MutatesInPlace

EACH_PHASE = 0.0

MOST = 4
"""Phases of a run after each of which it goes on elsewhere, each time on another number of sites."""


def plan_of(graph, folder="memory://checkpoints", every=EACH_PHASE, **facts):
    """The plan of a run that begins, or goes on from what is there."""
    plan = Checkpoints(folder, every, facts)
    return plan.begun(graph.partition.offsets.tolist(), plan.newest())


@pytest.mark.parametrize(("name", "compiled"), in_turn(NAMES, [False, True], TYPICAL))
def test_any_kernel_goes_on_from_any_phase(name, compiled, monkeypatch):
    if compiled:
        monkeypatch.setattr("dgsuite.base.thresholds.compile_from", -1)

    @given(st.data())
    @examples(1)
    def check(data):
        kernel, make = data.draw(inputs(name, 12))
        graph = make()
        cut = make(**data.draw(cuts(graph.n)))
        expected = alone(kernel, cut if kernel.obeys.ships else graph)
        plan = plan_of(cut)
        resumed = []

        def resume(site):
            if site.returned and len(resumed) < MOST:
                there = replace(plan, found=plan.newest())
                sites = 1 + len(resumed) % 4
                assert_same(expected, simulate(kernel, cut, sites, there))
                resumed.append(there.found.phases)

        try:
            serial.run(kernel, cut.parts, before_phase=resume, spec=RunSpec(checkpoints=plan))
            assert resumed == [*range(1, len(resumed) + 1)]
        finally:
            plan.remove()

    check()


MORE = {
    **{f"{name} by blocks": (BLOCK[name], {}) for name in BLOCK},
    "wcc at thresholds": ("wcc", {"thresholds": [2, 4]}),
    "sample of three hops": ("sample", {"sources": [0, 5], "fanouts": [3, 2, 2]}),
}
"""Other kernels, for the graph of shortest paths, which has weights."""


@pytest.mark.parametrize("name", [*NAMES, *MORE])
def test_any_kernel_goes_on_from_late_phases(name):
    """After each of the first 31 phases, and then at powers of two."""
    case = typical("sssp" if name in MORE else name)
    kernel, graph = case.make(), case.graph(4)
    if name in MORE:
        kernel = make_kernel(MORE[name][0], graph, 1, MORE[name][1])
    expected, plan = alone(kernel, graph), plan_of(graph)

    def resume(site):
        if not site.returned:
            return
        phases = plan.newest().phases
        if phases < 32 or phases.bit_count() == 1:
            there = replace(plan, found=plan.newest())
            for shared in (False, True):
                assert_same(expected, simulate(kernel, graph, 3, there, shared))

    try:
        serial.run(kernel, graph.parts, before_phase=resume, spec=RunSpec(checkpoints=plan))
    finally:
        plan.remove()


# On worker processes.

KERNELS = {"mis": {}, "mst": {}, "pagerank": {"iterations": 12}, "sssp": {"root": 3}, "wcc": {}}


def example(kernel, **options):
    """A graph that takes the kernel some phases."""
    rng = np.random.default_rng(7)
    n = 14 if kernel == "lcr" else 60
    src = np.arange(n)
    dst = (src + 1) % n
    if kernel != "lcr":
        src, dst = np.append(src, rng.integers(0, n, n)), np.append(dst, rng.integers(0, n, n))
    weights = rng.permutation(len(src)) + 1.0 if kernel in ("mst", "sssp") else None
    return Graph.from_edges(src, dst, n=n, weights=weights, clusters=6, **options)


def same(found, expected):
    """Outputs, rounds and messages of two datasets are the same."""
    for name in expected:
        if "node" in expected[name].dims:
            np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=name)
    counts = {*bsp.COUNTS} & {*expected}
    assert {"messages", "remote_messages", "bytes", "active"} <= counts
    for name in counts:
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=name)


@pytest.fixture
def trio(three):
    three.wait_for_workers(3, timeout=COME_BACK)
    with dask.config.set({"dgsuite.checkpoint.every": "0s"}):
        yield three


BROKEN_OFF = [("sssp", "clocked", "client"), ("mst", "in_turn", "three")]
BROKEN_OFF += [("mis", "clocked", "client_of_one"), ("wcc", "serial", None)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("kernel", "style", "where"), BROKEN_OFF)
def test_a_run_that_is_broken_off_goes_on(trio, kernel, style, where, tmp_path, caplog, request):
    """On two workers, three, one, and in this process."""
    client = where and request.getfixturevalue(where)  # a new cluster sets levels of logs
    graph = example(kernel)
    expected = dgsuite.run(kernel, graph, style="serial", **KERNELS[kernel])
    how = {"checkpoint": tmp_path, "count_as": "serial", **KERNELS[kernel]}
    trio.run(arm, 7, False, Signal(), workers=[worker_addresses(trio)[1]])
    with dask.config.set({"dgsuite.recovery.tries": 0}), pytest.raises(RunError, match="lost"):
        dgsuite.run(kernel, graph, style="clocked", client=trio, **how)
    with caplog.at_level(logging.INFO, "dgsuite"):
        found = dgsuite.run(kernel, graph, style=style, client=client, **how)
    assert "goes on after phase 3" in caplog.text
    same(found, expected)
    assert not tmp_path.exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["clocked", "in_turn"])
def test_a_run_that_loses_a_worker_goes_on_from_its_checkpoint(trio, style, tmp_path, caplog):
    graph = example("pagerank")
    expected = dgsuite.run("pagerank", graph, style="serial", **KERNELS["pagerank"])
    trio.run(arm, 11, True, Signal(), workers=[worker_addresses(trio)[1]])
    folder = tmp_path / "deep" / "er"
    how = {"client": trio, "count_as": "serial", "checkpoint": folder, **KERNELS["pagerank"]}
    with caplog.at_level(logging.INFO, "dgsuite"):
        found = dgsuite.run("pagerank", graph, style=style, **how)
    assert "goes on after phase 5" in caplog.text
    same(found, expected)
    assert not folder.exists()


# Folders.


def test_the_folder_outlives_a_run_whose_dataset_cannot_be_made(tmp_path, monkeypatch, each_phase):
    """The run can go on from it."""

    def fails(self, n, noted):
        raise ZeroDivisionError("of attributes")

    run = partial(dgsuite.run, "mis", example("mis"), style="serial")
    with monkeypatch.context() as patch:
        patch.setattr(MIS, "attributes", fails)
        with pytest.raises(ZeroDivisionError):
            run(checkpoint=tmp_path)
    assert [*tmp_path.iterdir()]
    same(run(checkpoint=tmp_path), run())
    assert not tmp_path.exists()


class StoppedError(Exception):
    """A test breaks a run off."""


@contextmanager
def broken_off(phases, monkeypatch):
    """Runs in this process end after a number of phases, and write a checkpoint after each."""

    def write(self):
        undisturbed(self)
        if len(self.site.log) == phases:
            raise StoppedError

    undisturbed = Kept.write
    with monkeypatch.context() as patch:
        patch.setattr(Kept, "write", write)
        with pytest.raises(StoppedError):
            yield


@pytest.fixture
def each_phase():
    with dask.config.set({"dgsuite.checkpoint.every": 0}):
        yield


@pytest.fixture
def stopped(tmp_path, monkeypatch, each_phase):
    """The folder of a run of PageRank that was broken off after seven phases."""
    with broken_off(7, monkeypatch):
        run_here(tmp_path)
    return tmp_path


def test_a_folder_has_one_owner(tmp_path, monkeypatch, each_phase):
    """What a run has left behind that was taken over, it no longer changes."""

    def take_over(self):
        if len(self.site.log) == 4:
            here = replace(self.plan, attempt="", found=None)
            here.begun(self.plan.offsets, None)
            before[:] = sorted(tmp_path.iterdir())
        undisturbed(self)

    before, undisturbed = [], Kept.write
    monkeypatch.setattr(Kept, "write", take_over)
    with pytest.raises(InputError, match="another run writes its checkpoints there"):
        run_here(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def run_here(folder, graph=None, **options):
    """PageRank in this process, with checkpoints."""
    graph, options = example("pagerank") if graph is None else graph, KERNELS["pagerank"] | options
    return dgsuite.run("pagerank", graph, style="serial", checkpoint=folder, **options)


def test_the_last_two_are_kept(stopped):
    phases = sorted({int(file.name.split("-")[1]) for file in stopped.glob("phase-*")})
    assert phases == [6, 7]


def test_what_an_earlier_try_has_left_behind_goes(stopped, monkeypatch):
    """Once a run that went on from it has written two checkpoints of its own."""
    before = {*stopped.glob("phase-*")}
    with broken_off(10, monkeypatch):
        run_here(stopped)
    left = {*stopped.glob("phase-*")}
    assert left
    assert not left & before


@pytest.mark.parametrize("what", ["states", "log", "site"])
def test_damage_is_noticed(stopped, what, caplog):
    """The checkpoint before is taken, or, if it is damaged too, the run begins at its start, and says so.
    `tests.fuzz` damages files in other ways.
    """
    expected = dgsuite.run("pagerank", example("pagerank"), style="serial", **KERNELS["pagerank"])
    for phases, goes_on in ((7, "goes on after phase 6"), (6, "no checkpoint is whole")):
        (file,) = stopped.glob(f"phase-{phases:08}-*-{what}-*")
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        copy = shutil.copytree(stopped, stopped.with_name(f"{stopped.name}-{phases}"))
        with caplog.at_level(logging.INFO, "dgsuite"):
            same(run_here(copy), expected)
        assert goes_on in caplog.text
        caplog.clear()


def test_a_checkpoint_of_another_run_is_refused(stopped):
    graph = example("pagerank")
    other = Graph.from_edges(np.arange(60), (np.arange(60) * 7 + 1) % 60, n=60, clusters=6)
    moved = Graph.from_scipy(graph.to_scipy()[::-1, ::-1].astype(bool), clusters=6)
    for call, message in (
        (lambda: run_here(stopped, damping=0.5), r"parameter damping was 0\.85, and is 0\.5"),
        (lambda: run_here(stopped, seed=3), "parameter seed was 101, and is 3"),
        (lambda: run_here(stopped, other), "number of edge ends was"),
        (lambda: run_here(stopped, moved), "of a graph with other edges, weights or identifiers"),
        (lambda: run_here(stopped, clusters=4), "the checkpoint has 6 clusters, .* to have 4"),
        (lambda: run_here(stopped, trace=True), "trace was False, and is True"),
        (lambda: dgsuite.run("mis", graph, checkpoint=stopped), "kernel was 'pagerank', and is"),
    ):
        before = sorted(stopped.iterdir())
        with pytest.raises(InputError, match=message):
            call()
        assert sorted(stopped.iterdir()) == before


def test_runs_without_checkpoints_are_refused(tmp_path):
    graph = example("mis")
    for call, message in (
        (lambda: dgsuite.run("mis", graph, checkpoint=3), "a folder or a URL, got 3"),
        (lambda: dgsuite.run("mis", graph, checkpoint=True), "a folder or a URL, got True"),
        (lambda: dgsuite.run("bf", graph, form="recursive", checkpoint=tmp_path), "no checkpoints"),
        (lambda: dgsuite.run("mis", graph, checkpoint=__file__), "test_checkpoint"),
        (lambda: dgsuite.run_each("mis", graph, [{}, {}], checkpoint=tmp_path), "one folder for"),
    ):
        with pytest.raises(InputError, match=message):
            call()
    for wrong in ("often", "0 rounds", "-1s", [1]):
        with (
            dask.config.set({"dgsuite.checkpoint.every": wrong}),
            pytest.raises(InputError, match="must be a time, such as '10s', or '5 rounds'"),
        ):
            dgsuite.run("mis", graph, checkpoint=tmp_path)


OTHERS = [("bc", {}), ("bfs2d", {"root": 3}), ("mis", {"trace": True})]
OTHERS += [("mis", {"workload": {"packets": 1, "bytes": 8}})]


@pytest.mark.parametrize(("kernel", "options"), OTHERS)
def test_other_runs_go_on(kernel, options, tmp_path, monkeypatch, caplog, each_phase):
    """Kernels whose messages depend on the cut, and runs with a trace or a workload."""
    graph = arrange(example(kernel)) if kernel == "bfs2d" else example(kernel)
    run = partial(dgsuite.run, kernel, graph, style="serial", **options)
    expected = run()
    with broken_off(4, monkeypatch):
        run(checkpoint=tmp_path)
    with caplog.at_level(logging.INFO, "dgsuite"):
        found = run(checkpoint=tmp_path)
    assert "goes on after phase 4" in caplog.text
    same(found, expected)
    if "traffic" in expected:
        np.testing.assert_array_equal(found.traffic.values, expected.traffic.values)


def test_every_so_many_rounds(tmp_path, monkeypatch):
    written, write = [], Kept.write

    def noted(self):
        written.append(self.site.log.rounds)
        write(self)

    monkeypatch.setattr(Kept, "write", noted)
    with dask.config.set({"dgsuite.checkpoint.every": "3 rounds"}):
        ds = dgsuite.run("lcr", example("lcr"), style="serial", checkpoint=tmp_path, faithful=True)
    assert ds.sizes["round"] == 14
    assert written == [3, 6, 9, 12]


@dataclass(frozen=True)
class Holds(MutatesInPlace):
    """Has something in its state."""

    what: Any = None

    def start(self, c):
        state = super().start(c)
        state.what = eval(self.what)
        return state


@pytest.mark.parametrize("what", ["{1, 2}", "open", "[object()]", "np.array([None])"])
def test_what_no_checkpoint_can_hold_is_named(what, tmp_path, each_phase):
    with pytest.raises(InputError, match=r"'toy', cluster 0: no checkpoint .* it\['state'\]"):
        dgsuite.run(Holds(what=what), example("mis"), style="serial", checkpoint=tmp_path)


def test_values_come_back():
    """What is one object stays one, and nothing is made of a class that is not the kernel's."""
    array = np.arange(5)
    held = {"a": array, "b": (array, [array, 2.5, None, -0.0]), "c": np.float32(2)}
    held[3] = bsp.Note({"some": 1})
    held["itself"] = held
    held["nodes"] = Subset(np.array([True, False]))
    found = Reader(Classes(MutatesInPlace())).read(Writer(Classes(MutatesInPlace())).write(held))
    assert found["itself"] is found
    assert found["a"] is found["b"][0] is found["b"][1][0]
    assert found["b"][1][1:] == [2.5, None, 0.0]
    assert found["c"].dtype == np.float32
    assert found[3] == held[3]
    np.testing.assert_array_equal(found["nodes"].members, [0])
    for name in ("os:system", "dgsuite.base.errors:missing"):
        tree = json.dumps({"class": name, "attributes": {}})
        with pytest.raises(InputError, match="not the file of a checkpoint"):
            Reader(Classes(MutatesInPlace())).read({"tree": np.frombuffer(tree.encode(), np.uint8)})


def test_an_experiment_goes_on_in_the_middle_of_a_point(here, tmp_path, caplog):
    """The same command, after SIGKILL."""
    (tmp_path / "experiment.toml").write_text(
        "[experiment]\nplot = false\n[graph]\ngenerate = 'ring'\n"
        "[[run]]\nkernel = 'lcr'\nstyle = 'serial'\nn = 300\ncheckpoint = 'checkpoints'\n"
    )
    command = ["-m", "dgsuite", "run", "experiment.toml"]
    environment = {**os.environ, "DASK_DGSUITE__CHECKPOINT__EVERY": "0s"}
    with subprocess.Popen([sys.executable, *command], cwd=tmp_path, env=environment) as process:
        while not any(p.name > "phase-00000020" for p in tmp_path.glob("*/*/phase-*.json")):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    with caplog.at_level(logging.INFO, "dgsuite"):
        done = here(main, *command[2:])
    assert done.returncode == 0, done.stderr
    assert re.search(r"kernel 'lcr' goes on after phase \d\d", caplog.text)
    found = dgsuite.open(tmp_path / "results" / "experiment.nc")
    graph = genval.graph("ring", 300, kernel="lcr", client=None)
    expected = dgsuite.run("lcr", graph, style="serial")
    np.testing.assert_array_equal(found.leader.values, expected.leader.values)
    np.testing.assert_array_equal(found.messages.values, expected.messages.values)
    assert not [*tmp_path.glob("checkpoints/*")]
