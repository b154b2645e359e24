"""Commands on workers of several threads: outputs are those of one thread."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

import dgsuite
from dgsuite.__main__ import main
from dgsuite.kernels import KERNELS
from dgsuite.partition.client.session import Session
from dgsuite.studies.experiment.clusters import local

NAMES = ("sssp", "mis", "pagerank", "wcc")


@pytest.fixture
def threads(monkeypatch):
    """Threads of each worker that commands have started."""
    seen = []

    @contextmanager
    def counted(*given):
        with local(*given) as client:
            seen.extend(state["nthreads"] for state in Session.of(client).workers().values())
            yield client

    for module in ("clusters", "sweep"):
        monkeypatch.setattr(f"dgsuite.studies.experiment.{module}.local", counted)
    return seen


def outputs_of(done, name):
    """The outputs and the messages in the file that a command names last."""
    assert done.returncode == 0, done.stderr
    path = next(line for line in done.stdout.splitlines()[::-1] if line.endswith(".nc"))
    ds = dgsuite.open(path)
    return {output: ds[output].values for output in (*KERNELS[name].outputs, "messages")}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_on_workers_of_several_threads(here, threads, name):
    given = ["er", "--n", 40_000, "--m", 160_000, "--clusters", 8]
    given += ["--style", "clocked", "--workers", 1, "--threads"]
    one, four = (outputs_of(here(main, "kernel", name, *given, t), name) for t in (1, 4))
    for output, values in four.items():
        np.testing.assert_array_equal(one[output], values)
    assert threads == [1, 4]
