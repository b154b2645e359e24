"""Less bandwidth than there is: what a process sends, paced inside each message.

``throttle+tcp://`` is Dask's TCP with a limit, in the role of the emulator InterSense (Medya et al. 2016,
section 4): a percentage of a nominal bandwidth, for each link (one direction of a comm) or for all that a
process sends, with a latency before each message if asked for. Other transports have theirs in
`dgsuite.studies.transports.throttled`. The limit comes from Dask's configuration when a
process starts (``dgsuite.throttle``, with the keys of `make`), and `limit` changes it on running workers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

import dask
from distributed import Client
from distributed.comm import CommClosedError
from distributed.comm.tcp import TCP, BaseTCPBackend, TCPConnector, TCPListener
from tornado.iostream import StreamClosedError

from dgsuite.base.errors import InputError
from dgsuite.core.transports.framed import serialised
from dgsuite.partition.client.settings import setting
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses

SLICE, TICK = 1 << 16, 2.5e-4
"""Bytes released at a time, or seconds' worth of them, whichever is more."""

BURST = 4e-3
"""Seconds that a sender may be behind its schedule and catch up; a loop sleeps in whole milliseconds."""

GAP = 2e-3
"""Seconds between messages that count as one stream, in which what one loses the next may catch up."""

FINE = 1e-3
"""Seconds before the end of a message in which the thread itself sleeps, which is exact."""


@dataclass(frozen=True)
class Limit:
    """How fast a process may send.

    Attributes
    ----------
    nominal
        Bytes a second that count as 100 %; None for no limit.
    percent
        Share of it.
    latency
        Seconds before each message.
    scope
        "link": each direction of each comm has the bandwidth to itself. "process": all share it.
    traffic
        "all", or "exchange": only what clocked runs exchange, so that a graph's way to the workers and
        results' way home take no longer.
    """

    nominal: float | None = None
    percent: float = 100
    latency: float = 0
    scope: str = "link"
    traffic: str = "all"

    def __post_init__(self) -> None:
        if self.nominal is not None and not self.nominal > 0:
            raise InputError(f"throttle.nominal must be above 0 bytes a second, got {self.nominal}")
        if not 0 < self.percent <= 100:
            raise InputError(
                f"throttle.percent must be above 0 and at most 100, got {self.percent}"
            )
        if not 0 <= self.latency < float("inf"):
            raise InputError(f"throttle.latency must be at least 0 seconds, got {self.latency}")
        if self.scope not in ("link", "process"):
            raise InputError(f"throttle.scope must be 'link' or 'process', got {self.scope!r}")
        if self.traffic not in ("all", "exchange"):
            raise InputError(f"throttle.traffic must be 'all' or 'exchange', got {self.traffic!r}")

    @property
    def rate(self) -> float | None:
        """Bytes a second, or None."""
        return None if self.nominal is None else self.nominal * self.percent / 100

    @classmethod
    def configured(cls) -> Limit:
        """What Dask's configuration says."""
        return make(**setting("dgsuite.throttle"))


def make(nominal: float | str | None = None, latency: float | str = 0, **others: Any) -> Limit:
    """A limit, from numbers or from text such as "400 MB" (a second) and "50us".

    Raises
    ------
    InputError
        A value that cannot be.
    """
    try:
        size = dask.utils.parse_bytes(nominal) if isinstance(nominal, str) else nominal
        delay = dask.utils.parse_timedelta(latency) if isinstance(latency, str) else latency
    except (ValueError, KeyError) as error:
        raise InputError(f"throttle: {error}") from None
    return Limit(size, latency=delay, **others)


class Bucket:
    """When the next bytes may leave: a schedule in virtual time, shared by threads."""

    def __init__(self) -> None:
        self._free = 0.0
        self._lock = threading.Lock()

    def begin(self, now: float) -> None:
        """A message begins: unused time is lost, except for the gaps of a stream."""
        with self._lock:
            if now - self._free > GAP:
                self._free = now

    def take(self, size: int, rate: float, now: float) -> float:
        """Seconds from now at which bytes that are asked for now may have left."""
        with self._lock:
            self._free = max(self._free, now - BURST) + size / rate
            return self._free - now


class Throttle:
    """The limit of this process."""

    def __init__(self) -> None:
        self.shared = Bucket()
        self._lock = threading.Lock()
        self._limit: Limit | None = None

    @property
    def limit(self) -> Limit:
        """The limit in force; assign to change it."""
        with self._lock:  # the loops of several tasks ask, and a client may assign meanwhile
            if self._limit is None:
                self._limit = Limit.configured()
            return self._limit

    @limit.setter
    def limit(self, limit: Limit) -> None:
        with self._lock:
            self._limit = limit


HERE = Throttle()


