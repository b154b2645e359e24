"""Workers in network namespaces of this machine, whose links the kernel limits.

Each worker has an address of its own and a link to a common bridge. Linux's ``tc`` limits what clocked runs
exchange over the links, which it knows by the ports; graphs on their way to the workers, and results on their
way home, take no longer. It takes Linux, root and iproute2.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgsuite.base.errors import InputError, RunError
from dgsuite.partition.client.session import Session
from dgsuite.studies.transports.throttle import TICK, Limit, make

if TYPE_CHECKING:
    from distributed import Client

RANGE = IPv4Network("10.213.0.0/16")
"""Where the addresses of namespaces are taken from; each network has a block of `MAX_WORKERS` hosts."""

MAX_WORKERS = 250
"""Workers that a network can have."""

PORTS, MASK = 24576, 0xFF80
"""Where clocked runs listen: ports that are the first under the mask. The system's own choice is higher."""

CLASSES = """
qdisc add dev {device} root handle 1: htb default 1
class add dev {device} parent 1: classid 1:1 htb rate 100gbit quantum 60000
class add dev {device} parent 1: classid 1:2 htb rate 100gbit quantum 60000
filter add dev {device} parent 1: protocol ip u32 match ip dport {ports} {mask} flowid 1:2
filter add dev {device} parent 1: protocol ip u32 match ip sport {ports} {mask} flowid 1:2
"""
"""What has ``tc`` put exchanges into a class of their own, 1:2."""

PACKET = 1536
"""Bytes that a link passes at once, at least: a packet of Ethernet must fit, with its header."""

QUEUE = 1 << 22
"""Bytes that wait at a link, at most; TCP keeps far fewer there."""

START = 60
"""Seconds in which workers must have started."""

_numbers = itertools.count()


def missing(limit: Limit | None = None) -> str:
    """Why there cannot be namespaces here, perhaps with links of some limit; empty if there can."""
    for name in ("ip", "tc"):
        if shutil.which(name) is None:
            return f"there is no command {name} (iproute2)"
    space = f"dgsuite-{os.getpid()}-{next(_numbers)}-try"
    try:
        ip(f"netns add {space}")
    except RunError as error:
        return f"network namespaces are not permitted: {error}"
    try:
        if limit is not None:
            _prepare("lo", space)
            _slow("lo", space, limit)
    except RunError as error:
        return str(error)
    finally:
        ip(f"netns del {space}")
    return ""


def check(latency: float | str = 0) -> None:
    """Make sure that there can be namespaces here, with limited links.

    Raises
    ------
    InputError
        The system, rights or programs do not allow it, or the kernel cannot delay packets.
    """
    if why := missing(make("1 MB", latency=latency)):
        raise InputError(f"throttle.means 'tc': {why}")


def command(*words: str) -> str:
    """What a command prints.

    Raises
    ------
    RunError
        It fails; with what it says.
    """
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RunError(f"{' '.join(words)}: {' '.join(done.stderr.split())}")
    return done.stdout


def ip(words: str, space: str | None = None) -> str:
    """Call ``ip``, perhaps on a namespace."""
    return command("ip", *([] if space is None else ["-n", space]), *words.split())


def tc(words: str, space: str) -> str:
    """Call ``tc`` on a namespace."""
    return command("tc", "-n", space, *words.split())


class Network:
    """Hosts 0, 1, ... in namespaces that a bridge joins, as a context manager that leaves nothing behind.

    Parameters
    ----------
    hosts
        How many there are.

    Attributes
    ----------
    address
        Of this process, on the network.
    addresses
        Of the hosts.
    """

    def __init__(self, hosts: int) -> None:
        if hosts > MAX_WORKERS:
            raise InputError(f"there can be at most {MAX_WORKERS} network namespaces, got {hosts}")
        self.hosts = hosts
        self._name = f"dgsuite-{os.getpid()}-{next(_numbers)}"
        self._closing = ExitStack()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._limited = False

    def space(self, host: int | str) -> str:
        """Name of a host's namespace."""
        return f"{self._name}-{host}"

    def __enter__(self) -> Network:
        net = _free()
        self.address, *self.addresses = (str(net[k + 1]) for k in range(self.hosts + 1))
        switch = self.space("switch")
        try:
            self._add("switch")
            ip("link add bridge up type bridge", switch)
            device = self._name.replace("suite", "").replace("-", "")[:15]
            self._remove("link", device)  # the kernel removes what is in namespaces later on
            ip(f"link add {device} type veth peer name here netns {switch}")
            ip("link set here up master bridge", switch)
            ip(f"addr add {self.address}/{net.prefixlen} dev {device}")
            ip(f"link set {device} up")
            for host, address in enumerate(self.addresses):
                space = self.space(host)
                self._add(host)
                ip("link set lo up", space)
                ip(f"link add data type veth peer name host{host} netns {switch}", space)
                ip(f"link set host{host} up master bridge", switch)
                ip(f"addr add {address}/{net.prefixlen} dev data", space)
                ip("link set data up", space)
                _prepare("data", space)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what was started, and remove the namespaces, with the interfaces that are in them."""
        self.end()
        self._closing.close()

    def end(self) -> None:
        """Kill what was started, with all that it has started; to ask workers takes seconds."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()

    def _add(self, host: int | str) -> None:
        """Make a namespace."""
        self._remove("netns", self.space(host))
        ip(f"netns add {self.space(host)}")

    def _remove(self, kind: str, name: str) -> None:
        """Remove at the end what is about to be made: an interrupt may come before it is there."""
        words = ["ip", kind, "del", name]
        self._closing.callback(subprocess.run, words, stderr=subprocess.DEVNULL)

    def start(self, host: int, words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start a command on a host; it ends with the network."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(host), *words],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process, which ends the others
            **options,
        )
        self._processes.append(process)
        return process

    def has_lost(self) -> bool:
        """Whether a process that was started has ended."""
        return any(process.poll() is not None for process in self._processes)

    def limit(
        self,
        nominal: float | str | None = None,
        percent: float = 100,
        latency: float | str = 0,
        scope: str = "process",
        traffic: str = "exchange",
    ) -> Limit:
        """Change what hosts may send each other from now on; without ``nominal``, all they can.

        The parameters are those of `dgsuite.studies.transports.throttle.limit`. The latency is that of a
        packet. Scope and traffic can be no others.

        Raises
        ------
        InputError
            A value that cannot be.
        RunError
            The kernel cannot do it.
        """
        made = make(nominal, latency, percent=percent, scope=scope, traffic=traffic)
        if (made.scope, made.traffic) != ("process", "exchange"):
            raise InputError(f"tc limits what a process exchanges, not {scope!r} and {traffic!r}")
        for host in range(self.hosts):
            if made.rate is not None:
                _slow("data", self.space(host), made)
            elif self._limited:
                tc("qdisc del dev data parent 1:2", self.space(host))
        self._limited = made.rate is not None
        return made

    def sent(self) -> list[int]:
        """Bytes of exchanges that each host has sent to others so far, with the headers of packets."""
        texts = (tc("-s class show dev data classid 1:2", self.space(k)) for k in range(self.hosts))
        return [int(re.findall(r"Sent (\d+) bytes", text)[0]) for text in texts]


