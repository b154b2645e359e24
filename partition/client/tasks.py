"""Tasks whose keys say what they are part of: Dask's dashboard shows keys without their last part."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

PART = "graph"
"""What most tasks of dgsuite are part of, apart from those of a run."""

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


def submitted(
    client: Client, function: Callable[..., Any], *arguments: Any, part: str = PART
) -> Future:
    """A task that any worker may run."""
    return client.submit(function, *arguments, key=new_key(function, part))


def pinned(client: Client, worker: str, function: Callable[..., Any], *arguments: Any) -> Future:
    """A task that runs on a given worker, or on another one when that one is gone."""
    from dask import annotate

    with annotate(**{MOVABLE: True}):
        return client.submit(
            function,
            *arguments,
            key=new_key(function),
            workers=[worker],
            allow_other_workers=False,
        )


def delayed(function: Callable[..., Any], part: str = PART) -> Callable[..., Delayed]:
    """A function that makes a Delayed object of each call."""
    from dask import delayed

    task = delayed(function, pure=False, traverse=False)
    return lambda *arguments: task(*arguments, dask_key_name=new_key(function, part))
