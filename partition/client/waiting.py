"""Wait for tasks without hanging: every wait polls the state of the workers and the scheduler."""

from __future__ import annotations

import concurrent.futures
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

from dgsuite.base.errors import DgsuiteError, RunError, WorkerLost
from dgsuite.partition.client.session import POLL_SECONDS, Session, seceded, timeout
from dgsuite.partition.client.tasks import new_key

if TYPE_CHECKING:
    from distributed import Client, Future

logger = logging.getLogger("dgsuite")

LOST = "data was lost with its worker"

ACTOR_LOST = "Worker holding Actor was lost"
"""Dask's RuntimeError for a call of an actor, which it may raise before the scheduler knows of the loss."""


def from_a_loss(error: BaseException) -> bool:
    """Whether Dask raised an error because a worker was lost."""
    from distributed import CancelledError

    return isinstance(error, CancelledError) or str(error).startswith(ACTOR_LOST)


def _unfinished(futures: Sequence[Future]) -> list[Future]:
    """The futures that may still get a result. Lost ones are among them: Dask may run their tasks again."""
    return [future for future in futures if future.status in ("pending", "lost")]


def failed(future: Future) -> bool:
    """Whether a future will have no result."""
    return future.status not in ("pending", "lost", "finished")


def ended(futures: Sequence[Future]) -> bool | None:
    """Wait until all tasks are done, or one has failed; None if that takes longer than `POLL_SECONDS`."""
    from distributed import CancelledError, wait

    deadline = time.monotonic() + POLL_SECONDS
    while (waiting := _unfinished(futures)) and not any(map(failed, futures)):
        if (left := deadline - time.monotonic()) <= 0:
            return None
        try:
            with waiting[0].client.as_current():
                wait(waiting, timeout=left, return_when="FIRST_COMPLETED")
        except (TimeoutError, CancelledError) as error:
            # the error and the frames of its traceback refer to each other and to the futures: this cycle
            # would keep results on workers until this process collects garbage
            error.__traceback__ = None
    return True


@contextmanager
def letting_go() -> Iterator[None]:
    """Drop what the frames of an error refer to.

    Code that keeps the error, as a notebook keeps the last one, would otherwise keep futures. Dask holds
    their results on workers, and computes them again when a worker is lost.
    """
    try:
        yield
    except BaseException as error:
        failed: BaseException | None = error
        while failed is not None:
            clear_frames(failed.__traceback__)
            failed = failed.__cause__ or failed.__context__
        raise


