"""Hosts of a network on one machine: a network namespace each, joined by a bridge.

Processes of a host see its interfaces and names alone, as on a machine of its own. It takes Linux, root and
iproute2; `missing` says what is not there. A delay is made by `switch.py`, since not every kernel has
``netem``.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dgsuite.studies.experiment.namespaces import ip, missing

__all__ = ["Hosts", "missing"]

PORT = 8786

SWITCH = Path(__file__).with_name("switch.py")

BOUND = 60
"""Seconds in which a scheduler and its workers must be there."""


class Hosts:
    """Hosts 0, 1, ... on one network, as a context manager.

    Parameters
    ----------
    count
        How many there are.
    delay
        Seconds that each message takes longer from one host to another.

    Notes
    -----
    Host ``k`` has ``eth0`` with 10.77.0.{k + 1} and fd77::{k + 1}, ``eth1`` with 10.78.0.{k + 1}, and the
    name ``host-k``, which only hosts can resolve.
    """

    def __init__(self, count: int, delay: float = 0) -> None:
        self.count, self.delay = count, delay
        self.prefix = f"dgsuite-{os.getpid()}-{time.monotonic_ns() % 10**6}"

    def space(self, host: int | str) -> str:
        """Name of a host's network namespace."""
        return f"{self.prefix}-{host}"

    def __enter__(self) -> Hosts:
        with ExitStack() as stack:
            self._add(stack, "switch")
            for net in (0, 1):
                ip(f"link add net{net} type bridge", self.space("switch"))
                ip(f"link set net{net} up", self.space("switch"))
            names = "".join(f"10.77.0.{k + 1} host-{k}\n" for k in range(self.count))
            for host in range(self.count):
                self._add(stack, host)
                folder = Path("/etc/netns", self.space(host))  # ip netns exec mounts it over /etc
                folder.mkdir(parents=True)
                stack.callback(shutil.rmtree, folder)
                (folder / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
            if self.delay:
                self._switch(stack)
            for host in range(self.count):
                for net in (0, 1):
                    self._connect(host, net)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _add(self, stack: ExitStack, host: int | str) -> None:
        subprocess.run(["ip", "netns", "add", self.space(host)], check=True)
        stack.callback(subprocess.run, ["ip", "netns", "del", self.space(host)], check=True)
        ip("link set lo up", self.space(host))

    def _switch(self, stack: ExitStack) -> None:
        """Make every host's first interface, with a switch between them that delays."""
        spaces = [self.space(host) for host in range(self.count)]
        command = [sys.executable, str(SWITCH), str(self.delay), *spaces]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        stack.enter_context(process)  # its standard input is closed at the end, which ends it
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the switch did not start")

    def _connect(self, host: int, net: int) -> None:
        space, device = self.space(host), f"eth{net}"
        if net or not self.delay:
            there = f"h{host}n{net}"
            switch = self.space("switch")
            ip(f"link add {device} type veth peer name {there} netns {switch}", space)
            ip(f"link set {there} master net{net} up", switch)
        ip(f"addr add 10.{77 + net}.0.{host + 1}/24 dev {device}", space)
        if net == 0:
            ip(f"addr add fd77::{host + 1}/64 dev {device} nodad", space)
        ip(f"link set {device} up", space)

    def start(self, host: int, command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Start a command on a host."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.space(host), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    def run(self, host: int, command: Sequence[str], bound: float = 120) -> str:
        """What a command on a host prints.

        Raises
        ------
        RuntimeError
            It fails, with what it printed.
        """
        with self.start(host, command) as process:
            try:
                out, _ = process.communicate(timeout=bound)
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
                raise RuntimeError(f"not over after {bound} s:\n{out}") from None
        if process.returncode:
            raise RuntimeError(out)
        return out

    @contextmanager
    def entered(self, host: int) -> Iterator[None]:
        """Have this thread be on a host, with all threads and processes that it starts."""
        with open("/proc/self/ns/net") as home, open(f"/run/netns/{self.space(host)}") as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())

    def cut(self, host: int) -> None:
        """Take a host off the network, without a word to the others."""
        for net in (0, 1):
            ip(f"link set eth{net} down", self.space(host))

    @contextmanager
    def cluster(
        self,
        workers: int = 1,
        scheduler: Sequence[str] = ("--host", "10.77.0.1"),
        address: str = f"tcp://10.77.0.1:{PORT}",
        worker: Sequence[str] = (),
    ) -> Iterator[str]:
        """A scheduler on host 0 and some worker processes on each host; its address for clients there.

        Parameters
        ----------
        workers
            Worker processes of one thread on each host.
        scheduler, worker
            Further options of ``dask scheduler`` and of ``dask worker``.
        address
            At which workers and clients find the scheduler.
        """
        dask = [sys.executable, "-m", "dask"]
        quiet = ["--no-dashboard"]
        every = ["--nthreads", "1", "--nworkers", str(workers), "--death-timeout", str(BOUND)]
        with ExitStack() as stack:
            each = ["worker", address, *every, *quiet, *worker]
            commands = [["scheduler", "--port", str(PORT), "--no-show", *quiet, *scheduler]]
            hosts = [0, *range(self.count)]
            for host, command in zip(hosts, commands + [each] * self.count, strict=True):
                process = self.start(host, [*dask, *command], start_new_session=True)
                stack.callback(_end, process)
            yield address


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


def _end(process: subprocess.Popen[str]) -> None:
    """End a command and all that it has started."""
    with process:
        try:
            os.killpg(process.pid, 15)
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            return
