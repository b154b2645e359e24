"""Files in the memory of workers, at URLs such as ``workers://Client-1/mis/log.npz``.

A worker keeps what it writes, and one other worker has a copy; what a client writes is small, and all workers
have it. A file appears when it is complete. The files of a client are dropped when it leaves.
"""

from __future__ import annotations

import asyncio
import io
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from distributed import Client, Scheduler, SchedulerPlugin
from distributed.core import send_recv
from distributed.protocol import to_serialize
from distributed.utils import sync
from fsspec import AbstractFileSystem, register_implementation

from dgsuite.base.errors import InputError
from dgsuite.partition.client.session import Session, timeout

if TYPE_CHECKING:
    from dgsuite.core.workers.plugin import RunPlugin

PROTOCOL = "workers"

HANDLER = "dgsuite_files"
"""Name of the request that workers answer by `answer`."""

CONNECT = 2.0
"""Seconds to connect to another worker, which may be gone."""

clients: WeakValueDictionary[str, Client] = WeakValueDictionary()
"""Those of this process that have files, by id."""


class Held(NamedTuple):
    """A file in a worker's memory.

    Attributes
    ----------
    content
        Its bytes.
    copies
        If this worker wrote it: addresses of those that were sent a copy. The last one has it; others did
        not answer, and may have it.
    """

    content: bytes
    copies: tuple[str, ...] = ()


def of_client(url: str, client: Client | None) -> str:
    """The URL of a client's own folder, from ``workers://NAME``.

    Raises
    ------
    InputError
        There is no client, or no name.
    """
    name = url.removeprefix(f"{PROTOCOL}://").strip("/")
    if client is None or not name:
        raise InputError(
            f"checkpoints in the memory of workers ({url}) need a Dask client and a name, as in "
            f"{PROTOCOL}://mis; without a client give a folder"
        )
    return folder_of(client, name)


def folder_of(client: Client, name: str) -> str:
    """The URL of a folder of a client."""
    clients[client.id] = client
    return f"{PROTOCOL}://{client.id}/{name}"


def forget(files: dict[str, Held], gone: str) -> None:
    """Note that a worker that is gone or frozen has no copies, so that it is asked for none of them.

    Each request would take `CONNECT` seconds, or `timeout`.
    """
    for name, held in [*files.items()]:
        if gone in held.copies and name in files:
            files[name] = held._replace(copies=tuple(c for c in held.copies if c != gone))


def answer(files: dict[str, Held], what: str, name: str, data: Any = None) -> Any:
    """What a worker does with its files on request.

    Parameters
    ----------
    files
        By name.
    what
        ``"read"`` or ``"write"`` the file of that name; ``"sizes"`` or ``"drop"``: tell the sizes of all
        files whose name begins so, or drop them.
    """
    if what == "write":
        files[name] = Held(data)
    elif what == "read":
        return to_serialize(files[name].content if name in files else None)
    else:
        found = {
            other: len(held.content) for other, held in [*files.items()] if other.startswith(name)
        }
        if what == "sizes":
            return found
        for other in found:
            files.pop(other, None)
    return None


