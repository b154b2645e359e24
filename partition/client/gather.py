"""Whether the outputs of a run are gathered. Importing this needs no Dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dgsuite.partition.client.settings import setting

SETTING = "dgsuite.gather-limit"
"""Dask's setting: outputs of a run, and identifiers of nodes, that take more bytes stay on the workers. With
None all are gathered.
"""


def limit() -> float:
    """Bytes of outputs, or of labels, that are gathered, at most."""
    from dask.utils import parse_bytes

    most = setting(SETTING)
    return float("inf") if most is None else parse_bytes(most)


@contextmanager
def gathered() -> Iterator[None]:
    """Gather all outputs, where datasets outlive the workers."""
    import dask

    with dask.config.set({SETTING: None}):
        yield
