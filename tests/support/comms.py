"""Kinds of transports, and both ends of a comm, for tests."""

import asyncio
from contextlib import asynccontextmanager

import numpy as np
from distributed.comm import connect, listen

SCC = {"dgsuite.rcce": {"buffer": "8 KiB", "places": 48}}
SCC_SECTIONS = {"dgsuite.mpimpb": {"buffer": "8 KiB", "places": 48}}
SMALL = {"dgsuite.mpb": {"buffer": 4096}}

KINDS = {
    "uds": ("uds", {}),
    "mpb": ("mpb", {}),
    "mpb of 4 KiB": ("mpb", SMALL),
    "rcce": ("rcce", SCC),
    "mpimpb": ("mpimpb", {}),
    "mpimpb of the SCC": ("mpimpb", SCC_SECTIONS),
}


async def pair(scheme, **options):
    """Both ends of a comm, and the listener."""
    other = asyncio.get_running_loop().create_future()

    async def handle(comm):
        other.set_result(comm)

    listener = await listen(f"{scheme}://127.0.0.1", handle, deserialize=True)
    comm = await connect(listener.contact_address, **options)
    return comm, await other, listener


@asynccontextmanager
async def joined(scheme):
    """Both ends of a comm, which is over in the end."""
    here, there, listener = await pair(scheme)
    try:
        yield here, there
    finally:
        here.abort()
        there.abort()
        listener.stop()


def run(coroutine):
    """Run a test that must not hang; other processes may take the machine for minutes."""
    return asyncio.run(asyncio.wait_for(coroutine, 600))


def lumps(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, size, np.uint8) for size in sizes]
