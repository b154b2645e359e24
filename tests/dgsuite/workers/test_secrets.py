"""Who may join the tasks of a run: those that know its secret, over any transport; where runs listen."""

import asyncio
import secrets
from contextlib import nullcontext

import dask
import psutil
import pytest
from distributed.comm import CommClosedError, parse_address
from distributed.comm.inproc import global_manager
from distributed.comm.registry import get_backend

import dgsuite
from dgsuite.core.exchange.comms import SECRET, Listener, connected, ports
from dgsuite.core.transports import CLOCKS, fastest
from dgsuite.studies.experiment.clusters import local as own_cluster
from tests.support.comms import SCC, SCC_SECTIONS

local = pytest.mark.skipif(fastest() != "mpb", reason="these transports need Linux")
SCHEMES = ["tcp", "inproc", "ws", "throttle+tcp"]
LOCAL = ["uds", "mpb", "rcce", "mpimpb", "throttle+uds", "throttle+mpb"]
SCHEMES += [pytest.param(scheme, marks=local) for scheme in LOCAL]


class Loud:
    """Says when it is unpickled."""

    heard = False

    def __reduce__(self):
        return _hear, ()


def _hear():
    Loud.heard = True


async def stranger(address):
    """A comm that has sent nothing yet."""
    scheme, where = parse_address(address)
    return await get_backend(scheme).get_connector().connect(where, deserialize=True)


async def refused(comm, *messages):
    """Send some messages, and wait until the other end closes the comm, without a word."""

    async def talk():
        for message in messages:
            await comm.write(message)
        await comm.read()

    with pytest.raises(CommClosedError):
        await asyncio.wait_for(talk(), 40)
    comm.abort()


@pytest.mark.parametrize("settings", [{}, {**SCC, **SCC_SECTIONS}], ids=["", "SCC"])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_who_does_not_know_the_secret_is_refused(scheme, settings):
    """Who says nothing, too; what comes without the secret is no message of the run."""
    Loud.heard = False
    with dask.config.set(settings):
        came = asyncio.Queue()
        place = global_manager.new_address() if scheme == "inproc" else "127.0.0.1:1"

        async def welcome(comm):
            came.put_nowait((comm, await comm.read()))

        listener, other = Listener(welcome), Listener(welcome)
        for each in (listener, other):
            await each.start(scheme, f"{scheme}://{place}", {})
        address, secret = listener.where
        if scheme != "ws":  # its server does not end with the loop while a connection says nothing
            with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}):
                await refused(await stranger(address))
        await refused(await stranger(address), {"rank": 1, "loud": Loud()})
        for wrong in (other.where[1], secrets.token_bytes(SECRET)):
            await refused(await connected(address, wrong, {}))
        comm = await connected(address, secret, {})
        await comm.write({"rank": 1})
        there, said = await asyncio.wait_for(came.get(), 10)
        assert said == {"rank": 1}
        await there.write("welcome")
        assert await comm.read() == "welcome"
        assert came.empty()
        for each in (comm, there):
            each.abort()
        listener.stop()
        other.stop()
    assert Loud.heard == (scheme == "ws")  # Dask's shows whole messages alone


PORTS = [(None, [0]), (9100, [9100]), ("9100", [9100]), ("9100:9102", [9100, 9101, 9102])]
PORTS += [(wrong, None) for wrong in ("9102:9100", "any", 70000, -1, "9100-9102")]


@pytest.mark.parametrize(("setting", "expected"), PORTS)
def test_ports(setting, expected):
    refused = pytest.raises(dgsuite.InputError, match="must be a port such as 9100, or a range")
    with dask.config.set({"dgsuite.clocked.port": setting}), nullcontext() if expected else refused:
        assert list(ports()) == expected


def test_other_hosts_cannot_reach_a_cluster_of_our_own():
    """Neither its scheduler, nor its workers, nor the dashboard. Dask's clocks there are slow."""
    me = psutil.Process()
    before = {c.laddr for c in me.net_connections("inet")}
    with own_cluster(1, 1, "0") as client:
        assert client.dashboard_link
        processes = [me, *me.children(recursive=True)]
        found = {c for p in processes for c in p.net_connections("inet") if c.status == "LISTEN"}
        hosts = {c.laddr.ip for c in found if c.laddr not in before}
        ticks = client.run(dask.config.get, "distributed.admin.tick.interval")
    assert hosts == {"127.0.0.1"}
    assert {*ticks.values()} == {CLOCKS["distributed"]["admin"]["tick"]["interval"]}
