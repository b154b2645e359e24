"""Fixtures for all tests: real worker processes, shared inputs, Hypothesis profiles."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import originals
import pytest
from hypothesis import settings


def heed_interrupts() -> None:
    """For subprocesses that get a SIGINT: a shell's background jobs inherit that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def interruptible():
    """This process raises KeyboardInterrupt on SIGINT, also where it was started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


os.environ.setdefault("DGSUITE_CHECK", "1")  # also of commands that tests start

settings.register_profile("default", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@contextmanager
def client_of(workers, settings=None):
    """A client of some worker processes, with settings of Dask's."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(settings or {}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def client():
    """A client of two worker processes."""
    with client_of(2) as client:
        yield client


@pytest.fixture(scope="session")
def client_of_one():
    """A client of one worker process."""
    with client_of(1) as client:
        yield client


@pytest.fixture(scope="session")
def imsuite_inputs(tmp_path_factory):
    """A folder of IMSuite's input files: ``generated``, ``original-64`` and ``original-other``."""
    folder = tmp_path_factory.mktemp("imsuite")
    originals.write_all(folder)
    return folder


def same(a, b):
    """Two graphs have the same edges and weights, however they are cut."""
    left, right = a.to_scipy(), b.to_scipy()
    assert left.shape == right.shape
    assert left.nnz == right.nnz
    assert (left != right).nnz == 0
    assert a.m == b.m
