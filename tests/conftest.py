"""Fixtures for all tests: real worker processes, shared inputs, Hypothesis profiles."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings


def heed_interrupts() -> None:
    """For subprocesses that get a SIGINT: a shell's background jobs inherit that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


settings.register_profile("default", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def _client(workers):
    import dask
    from distributed import Client, LocalCluster

    leases = {
        "distributed.scheduler.locks.lease-timeout": "4s",
        "distributed.scheduler.locks.lease-validation-interval": "1s",
    }
    with (
        dask.config.set(leases),  # a killed client's turn passes sooner than after 30 s
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def client():
    """A client of two worker processes."""
    yield from _client(2)


@pytest.fixture(scope="session")
def client_of_one():
    """A client of one worker process."""
    yield from _client(1)


@pytest.fixture(scope="session")
def shared():
    """The folder of shared facts and inputs beside the project."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the folder shared/ is not beside the project")
    return folder


def same(a, b):
    """Two graphs have the same edges and weights, however they are cut."""
    left, right = a.to_scipy(), b.to_scipy()
    assert left.shape == right.shape
    assert left.nnz == right.nnz
    assert (left != right).nnz == 0
    assert a.m == b.m
