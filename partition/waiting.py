"""Waiting for tasks without hanging: who waits looks whether the workers are still there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from partition.errors import RunError
from partition.places import seen

if TYPE_CHECKING:
    from distributed import Client, Future

WATCH = 0.5
"""Seconds between looks at whether the workers are still there."""

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


class Watch(NamedTuple):
    """Who waits looks meanwhile whether there is still something to wait for.

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
    """

    client: Client
    doing: str
    places: Collection[str] = ()
    needs: Sequence[Future] = ()

    def look(self) -> dict[str, Any]:
        """The workers that there are.

        Raises
        ------
        RunError
            One of the workers is gone, or the scheduler, or what is needed went with a worker.
        """
        try:
            there = seen(self.client) if self.client.status == "running" else None
        except OSError:
            there = None
        if there is None:
            raise RunError(f"{self.doing}: the scheduler is gone")
        if lost := set(self.places) - set(there):
            raise RunError(f"{self.doing}: worker {', '.join(sorted(lost))} was lost")
        if any(future.status not in ("pending", "finished") for future in self.needs):
            raise RunError(f"{self.doing}: {LOST}")
        return there

    def settle(self, futures: Sequence[Future]) -> None:
        """Wait until all of some tasks are done, or one has failed.

        Raises
        ------
        RunError
            See `look`.
        """
        while waiting := unfinished(futures):
            if len(pending(waiting, WATCH)) == len(waiting):
                self.look()
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
                raise RunError(f"{self.doing}: {LOST}")

    def gathered(self, futures: Sequence[Future]) -> list[Any]:
        """The results of tasks, waited for as `done` does."""
        from distributed import CancelledError

        self.done(futures)
        try:
            found: list[Any] = self.client.gather(futures)
        except CancelledError as error:
            raise RunError(f"{self.doing}: {LOST}") from error
        return found
