"""Ports on which clocked runs listen."""

import dask
import pytest

import dgsuite
from dgsuite.core.exchange.comms import ports


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(None, [0]), (9100, [9100]), ("9100", [9100]), ("9100:9102", [9100, 9101, 9102])],
)
def test_ports(setting, expected):
    with dask.config.set({"dgsuite.clocked.port": setting}):
        assert list(ports()) == expected


@pytest.mark.parametrize("setting", ["9102:9100", "any", 70000, -1, "9100-9102"])
def test_ports_that_cannot_be(setting):
    with (
        dask.config.set({"dgsuite.clocked.port": setting}),
        pytest.raises(dgsuite.InputError, match="must be a port such as 9100, or a range"),
    ):
        ports()