class WorkersFileSystem(AbstractFileSystem):
    """The files, as seen from a client or from a task on a worker."""

    protocol = PROTOCOL
    cachable = False  # a client and tasks of several workers may share a process
    in_memory = True

    def __init__(self, **options: Any) -> None:
        from dgsuite.core.workers.plugin import plugin

        super().__init__(**options)
        try:
            self._plugin: RunPlugin | None = plugin()
        except ValueError:  # not in a task
            self._plugin = None

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        name = self._strip_protocol(path)
        sizes = self._sizes(name)
        if name in sizes:
            return {"name": name, "size": sizes[name], "type": "file"}
        if any(other.startswith(f"{name}/") for other in sizes):
            return {"name": name, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        name = self._strip_protocol(path)
        sizes = self._sizes(f"{name}/")
        if not detail:
            return [*sizes]
        return [{"name": n, "size": size, "type": "file"} for n, size in sizes.items()]

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """There are no folders but in names."""

    def rmdir(self, path: str) -> None:
        """There are no folders but in names."""

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        name = self._strip_protocol(path)
        if self._plugin is not None and name in self._plugin.files:
            return self._plugin.files[name].content[start:end]
        for address in self._everywhere("sizes", name):
            content = self._ask(address, "read", name)
            if content is not None:
                return bytes(content)[start:end]
        raise FileNotFoundError(path)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        name = self._strip_protocol(path)
        if self._plugin is None:
            self._everywhere("write", name, value)
            return
        if name in self._plugin.files:
            self.rm_file(path)
        held = self._plugin.files[name] = Held(value)
        for address in self._others(self._plugin):
            held = self._plugin.files[name] = Held(value, (*held.copies, address))
            try:
                self._ask(address, "write", name, to_serialize(value))
                return
            except OSError:  # the next one gets the copy
                self._plugin.neighbours = []

    def rm_file(self, path: str) -> None:
        name = self._strip_protocol(path)
        held = None if self._plugin is None else self._plugin.files.get(name)
        if held is None or not held.copies:  # another worker may have written it
            self._everywhere("drop", name)
            return
        assert self._plugin is not None
        del self._plugin.files[name]
        for address in held.copies:
            with suppress(OSError):  # gone, and its files too
                self._ask(address, "drop", name)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> io.BytesIO:
        return io.BytesIO(self.cat_file(path)) if mode == "rb" else _Written(self, path)

    def _sizes(self, name: str) -> dict[str, int]:
        """Sizes of the files whose name begins so."""
        sizes: dict[str, int] = {}
        for found in self._everywhere("sizes", name).values():
            sizes |= found
        return sizes

    def _others(self, plugin: RunPlugin) -> list[str]:
        """Addresses of other workers, from the one after this one on."""
        here, known = plugin.worker.address, plugin.neighbours
        if not known:
            there = sorted(self._everywhere("sizes", "/"))  # no name begins so: addresses alone
            at = there.index(here) if here in there else 0
            known = [address for address in there[at + 1 :] + there[:at] if address != here]
            plugin.neighbours = known
        return known

    def _everywhere(self, what: str, name: str, data: Any = None) -> dict[str, Any]:
        """The answers of all workers that give one, by address."""
        return self._broadcast(None, what, name, data)

    def _ask(self, address: str, what: str, name: str, data: Any = None) -> Any:
        """A worker's answer; a client gets it by way of the scheduler.

        Raises
        ------
        OSError
            The worker is gone, or does not answer.
        """
        if self._plugin is None:
            return self._broadcast([address], what, name, data).get(address)
        plugin, worker = self._plugin, self._plugin.worker

        async def ask() -> Any:
            try:
                async with asyncio.timeout(CONNECT):  # Dask's own does not bound the handshake
                    comm = await worker.rpc.connect(address)
                try:
                    request = send_recv(comm, op=HANDLER, what=what, name=name, data=data)
                    return await asyncio.wait_for(request, timeout())
                finally:
                    worker.rpc.reuse(address, comm)
            except OSError:
                forget(plugin.files, address)
                raise

        return sync(worker.loop, ask)

    def _broadcast(
        self, workers: list[str] | None, what: str, name: str, data: Any
    ) -> dict[str, Any]:
        """Send a request to workers through the scheduler.

        Raises
        ------
        OSError
            A worker is frozen.
        """
        message = {"op": HANDLER, "what": what, "name": name, "data": data}
        asked: dict[str, Any] = {"msg": message, "workers": workers, "on_error": "ignore"}
        if self._plugin is not None:
            worker = self._plugin.worker
            ask, most = worker.scheduler.broadcast, timeout()
            found: dict[str, Any] = sync(worker.loop, ask, callback_timeout=most, **asked)
            return found
        client = clients.get(name.partition("/")[0])
        if client is None:
            raise FileNotFoundError(f"{PROTOCOL}://{name}: its client is not in this process")
        found = Session.of(client).ask("broadcast", **asked)
        return found


class _Written(io.BytesIO):
    """A file that is being written; it appears when it is closed."""

    def __init__(self, files: WorkersFileSystem, path: str) -> None:
        super().__init__()
        self.files = files
        self.path = path

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.files.pipe_file(self.path, self.getvalue())
        super().__exit__(kind, error, trace)


class FilesPlugin(SchedulerPlugin):
    """Has workers drop the files of a client that leaves."""

    name = "dgsuite-files"
    idempotent = True

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        message = {"op": HANDLER, "what": "drop", "name": f"{client}/"}
        scheduler.loop.add_callback(scheduler.broadcast, msg=message, on_error="ignore")


register_implementation(PROTOCOL, WorkersFileSystem, clobber=True)