def _prepare(device: str, space: str) -> None:
    """Have exchanges in a class of their own on a device of a host."""
    for line in CLASSES.strip().format(device=device, ports=PORTS, mask=hex(MASK)).splitlines():
        tc(line, space)


def _slow(device: str, space: str, limit: Limit) -> None:
    """Limit exchanges: by a token bucket; with a latency by netem, which fewer kernels have."""
    assert limit.rate is not None
    rate = f"rate {8 * limit.rate:.0f}bit"
    if limit.latency:
        how = f"netem {rate} delay {limit.latency * 1e6:.0f}us limit {QUEUE // PACKET}"
    else:
        how = f"tbf {rate} burst {max(PACKET, round(limit.rate * TICK))} limit {QUEUE}"
    tc(f"qdisc replace dev {device} parent 1:2 {how}", space)


def _free() -> IPv4Network:
    """A block of addresses that this machine has no route of its own to."""
    routes = json.loads(ip("-4 -j route show table all"))
    nets = [IPv4Network(r["dst"], strict=False) for r in routes if r["dst"] != "default"]
    taken = [net for net in nets if net.prefixlen >= RANGE.prefixlen]  # ours go before wider ones
    blocks = list(RANGE.subnets(new_prefix=24))
    for k in range(len(blocks)):
        block = blocks[(os.getpid() + k) % len(blocks)]  # commands that start together take others
        if not any(block.overlaps(net) for net in taken):
            return block
    raise RunError(f"no addresses are left in {RANGE} for network namespaces")


@contextmanager
def cluster(
    workers: int, threads: int, memory_limit: str, protocol: str | None = None
) -> Iterator[tuple[Client, Network]]:
    """A client of a cluster of our own whose workers are on hosts of a network, which ends with it.

    Raises
    ------
    InputError
        There cannot be namespaces here; see `check`.
    RunError
        A worker does not start.
    """
    import logging

    import dask
    from distributed import Client, LocalCluster

    from dgsuite.core.transports import slow_clocks

    check()
    slow_clocks()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dgsuite-")))
        network = stack.enter_context(Network(workers))
        scheduler = stack.enter_context(
            LocalCluster(
                n_workers=0,
                host=network.address,
                protocol=protocol,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        )
        client = stack.enter_context(
            Client(scheduler, set_as_default=False, direct_to_workers=True)
        )
        with dask.config.set({"dgsuite.clocked.port": f"{PORTS}:{PORTS + (~MASK & 0xFFFF)}"}):
            inherited = dask.config.serialize(dask.config.global_config)
        memory = str(1 / workers) if memory_limit == "auto" else memory_limit
        log = stack.enter_context(open(folder / "log", "wb"))
        try:
            for host, address in enumerate(network.addresses):
                network.start(
                    host,
                    [
                        *(sys.executable, "-m", "dask", "worker", scheduler.scheduler_address),
                        *("--host", address, "--nthreads", str(threads), "--memory-limit", memory),
                        *("--no-nanny", "--no-dashboard", "--local-directory", str(folder)),
                        *("--death-timeout", str(START)),
                    ],
                    env={**os.environ, "DASK_INTERNAL_INHERIT_CONFIG": inherited},
                    stdout=log,
                    stderr=log,
                )
            _wait(client, workers, network, folder / "log")
            yield client, network
        finally:
            network.end()  # the scheduler would wait for its workers; then it needs its address to close


def _wait(client: Client, workers: int, network: Network, log: Path) -> None:
    """Wait until all workers are there."""
    deadline = time.monotonic() + START
    while len(Session.of(client).workers()) < workers:
        if network.has_lost() or time.monotonic() > deadline:
            said = log.read_text(encoding="utf-8", errors="replace").strip() or "it said nothing"
            last = said.splitlines()[-1]
            raise RunError(f"a worker in a network namespace does not start: {last}")
        time.sleep(0.05)
