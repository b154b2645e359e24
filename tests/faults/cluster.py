"""A scheduler and three workers, each a process of its own, on this host or on hosts of a network."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

WORKERS = 3

ENDING = 60
"""Seconds in which workers must have ended after their scheduler."""

Process = subprocess.Popen[bytes]

QUIET = ("--no-dashboard",)


def free_port() -> int:
    """A port of this host that nothing listens at, and that no connection gets before it is used."""
    while True:
        with socket.socket() as sock, suppress(OSError):
            sock.bind(("127.0.0.1", random.SystemRandom().randrange(20_000, 30_000)))
            return int(sock.getsockname()[1])


def command(
    name: str, *arguments: str, host: str = "127.0.0.1", prefix: Sequence[str] = ()
) -> Process:
    """Start a command of Dask's: ``scheduler``, or ``worker`` with its nanny."""
    return subprocess.Popen(
        [*prefix, sys.executable, "-m", f"distributed.cli.dask_{name}", "--host", host, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def end(process: Process) -> None:
    """End a process that `command` has started, with its children."""
    children = (
        psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    )
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in psutil.wait_procs(children, timeout=5)[1]:
        child.kill()


@contextmanager
def scheduler() -> Iterator[tuple[Process, str]]:
    """A scheduler process and its address."""
    port = free_port()
    process = command("scheduler", "--port", str(port), *QUIET)
    try:
        yield process, f"tcp://127.0.0.1:{port}"
    finally:
        end(process)


class Cluster:
    """The processes, as a context manager.

    Worker 0 has a port of its own, so that a process that takes its place has its address; the others take
    any port.

    Parameters
    ----------
    spaces
        Network namespaces of the hosts: of the scheduler, which must be that of this process, and of each
        worker. None if all is on this host.
    addresses
        Their addresses.

    Attributes
    ----------
    address
        Of the scheduler.
    apart
        Whether each process is on a host of its own, so that links can be cut.
    """

    def __init__(self, spaces: Sequence[str] = (), addresses: Sequence[str] = ()) -> None:
        self.hosts = list(addresses) or ["127.0.0.1"] * (WORKERS + 1)
        self.prefixes = [["ip", "netns", "exec", space] for space in spaces] or [[]] * (WORKERS + 1)
        self.apart = bool(spaces)
        self.address = f"tcp://{self.hosts[0]}:{free_port()}"
        self.port = free_port()

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory())
            stack.callback(self._end)
            self.processes: list[Process] = []
            self.start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self) -> None:
        """Start all processes; those of before have ended."""
        port = self.address.rpartition(":")[2]
        self.processes = [command("scheduler", "--port", port, *QUIET, host=self.hosts[0])]
        self.processes += [self._worker(number) for number in range(WORKERS)]

    def _worker(self, number: int) -> Process:
        """Start a worker with its nanny."""
        own = ["--name", str(number), "--nthreads", "1", "--local-directory", self.folder, *QUIET]
        if number == 0:
            own += ["--worker-port", str(self.port)]
        host, prefix = self.hosts[number + 1], self.prefixes[number + 1]
        return command("worker", self.address, *own, host=host, prefix=prefix)

    def mend(self, there: Collection[str]) -> None:
        """Start anew, with their nannies, the workers that are not among these names.

        A nanny that fails once to start its worker never tries again.
        """
        for number in range(WORKERS):
            if str(number) not in there:
                end(self.processes[number + 1])
                self.processes[number + 1] = self._worker(number)

    def restart(self) -> list[int]:
        """Start all processes anew, where the scheduler is gone.

        Returns
        -------
        Those of the workers that have not ended with it, within some time.
        """
        workers = [psutil.Process(p.pid) for p in self.processes[1:] if p.poll() is None]
        there = [*workers, *(child for worker in workers for child in worker.children())]
        _, stayed = psutil.wait_procs(there, timeout=ENDING)
        self._end()
        self.start()
        return [process.pid for process in stayed]

    def files(self) -> list[str]:
        """What is in the workers' folder, apart from Dask's own."""
        return [p.name for p in Path(self.folder).iterdir() if p.name != "dask-scratch-space"]

    def _end(self) -> None:
        for process in reversed(self.processes):
            end(process)
