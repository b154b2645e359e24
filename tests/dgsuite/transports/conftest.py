"""Kinds of transports."""

import dask
import pytest

from tests.support.comms import KINDS


@pytest.fixture(params=KINDS)
def kind(request):
    """A scheme, with the settings of a kind of it."""
    scheme, settings = KINDS[request.param]
    with dask.config.set(settings):
        yield scheme
