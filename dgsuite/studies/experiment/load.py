"""Reading an experiment file, with all its errors at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment.checks import problems_of
from dgsuite.studies.experiment.model import Config
from dgsuite.studies.experiment.toml import checked, located, override, put, read


def load(
    path: str,
    overrides: Sequence[str] = (),
    cluster: Mapping[str, Any] | None = None,
    full: bool = False,
) -> tuple[Config, Path]:
    """Read and check an experiment file.

    Parameters
    ----------
    overrides
        ``key.subkey=value`` with values in TOML syntax; what is not TOML is taken as text.
    cluster
        Keys of the table ``[cluster]``, in place of the file's.
    full
        Whether the file's table ``[full]`` holds.

    Returns
    -------
    config
        The experiment.
    folder
        Where the file is: paths of input files are relative to it.

    Raises
    ------
    InputError
        With every error of the file in one message: file, key, value, what would be right.
    """
    data = read(path)
    if full:
        values = data.get("full")
        if not values or not isinstance(values, dict):
            raise InputError(f"{path}: has no table [full] that --full could take")
        for key, value in values.items():
            put(data, key, value, f"{path}: full")
    for given in overrides:
        override(data, given)
    for key, value in (cluster or {}).items():
        put(data, f"cluster.{key}", value, f"{path}: --{key}")
    config = checked(Config, data, path)
    folder = Path(path).resolve().parent
    problems = dict.fromkeys(problems_of(config, folder))  # runs and kernels may share a graph
    if problems:
        raise InputError("\n".join(located(p, path, data) for p in problems))
    return config, folder
