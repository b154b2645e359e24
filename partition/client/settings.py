"""Settings of dgsuite in Dask's configuration; ``dgsuite.yaml`` has their defaults.

Importing this needs no Dask.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, reduce
from importlib.resources import files
from pathlib import Path
from typing import Any

FILE, SCHEMA = "dgsuite.yaml", "dgsuite-schema.yaml"

GATHER = "dgsuite.gather-limit"
"""Outputs of a run, and identifiers of nodes, that take more bytes stay on the workers. With None all are
gathered.
"""


@cache
def read(name: str) -> dict[str, Any]:
    """What one of the two files says."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(files(__package__).joinpath(name).read_text("utf-8"))
    return found


@cache
def load() -> None:
    """Put the defaults into Dask's configuration, and a copy to edit into the user's folder, as Dask does."""
    import dask

    path = Path(__file__).with_name(FILE)
    if path.exists():  # else this is in a zip file
        dask.config.ensure_file(source=str(path))
    dask.config.update_defaults(read(FILE))


def setting(key: str) -> Any:
    """What Dask's configuration says of a key, such as "dgsuite.timeout"; else its default.

    Keys that a table lacks have their defaults, too.
    """
    import dask

    load()
    default = reduce(lambda table, part: table[part], key.split("."), read(FILE))
    found = dask.config.get(key, default)
    return {**default, **found} if isinstance(default, dict) else found


def limit() -> float:
    """Bytes of outputs, or of labels, that are gathered, at most."""
    from dask.utils import parse_bytes

    most = setting(GATHER)
    return float("inf") if most is None else parse_bytes(most)


@contextmanager
def gathered() -> Iterator[None]:
    """Gather all outputs, where datasets outlive the workers."""
    import dask

    with dask.config.set({GATHER: None}):
        yield
