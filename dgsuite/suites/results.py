"""Datasets of suites: what made them, and their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

from dgsuite import __version__
from dgsuite.core.results.dataset import save as write
from dgsuite.core.results.dataset import versions
from dgsuite.core.results.provenance import machine_of
from dgsuite.partition.client.installed import fingerprint

if TYPE_CHECKING:
    from distributed import Client


def save(dataset: xr.Dataset, path: str, client: Client) -> None:
    """Write a dataset with attributes that say which code, versions and machines made it.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    dataset.attrs |= {
        "source": f"dgsuite {__version__}",
        "Conventions": "CF-1.11",
        "versions": versions(),
        "code": fingerprint(),
        **machine_of(client),
    }
    write(dataset, path)
