"""A few trials of faults; `python -m tests.faults` makes any number."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

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
@pytest.mark.parametrize("style", ["clocked", "finish_async"])
def test_workers_that_do_not_reach_each_other(style):
    """Each reaches the scheduler. It takes hosts, and so a process of its own."""
    command = [sys.executable, "-m", "tests.faults", "--how", "cut", "--style", style]
    found = subprocess.run([*command, "--trials", "1"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
