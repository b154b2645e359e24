"""A few trials of faults; `python -m tests.faults` makes any number."""

import json
import os
import sys

import pytest

from tests.faults.board import CLIENT, FIRST, HOOKS, KINDS, STAGES, Fault
from tests.faults.simulation import BLOCKS, Scenario, Simulation, Trial

RARE = {"gather", "poll", "polled", "scatter"}
"""Hooks that are passed as time has it, or in few trials: small outputs need not be gathered."""

SEEDS = 12
"""Of each block, in the long tests."""


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
                if end.wrong:
                    wrong.append(f"python -m tests.faults --seed {seed}: {trial}: {end.wrong}")
        ledger = sorted(+simulation.struck)
    assert not wrong, "\n".join(wrong)
    if count < SEEDS:
        return
    (shared_folder / f"{block}.json").write_text(json.dumps(ledger))
    ledgers = [json.loads(path.read_text()) for path in shared_folder.glob("*.json")]
    if len(ledgers) == BLOCKS:
        kinds, hooks = zip(*(each for ledger in ledgers for each in ledger), strict=True)
        assert {*kinds} == {*KINDS}
        assert {*hooks} >= {*HOOKS} - RARE
