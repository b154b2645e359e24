"""Trials of faults, a few of each kind; `python -m tests.faults` runs any number."""

from __future__ import annotations

import random

import pytest
from faults import field


@pytest.fixture(scope="module")
def there():
    with field() as there:
        yield there


@pytest.mark.parametrize("style", ["clocked", "finish_async"])
@pytest.mark.parametrize("how", ["kill", "restart", "stop"])
def test_a_run_that_is_disturbed_ends_as_it_should(there, style, how):
    trial = there.draw(random.Random(f"{style} {how}"), style=style, how=how)
    outcome, _ = there.attempt(trial)
    assert outcome in ("same", "error"), trial
