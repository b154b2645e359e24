"""Tasks whose keys say what they are part of: Dask's dashboard shows keys without their last part.

They are in one span of Dask. Dask's schedulers and workers keep the statistics of every span for ever, and
tasks without a span get a new one whenever the Dask cluster was idle, that is with each run.
"""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

PART = "graph"
"""What most tasks of dgsuite are part of, apart from those of a run."""

SPAN = "dgsuite"
"""Name and identifier of the span."""

MOVABLE = "dgsuite_movable"
"""Annotation of tasks that may run on any worker once the one that they are tied to is gone."""


TOGETHER = "dgsuite_together"
"""Annotation of tasks that need all their workers at once: each graph of such tasks waits for its turn."""


def new_key(function: Callable[..., Any], part: str = PART) -> str:
    """A key for a call of a function: what it is part of, the function's name, and what makes it unique.

    Between the names is no hyphen: Dask takes some words after one for a hash, such as "assemble".
    """
    from dask.utils import funcname

    return f"{part}_{funcname(function).strip('_')}-{uuid.uuid4()}"


@contextmanager
def spanned() -> Iterator[None]:
    """Put the tasks created in this context into the span, unless the user has opened another one."""
    import dask

    if "span" in dask.get_annotations():
        yield
    else:
        with dask.annotate(span={"name": (SPAN,), "ids": (SPAN,)}):
            yield


def submitted(
    client: Client, function: Callable[..., Any], *arguments: Any, part: str = PART
) -> Future:
    """A task that any worker may run."""
    with spanned():
        return client.submit(function, *arguments, key=new_key(function, part))


def computed(client: Client, tasks: Sequence[Any], **how: Any) -> list[Future]:
    """Futures of lazy tasks."""
    with spanned():
        return client.compute(tasks, **how)  # type: ignore[no-any-return]


def calls(client: Client | None) -> Callable[..., Any]:
    """A function that calls another one with its arguments, here, or as a task of a client."""
    return operator.call if client is None else partial(submitted, client)


def pinned(client: Client, worker: str, function: Callable[..., Any], *arguments: Any) -> Future:
    """A task that runs on a given worker, or on another one when that one is gone."""
    from dask import annotate

    with spanned(), annotate(**{MOVABLE: True}):
        return client.submit(function, *arguments, key=new_key(function), workers=[worker])


def delayed(function: Callable[..., Any], part: str = PART) -> Callable[..., Delayed]:
    """A function that makes a Delayed object of each call."""
    from dask import delayed

    task = delayed(function, pure=False, traverse=False)
    return lambda *arguments: task(*arguments, dask_key_name=new_key(function, part))
