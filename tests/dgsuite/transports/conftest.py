"""Kinds of transports, and tests that are coroutines."""

from __future__ import annotations

import inspect

import dask
import pytest

from tests.support.comms import KINDS, run


@pytest.fixture(params=KINDS)
def kind(request):
    """A scheme, with the settings of a kind of it."""
    scheme, settings = KINDS[request.param]
    with dask.config.set(settings):
        yield scheme


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine function."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