def limit(
    client: Client,
    nominal: float | str | None = None,
    percent: float = 100,
    latency: float | str = 0,
    scope: str = "link",
    traffic: str = "all",
) -> Limit:
    """Change what the workers of a client may send from now on; without ``nominal``, all they can.

    Parameters
    ----------
    client
        Of a cluster with a throttled protocol, such as ``LocalCluster(protocol="throttle+tcp")``.
    nominal
        Bytes a second that count as 100 %, as a number or as text such as "400 MB".
    percent
        Share of it, above 0 and at most 100.
    latency
        Seconds before each message, or text such as "50us".
    scope
        "link" or "process": what the bandwidth is for.
    traffic
        "all" or "exchange": what is limited.

    Raises
    ------
    InputError
        A value that cannot be, or a cluster whose workers talk over another transport.

    Examples
    --------
    >>> from dask.distributed import Client, LocalCluster
    >>> from dgsuite.studies.transports import limit
    >>> with LocalCluster(
    ...     n_workers=1, processes=False, protocol="throttle+tcp", dashboard_address=None
    ... ) as cluster, Client(cluster) as client:
    ...     limit(client, "400 MB", percent=25)
    Limit(nominal=400000000, percent=25, latency=0, scope='link', traffic='all')
    """
    made = make(nominal, latency, percent=percent, scope=scope, traffic=traffic)
    address = client.scheduler.address
    if not address.startswith("throttle+"):
        raise InputError(
            f"the cluster at {address} cannot be throttled; start it with protocol='throttle+tcp'"
        )
    watch = Watch(client, "limiting what workers send", worker_addresses(client))
    watch.call(partial(client.run, _set, made))
    return made


def _set(made: Limit) -> None:
    HERE.limit = made


Put = Callable[[Sequence[memoryview]], Awaitable[None]]
"""How a comm sends bytes."""


class Paced:
    """What makes a comm keep to the limit of the process, whatever carries its bytes."""

    exchange = False
    """Whether it belongs to a clocked run; that sets it."""

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket()

    def _limit(self) -> Limit | None:
        """What holds for the next message, if anything does."""
        limit = HERE.limit
        free = limit.traffic == "exchange" and not self.exchange
        return None if free or (limit.rate is None and not limit.latency) else limit

    async def _release(self, views: Sequence[memoryview], limit: Limit, put: Put) -> None:
        """Send a message slice by slice, each as soon as the limit allows."""
        await asyncio.sleep(limit.latency)
        rate = limit.rate
        if rate is None:
            await put(views)
            return
        bucket = HERE.shared if limit.scope == "process" else self._bucket
        bucket.begin(time.perf_counter())
        step = max(SLICE, int(rate * TICK))
        left = sum(view.nbytes for view in views)
        for view in views:
            for start in range(0, view.nbytes, step):
                piece = view[start : start + step]
                left -= piece.nbytes
                await _pace(bucket, piece.nbytes, rate, last=not left)
                await put([piece])


class Throttled(Paced, TCP):
    """TCP with a limit."""

    @cached_property
    def _turn(self) -> asyncio.Lock:
        return asyncio.Lock()

    async def write(self, msg: Any, serializers: Any = None, on_error: str = "message") -> int:
        limit = self._limit()
        if limit is None:
            return cast(int, await super().write(msg, serializers, on_error))
        async with self._turn:
            views = await serialised(self, msg, serializers, on_error, self.max_shard_size)
            try:
                await self._release(views, limit, self._put)
            except BaseException:
                # half a message may have left: nothing that follows could be understood
                self.abort()
                raise
            return sum(view.nbytes for view in views)

    async def _put(self, views: Sequence[memoryview]) -> None:
        for view in views:
            if self.stream is None:
                raise CommClosedError
            try:
                await self.stream.write(view)
            except StreamClosedError as error:
                raise CommClosedError(f"{self}: {error}") from error


async def _pace(bucket: Bucket, size: int, rate: float, last: bool) -> None:
    """Wait until some bytes may have left."""
    wait = bucket.take(size, rate, time.perf_counter())
    if not last:
        if wait > FINE:
            await asyncio.sleep(wait)
        return
    end = time.perf_counter() + wait
    if wait > 2 * FINE:
        await asyncio.sleep(wait - 2 * FINE)
    if (rest := end - time.perf_counter()) > 0:
        time.sleep(rest)


class Connector(TCPConnector):
    """Connects with a limit."""

    prefix = "throttle+tcp://"
    comm_class = Throttled


class Listener(TCPListener):
    """Accepts with a limit."""

    prefix = "throttle+tcp://"
    comm_class = Throttled


class ThrottledTCP(BaseTCPBackend):
    """The scheme ``throttle+tcp``."""

    _connector_class = Connector
    _listener_class = Listener
