"""A few trials of faults; `python -m tests.faults` and `python -m tests.faults.commands` make any number."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest

from tests.faults.board import CLIENT, FIRST, HOOKS, KINDS, STAGES, Fault
from tests.faults.simulation import BLOCKS, Scenario, Simulation, Trial
from tests.faults.trials import field
from tests.support import hosts
from tests.support.paths import ROOT

WHY_NOT = hosts.missing()


@pytest.fixture(scope="module")
def there():
    with field(tries=3) as there:
        yield there


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "style"),
    [
        ("kill", "clocked"),
        ("kill", "finish_async"),
        ("restart", "finish_async"),
        ("freeze", "clocked"),
        ("pause", "finish_async"),
        ("scheduler", "clocked"),
    ],
)
def test_a_run_that_is_disturbed_ends_as_it_should(there, how, style):
    trial = there.draw(random.Random(f"{how} {style}"), how, style)
    outcome, _ = there.attempt(trial)
    assert outcome == ("error" if how == "scheduler" else "same"), trial


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_workers_that_do_not_reach_each_other():
    """Each reaches the scheduler. It takes hosts, and so a process of its own."""
    command = [sys.executable, "-m", "tests.faults.commands", "--how", "cut"]
    found = subprocess.run([*command, "--trials", "1"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


RARE = {"gather", "poll", "polled", "scatter"}
"""Hooks that are passed as time has it, or in few trials: small outputs need not be gathered."""

SEEDS = 12
"""Of each block, in the long tests. Every fourth of their trials is made twice."""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_cluster_is_moved_to_a_worker_that_is_lost(tmp_path):
    """The task that moves it reaches the scheduler after the worker has gone."""
    scenario = Scenario(False, "copies", "clocked", "core_number", 3)
    fault = Fault(STAGES.index("first run"), "request", CLIENT, 1, "kill", FIRST + 1)
    with Simulation(tmp_path) as simulation:
        end = simulation.attempt(Trial(scenario, (fault,)))
    assert not end.wrong
    assert end.struck == (True,)
    assert {*end.stages} == {"right"}


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    """A folder that the processes of this session of tests share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "ledgers"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize("count", [1, pytest.param(SEEDS, marks=pytest.mark.long)])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_struck_ends_right_or_with_one_clear_error(block, count, tmp_path, shared_folder):
    """Seeds of a block; `python -m tests.faults --seed N` replays one. The last block looks at the ledgers of
    all: a hook or a kind of fault that has never struck fails.
    """
    wrong = []
    with Simulation(tmp_path) as simulation:
        for turn in range(count):
            seed = block + BLOCKS * turn
            for trial, end in simulation.make(seed):
                if fault := end.wrong if turn % 4 else simulation.fault_of(trial, end):
                    wrong.append(f"python -m tests.faults --seed {seed}: {trial}: {fault}")
        ledger = sorted(simulation.struck)
    assert not wrong, "\n".join(wrong)
    if count < SEEDS:
        return
    (shared_folder / f"{block}.json").write_text(json.dumps(ledger))
    ledgers = [json.loads(path.read_text()) for path in shared_folder.glob("*.json")]
    if len(ledgers) == BLOCKS:
        kinds, hooks = zip(*(each for ledger in ledgers for each in ledger), strict=True)
        assert {*kinds} == {*KINDS}
        assert {*hooks} >= {*HOOKS} - RARE
