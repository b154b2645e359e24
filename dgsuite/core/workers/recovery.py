"""Runs that lose a worker are begun again on the workers that are left.

A program is deterministic, so a run that begins again has the results of one that nothing disturbed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from dgsuite.base.errors import InputError, RunError, WorkerLost
from dgsuite.partition.client.session import POLL_SECONDS, Session, timeout
from dgsuite.partition.client.settings import setting
from dgsuite.partition.client.waiting import Watch, letting_go
from dgsuite.partition.client.workers import States, ordered_states

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger("dgsuite")

SETTING = "dgsuite.recovery.tries"

SAME = 2
"""Tries in a row that may end as Dask kills a worker for its memory: another one would end so, too."""

RENEWING = 60.0
"""Seconds that Dask may take to kill a frozen worker."""


def tries() -> int:
    """How many times a run is begun again.

    Raises
    ------
    InputError
        The setting is not a number of times.
    """
    given = setting(SETTING)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise InputError(f"{SETTING} must be a whole number from 0 on, got {given!r}")
    return given


def recovered[T](attempt: Callable[[States], T], client: Client | None, doing: str) -> T:
    """The result of something that is done on the workers, and is begun again when it loses one.

    Parameters
    ----------
    attempt
        Does it, given the states of workers.
    client
        None if everything is in this process, where nothing can be lost.
    doing
        What it is, for messages.

    Raises
    ------
    RunError
        A worker was lost too often, no worker is left, or what was lost cannot be made again. If Dask killed
        a worker for its memory, the message says so.
    """
    if client is None:
        return attempt({})
    most = tries()
    lost = ""
    avoided: set[str] = set()
    for_memory = 0
    for number in count():
        workers: States = {}
        begun = time.monotonic()
        try:
            workers = usable(client, doing, avoided) if lost else ordered_states(client)
            with letting_go(), Watch(client, doing, workers).explain_errors():
                return attempt(workers)
        except WorkerLost as error:
            if error.worker in workers:  # if it is still there, others of the run may not reach it
                avoided.add(workers[error.worker]["epoch"])
            lost = str(error)
            if why := _killed_for_memory(client, workers, time.monotonic() - begun):
                lost = f"{lost}; {why}"
            for_memory = for_memory + 1 if why else 0
            if not most:
                raise WorkerLost(lost, error.worker) from error
            if number == most or for_memory == SAME:
                raise RunError(
                    f"{lost}; it was begun {number + 1} times, and lost a worker each time"
                ) from error
            logger.warning("%s; it begins again (%d of %d)", lost, number + 1, most)
        except RunError as error:
            if not lost:
                raise
            raise RunError(f"{lost}; {error}") from error
    raise AssertionError("unreachable")


def looked[T](look: Callable[[], T], client: Client | None, doing: str) -> T:
    """The result of something that seldom needs the workers: their state is asked for only after a failure.

    Parameters
    ----------
    look
        Does it; it is then called again.

    Raises
    ------
    RunError
        See `recovered`.
    """
    if client is None:
        return look()
    from distributed import CancelledError

    with suppress(RunError, OSError, RuntimeError, CancelledError), letting_go():
        return look()
    return recovered(lambda _: look(), client, doing)


def _killed_for_memory(client: Client, workers: States, seconds: float) -> str:
    """Which workers of a try Dask has killed for their memory, and what helps; "" if it is not known to have.

    Parameters
    ----------
    workers
        The states of the try's workers at its beginning.
    seconds
        Since then.
    """
    from dask.utils import format_bytes

    deadline = time.monotonic() + POLL_SECONDS
    kills: dict[str, int] = {}
    while not kills and time.monotonic() < deadline:  # the nanny's word may come after the loss
        try:
            kills = Session.of(client).ask(
                "dgsuite_memory_kills", workers=list(workers), seconds=seconds + POLL_SECONDS
            )
        except RunError:  # whoever looks for workers to go on with finds out, too
            return ""
        time.sleep(0 if kills else POLL_SECONDS / 5)
    if not kills:
        return ""
    each = ", ".join(
        f"worker {worker}, which used {format_bytes(used)} of its limit of "
        f"{format_bytes(workers[worker]['memory_limit'])}"
        for worker, used in sorted(kills.items())
    )
    return f"Dask killed {each}; start more workers, or workers with more memory"


def usable(client: Client, doing: str, avoided: Collection[str] = ()) -> States:
    """Workers to begin again with, in a fixed order, once there are some.

    Workers that are frozen are started anew: the scheduler takes what they hold to be there.

    Parameters
    ----------
    avoided
        Epochs of workers to do without, if there are others.

    Raises
    ------
    RunError
        No worker comes within `timeout`.
    """
    deadline = time.monotonic() + timeout()
    suspects: set[str] = set()
    while True:
        states = Session.of(client).workers()
        frozen = {address for address, state in states.items() if state["silent"] > timeout()}
        if again := frozen & suspects:  # after a pause of the scheduler all look frozen, once
            logger.warning("%s: starting %s anew", doing, ", ".join(sorted(again)))
            Session.of(client).ask("dgsuite_renew", wait=RENEWING, workers=sorted(again))
        elif states and not frozen:
            running = {
                address: state
                for address, state in ordered_states(client).items()
                if state["status"] == "running"
            }
            if running:
                others = {a: state for a, state in running.items() if state["epoch"] not in avoided}
                return others or running
        suspects = frozen
        if time.monotonic() > deadline + RENEWING * bool(frozen):
            raise RunError(f"{doing}: no worker is left")
        time.sleep(POLL_SECONDS)
