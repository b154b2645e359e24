"""The tasks of a run on one host as threads of this process, joined by the comms of a real mesh."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from distributed.core import Server

from dgsuite.core.exchange.mesh import Mesh

BOUND = 20
"""Seconds after which an exchange is taken to wait for ever."""


class Meeting:
    """What tasks ask of their workers' plugin, as far as opening a mesh goes."""

    def __init__(self):
        self.address = None

    def enter(self, key, run, address, abort):
        self.address = address

    async def meet(self, run, epoch, **rest):
        while self.address is None:
            await asyncio.sleep(0.001)
        return self.address


def together(size, script, meets=True, scheme="tcp"):
    """What the tasks of a mesh return, by rank.

    Parameters
    ----------
    script
        A coroutine function of a task's mesh.
    meets
        Whether tasks meet at a gate in memory.
    scheme
        Of the comms of the workers.
    """

    async def main():
        servers, over = [], Barrier(size)
        for _ in range(size):
            meeting = Meeting()
            server = Server({"dgsuite_meet": meeting.meet}, deserialize=True)
            await server.listen(f"{scheme}://127.0.0.1:0")
            servers.append((server, meeting))
        places = [server.address for server, _ in servers]
        loop = asyncio.get_running_loop()
        try:
            with ThreadPoolExecutor(size) as pool:
                tasks = [
                    loop.run_in_executor(pool, _task, places, rank, meeting, script, meets, over)
                    for rank, (_, meeting) in enumerate(servers)
                ]
                return await asyncio.gather(*tasks)
        finally:
            for server, _ in servers:
                await server.close()

    return asyncio.run(main())


def _task(places, rank, meeting, script, meets, over):
    mesh = Mesh("0a", places, ["epoch"] * len(places), rank, shares=True)

    async def main():
        try:
            await mesh.open(meeting, "key", {}, {})
            if meets:
                await mesh.open_gate()
                assert mesh.gate is not None
            found = await script(mesh)
            # a comm that ends while another task still reads is a lost task
            await asyncio.to_thread(over.wait, BOUND)
            return found
        except BaseException:
            over.abort()
            raise
        finally:
            mesh.abort()

    try:
        return mesh.runner.run(asyncio.wait_for(main(), BOUND))
    finally:
        mesh.runner.close()