@dataclass
class Watch:
    """Waits for tasks, and raises an error if a worker or future they require is lost.

    No other code waits for tasks or workers: each wait of a client passes through `until`, and each of its
    polls through `check_workers`. Waits fail when the scheduler does not have a task, or can no longer run
    it. They fail when workers or the scheduler stop sending heartbeats, however long tasks take. The time
    allowed without one is Dask's setting ``dgsuite.timeout`` (see
    `dgsuite.partition.client.session.timeout`).

    Attributes
    ----------
    client
        Client of the tasks.
    doing
        What the tasks are for, for messages.
    workers
        Addresses of workers that tasks are tied to. If one of them is lost, its tasks never run.
    inputs
        Futures that the tasks need and that cannot be computed again, such as a graph's clusters.
    key_part
        A part that the keys of all tasks contain, such as their run's id.
    epochs
        By address, the identity of the worker process that was there at the first check.
    """

    client: Client
    doing: str
    workers: Collection[str] = ()
    inputs: Sequence[Future] = ()
    key_part: str = ""
    epochs: dict[str, str] = field(default_factory=dict)
    _idle: dict[str, float] = field(default_factory=dict)
    """By address, since when a worker has run none of these tasks."""
    _alone: float = inf
    """Since when there has been no worker."""
    _lost: set[Any] = field(default_factory=set)
    """Keys of the tasks that the last poll found lost."""
    _raised: BaseException | None = None
    """What a callback has raised."""

    def check_workers(self, futures: Sequence[Future] = ()) -> dict[str, dict[str, Any]]:
        """Raise an error if a worker that the tasks require is lost.

        Parameters
        ----------
        futures
            Tasks that the caller waits for.

        Returns
        -------
        State of all workers, by address.

        Raises
        ------
        RunError
            A required worker is gone, frozen or paused for good, the scheduler is gone or frozen, or an
            input was lost with its worker.
        """
        keys = [future.key for future in futures]
        poll = partial(
            self.ask, "dgsuite_workers", keys=keys, client=self.client.id, bound=timeout()
        )
        found = poll()
        if any(found["workers"][w]["silent"] > timeout() for w in self._required(found["workers"])):
            # after a pause of the scheduler all of them look frozen: ask again
            time.sleep(2 * POLL_SECONDS)
            found = poll()
        states = found["workers"]
        for worker in self.workers:
            if worker not in states:
                raise self._error(worker, "was lost")
            epoch = states[worker]["epoch"]
            if self.epochs.setdefault(worker, epoch) != epoch:
                raise self._error(worker, "was lost; a new one has started at its address")
        if any(future.status not in ("pending", "finished") for future in self.inputs):
            raise WorkerLost(f"{self.doing}: {LOST}")
        for worker in self._required(states):
            self._check_worker(worker, states[worker])
        now = time.monotonic()
        self._alone = inf if states or not futures else min(self._alone, now)
        if now - self._alone > timeout():
            raise RunError(f"{self.doing}: no worker is left")
        # lost in two polls in a row: the scheduler's message that a task has ended may be on its way
        again, self._lost = self._lost.intersection(found["lost"]), {*found["lost"]}
        if gone := [future for future in _unfinished(futures) if future.key in again]:
            self.client.cancel(gone)
            raise WorkerLost(f"{self.doing}: task {gone[0].key} cannot run any more: {LOST}")
        return states  # type: ignore[no-any-return]

    def ask(self, request: str, /, wait: float = 0.0, **arguments: Any) -> Any:
        """The scheduler's answer to a request: see `dgsuite.partition.client.session.Session.ask`."""
        try:
            return Session.of(self.client).ask(request, wait=wait, **arguments)
        except RunError as error:
            raise RunError(f"{self.doing}: {error}") from error

    def _required(self, states: dict[str, dict[str, Any]]) -> list[str]:
        """The workers that the tasks require."""
        return [w for w, state in states.items() if w in self.workers or state["awaited"]]

    def _check_worker(self, worker: str, state: dict[str, Any]) -> None:
        """Raise an error if a worker is frozen or paused; log a warning if other tasks keep it busy."""
        busy = ", ".join(state["busy"][:3])
        if state["silent"] > timeout():
            last = f" (its last task: {busy})" if busy else ""
            raise self._error(
                worker, f"is frozen: it has sent no heartbeat for {state['silent']:.0f} s{last}"
            )
        runs_ours = any(self.key_part in key for key in state["busy"])
        if runs_ours or (state["status"] == "running" and not busy):
            self._idle.pop(worker, None)
            return
        since = self._idle.setdefault(worker, time.monotonic())
        if time.monotonic() - since < timeout():
            return
        if not busy:
            from dask.utils import format_bytes

            used, limit = format_bytes(state["memory"]), format_bytes(state["memory_limit"])
            raise self._error(
                worker,
                f"is {state['status']} by Dask and has started no task for {timeout():g} s: it uses {used} "
                f"of its limit of {limit}",
            )
        logger.warning("%s: waiting for worker %s, which is busy with %s", self.doing, worker, busy)
        self._idle[worker] = time.monotonic()

    def _error(self, worker: str, what: str) -> WorkerLost:
        return WorkerLost(f"{self.doing}: worker {worker} {what}", worker)

    def until[T](self, step: Callable[[], T | None], futures: Sequence[Future] = ()) -> T:
        """Wait for something, and poll.

        Parameters
        ----------
        step
            Waits for it, for `POLL_SECONDS`. Returns None as long as it has not come.
        futures
            The tasks that it needs.

        Raises
        ------
        RunError
            See `check_workers`.
        BaseException
            What a callback has raised: see `heard`.
        """
        with seceded():
            found = step()
            while found is None and self._raised is None:
                # of tasks that are all done, the results are still to be fetched
                self.check_workers(_unfinished(futures) or futures)
                found = step()
        if self._raised is not None:
            raise self._raised
        return found  # type: ignore[return-value]

    def heard[**P](self, callback: Callable[P, object]) -> Callable[P, None]:
        """Wrap a user's callback for the client's loop: an exception would end the loop.

        What it raises ends the wait of this watch instead, and is raised there. It is called no more then.
        """

        def call(*arguments: P.args, **options: P.kwargs) -> None:
            if self._raised is None:
                try:
                    callback(*arguments, **options)
                except BaseException as error:
                    self._raised = error

        return call

    def wait(self, futures: Sequence[Future]) -> None:
        """Wait until all tasks are done; raise the error of one that failed.

        Raises
        ------
        RunError
            See `check_workers`.
        Exception
            What a task raised.
        """
        self.until(partial(ended, futures), futures)
        for future in futures:
            if future.status == "error":
                future.result()
            if failed(future):
                self.check_workers()
                raise WorkerLost(f"{self.doing}: {LOST}")

    def gather(self, futures: Sequence[Future], direct: bool | None = None) -> list[Any]:
        """The results of tasks; waits and raises as `wait` does.

        Parameters
        ----------
        direct
            Whether to fetch them from the workers: see `distributed.Client.gather`.
        """
        self.wait(futures)
        return self.call(partial(self.client.gather, futures, direct=direct), futures)

    def holders(self, futures: Sequence[Future]) -> list[list[str]]:
        """The workers that hold the result of each task; waits and raises as `wait` does."""
        self.wait(futures)
        held = self.ask("who_has", keys=[future.key for future in futures])
        found = [sorted(held[future.key]) for future in futures]
        if not all(found):
            self.check_workers()
            raise WorkerLost(f"{self.doing}: {LOST}")
        return found

    def scatter(self, value: Any, worker: str | None = None) -> Future:
        """Send a value of this process to a worker, or by default to all of them.

        Raises
        ------
        RunError
            See `call`.
        """
        where = {"broadcast": True} if worker is None else {"workers": [worker]}
        receivers = self.check_workers() if worker is None else [worker]
        named = {new_key(type(value)): value}
        to = replace(self, workers=receivers)
        (future,) = to.call(partial(self.client.scatter, named, hash=False, **where)).values()
        return future

    def call[T](self, request: Callable[[], Awaitable[T]], futures: Sequence[Future] = ()) -> T:
        """The result of a request to workers. By itself it would wait for ever for a frozen worker.

        Parameters
        ----------
        request
            Is called on the client's loop, where Dask's own methods can be awaited.
        futures
            The tasks that it needs.

        Raises
        ------
        RunError
            See `check_workers`; or the request failed.
        """
        try:
            begun = Session.of(self.client).start(request)
            try:
                self.until(
                    lambda: concurrent.futures.wait([begun], POLL_SECONDS).done or None, futures
                )
                return begun.result()
            finally:
                begun.cancel()
        except DgsuiteError:
            raise
        except Exception as error:
            for _ in range(10):  # the scheduler may notice a lost worker a moment later
                self.check_workers()
                time.sleep(0.1)
            if from_a_loss(error):
                raise WorkerLost(f"{self.doing}: {LOST}") from error
            raise RunError(f"{self.doing}: {type(error).__name__}: {error}") from error

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Replace Dask's error for a lost client, scheduler or worker by one that names what was lost.

        Raises
        ------
        RunError
            See `check_workers`.
        """
        from distributed import CancelledError
        from distributed.client import ClosedClientError

        try:
            yield
        except DgsuiteError:
            raise
        except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
            try:
                self.check_workers()
            except RunError as cause:
                raise cause from error
            raise
