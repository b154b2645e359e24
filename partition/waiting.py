"""Waiting for tasks without hanging: who waits looks whether the workers are still there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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


def check_workers(client: Client, places: Iterable[str], doing: str) -> None:
    """Refuse to go on without the scheduler or one of some workers.

    Parameters
    ----------
    doing
        Who needs them, for the message.

    Raises
    ------
    RunError
        One of them is gone.
    """
    try:
        lost = set(places) - set(seen(client)) if client.status == "running" else None
    except OSError:
        lost = None
    if lost is None:
        raise RunError(f"{doing}: the scheduler is gone")
    if lost:
        raise RunError(f"{doing}: worker {', '.join(sorted(lost))} was lost")


def settle(
    client: Client,
    futures: Sequence[Future],
    doing: str,
    places: Iterable[str] = (),
    needs: Sequence[Future] = (),
) -> None:
    """Wait until all of some tasks are done, or one has failed.

    Parameters
    ----------
    doing
        What for, for the message.
    places
        Addresses of workers that tasks are tied to: without one of them they would wait for ever.
    needs
        What tasks take that cannot be made again, such as a graph's clusters.

    Raises
    ------
    RunError
        One of the workers is gone, or what is needed went with one.
    """
    while waiting := unfinished(futures):
        if len(pending(waiting, WATCH)) == len(waiting):
            check_workers(client, places, doing)
            if any(future.status not in ("pending", "finished") for future in needs):
                raise RunError(f"{doing}: {LOST}")
        if any(map(failed, futures)):
            return


def done(
    client: Client,
    futures: Sequence[Future],
    doing: str,
    places: Iterable[str] = (),
    needs: Sequence[Future] = (),
) -> None:
    """Wait as `settle` does, until all are done.

    Raises
    ------
    RunError
        As `settle`.
    Exception
        What a task raised.
    """
    settle(client, futures, doing, places, needs)
    for future in futures:
        if future.status == "error":
            future.result()
        if failed(future):
            raise RunError(f"{doing}: {LOST}")


def gathered(
    client: Client,
    futures: Sequence[Future],
    doing: str,
    places: Iterable[str] = (),
    needs: Sequence[Future] = (),
) -> list[Any]:
    """The results of tasks, waited for as `done` does."""
    from distributed import CancelledError

    done(client, futures, doing, places, needs)
    try:
        found: list[Any] = client.gather(futures)
    except CancelledError as error:
        raise RunError(f"{doing}: {LOST}") from error
    return found
