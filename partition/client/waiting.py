"""Waiting for tasks without hanging: a wait looks now and then at the workers and the scheduler."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from partition.client.queries import LOOK, bound, out_of_the_pool, seen
from partition.errors import DgsuiteError, RunError

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger("dgsuite")

T = TypeVar("T")

LOST = "data was lost with its worker"


def pending(
    futures: Sequence[Future], timeout: float, until: str = "FIRST_COMPLETED"
) -> list[Future]:
    """Those of some futures that are pending when one of them (or all) no longer is, or a time (seconds) is
    over.
    """
    from distributed import CancelledError, wait

    try:
        with futures[0].client.as_current():
            wait(futures, timeout=timeout, return_when=until)
    except (TimeoutError, CancelledError) as error:
        # it and frames that know the futures hold each other, which would keep results on workers until
        # this process collects garbage
        error.__traceback__ = None
    return unfinished(futures)


def unfinished(futures: Sequence[Future]) -> list[Future]:
    """Those of some futures that may yet have results: a lost one, if its task can be done again."""
    return [future for future in futures if future.status in ("pending", "lost")]


def failed(future: Future) -> bool:
    """Whether a future will have no result."""
    return future.status not in ("pending", "lost", "finished")


@dataclass
class Watch:
    """A wait for tasks, which ends with an error where nothing will come any more.

    What counts is whether workers and scheduler give signs of life, not how long tasks take. The
    bound is Dask's setting ``dgsuite.timeout`` (see `partition.client.queries.bound`).

    Attributes
    ----------
    client
        Of the tasks.
    doing
        What they are for, for messages.
    places
        Addresses of workers that tasks are tied to: without one of them they would wait for ever.
    needs
        What tasks take that cannot be made again, such as a graph's clusters.
    mark
        Part of the keys of all tasks, such as their run's id.
    epochs
        By place, the identity of the worker process that was there at the first look.
    """

    client: Client
    doing: str
    places: Collection[str] = ()
    needs: Sequence[Future] = ()
    mark: str = ""
    epochs: dict[str, str] = field(default_factory=dict)
    _idle: dict[str, float] = field(default_factory=dict)
    """Since when each worker does nothing for these tasks."""

    def look(self, futures: Sequence[Future] = ()) -> dict[str, dict[str, Any]]:
        """The workers that there are.

        Parameters
        ----------
        futures
            Tasks that are waited for.

        Raises
        ------
        RunError
            One of the workers is gone, frozen or paused for good, or the scheduler is gone or frozen, or
            what is needed went with a worker.
        """
        try:
            there = seen(self.client, [future.key for future in futures])
            frozen = [w for w in self._relevant(there) if there[w]["silent"] > bound()]
            if frozen:  # all of them are silent where it was the scheduler that stood still
                time.sleep(2 * LOOK)
                there = seen(self.client, [future.key for future in futures])
        except RunError as error:
            raise RunError(f"{self.doing}: {error}") from error
        for place in self.places:
            if place not in there:
                raise self._error(place, "was lost")
            epoch = there[place]["epoch"]
            if self.epochs.setdefault(place, epoch) != epoch:
                raise self._error(place, "was lost; a new one has started in its place")
        if any(future.status not in ("pending", "finished") for future in self.needs):
            raise RunError(f"{self.doing}: {LOST}")
        for place in self._relevant(there):
            self._judge(place, there[place])
        return there

    def _relevant(self, there: dict[str, dict[str, Any]]) -> list[str]:
        """The workers that the wait depends on."""
        return [w for w, state in there.items() if w in self.places or state["awaited"]]

    def _judge(self, place: str, state: dict[str, Any]) -> None:
        """Raise an error if a worker will do nothing any more; say so if it does other things."""
        busy = ", ".join(state["busy"][:3])
        if state["silent"] > bound():
            doing = f" (its last task: {busy})" if busy else ""
            raise self._error(
                place, f"is frozen: it has given no sign of life for {state['silent']:.0f} s{doing}"
            )
        works = any(self.mark in key for key in state["busy"])
        if works or (state["status"] == "running" and not busy):
            self._idle.pop(place, None)
            return
        since = self._idle.setdefault(place, time.monotonic())
        if time.monotonic() - since < bound():
            return
        if not busy:
            from dask.utils import format_bytes

            used, limit = format_bytes(state["memory"]), format_bytes(state["memory_limit"])
            raise self._error(
                place,
                f"is {state['status']} by Dask and has begun nothing for {bound():g} s: it uses {used} "
                f"of its limit of {limit}",
            )
        logger.warning("%s: waits for worker %s, which is busy with %s", self.doing, place, busy)
        self._idle[place] = time.monotonic()

    def _error(self, place: str, what: str) -> RunError:
        return RunError(f"{self.doing}: worker {place} {what}")

    def settle(self, futures: Sequence[Future]) -> None:
        """Wait until all of some tasks are done, or one has failed.

        Raises
        ------
        RunError
            See `look`.
        """
        with out_of_the_pool():
            while waiting := unfinished(futures):
                if len(pending(waiting, LOOK)) == len(waiting):
                    self.look(waiting)
                if any(map(failed, futures)):
                    return

    def done(self, futures: Sequence[Future]) -> None:
        """Wait until all of some tasks are done.

        Raises
        ------
        RunError
            See `look`.
        Exception
            What a task raised.
        """
        self.settle(futures)
        for future in futures:
            if future.status == "error":
                future.result()
            if failed(future):
                self.look()
                raise RunError(f"{self.doing}: {LOST}")

    def gathered(self, futures: Sequence[Future]) -> list[Any]:
        """The results of tasks, waited for as `done` does."""
        self.done(futures)
        return self.call(lambda: self.client.gather(futures))

    def call(self, function: Callable[[], T]) -> T:
        """The result of a request to workers, which by itself waits for ever for one that is frozen.

        Raises
        ------
        RunError
            See `look`; or the request failed.
        """
        from distributed import CancelledError

        found: list[T] = []
        errors: list[Exception] = []

        def ask() -> None:
            try:
                found.append(function())
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(LOOK)
            if thread.is_alive():
                self.look()
        if errors:
            error = errors[0]
            for _ in range(10):  # the scheduler may learn of a loss a moment later
                self.look()
                time.sleep(0.1)
            what = LOST if isinstance(error, CancelledError) else f"{type(error).__name__}: {error}"
            raise RunError(f"{self.doing}: {what}") from error
        return found[0]

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Name what happened, where Dask has an error of its own for a client, scheduler or worker that went.

        Raises
        ------
        RunError
            See `look`, in place of such an error.
        """
        from distributed import CancelledError
        from distributed.client import ClosedClientError

        try:
            yield
        except DgsuiteError:
            raise
        except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
            try:
                self.look()
            except RunError as cause:
                raise cause from error
            raise
