"""Packages that only some uses need, and the extra of dgsuite that installs each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from urllib.parse import unquote, urlparse

from dgsuite.base.errors import InputError

EXTRAS = {
    "graphblas": "bench",
    "h5netcdf": "netcdf",
    "h5py": "netcdf",
    "hypothesis": "lab",
    "matplotlib": "plot",
    "networkit": "bench",
    "pydantic": "command",
    "pydantic_core": "command",
    "pyarrow": "parquet",
    "pymetis": "metis",
    "pyscf": "chem",
    "rich": "command",
}
"""The extra that has each package, which is named as in an import."""

NETCDF = ("a NetCDF file", "h5netcdf", "h5py")
"""What `check_installed` is asked before such a file is read or written."""


def check_installed(what: str, *packages: str) -> None:
    """Refuse at once what would fail at its end for want of a package, and import none.

    Parameters
    ----------
    what
        What needs the packages, such as "a picture".

    Raises
    ------
    InputError
        A package is not installed.
    """
    for package in packages:
        if find_spec(package) is None:
            raise InputError(_missing(what, package))


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Have an error name the extra, where an import in the block finds no package.

    Parameters
    ----------
    what
        What the user asked for, such as "a picture".

    Raises
    ------
    InputError
        A package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise InputError(_missing(what, package)) from None


def _missing(what: str, package: str) -> str:
    return f"{what} needs {package}, which is not installed: {pip_install(EXTRAS[package])}"


@cache
def pip_install(extra: str) -> str:
    """The command that installs an extra from where dgsuite was installed: a folder, a URL or an index."""
    found = (entry.read_text("direct_url.json") for entry in distributions(name="dgsuite"))
    origin = json.loads(next(filter(None, found), "{}"))
    named, editable = f"dgsuite[{extra}]", ""
    if "dir_info" in origin:
        named = f"{unquote(urlparse(origin['url']).path)}[{extra}]"
        editable = "-e " * bool(origin["dir_info"].get("editable"))
    elif origin:
        version = origin.get("vcs_info")
        named += f" @ {version['vcs']}+{origin['url']}" if version else f" @ {origin['url']}"
    return f"pip install {editable}{shlex.quote(named)}"
