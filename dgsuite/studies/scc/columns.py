"""A study's file and its columns: transports that can be had here, the chip's, and their buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment import toml
from dgsuite.studies.scc.chip import SCHEMES
from dgsuite.studies.scc.options import Buffers, File
from dgsuite.studies.transports import carriers
from dgsuite.studies.transports.chip import Buffer


def read(path: str, overrides: Sequence[str] = (), protocols: Sequence[str] = ()) -> File:
    """Read and check an experiment file with a table ``[bc]``.

    Parameters
    ----------
    overrides
        See `dgsuite.studies.experiment.toml.override`.
    protocols
        In place of the file's, if there are any.

    Raises
    ------
    InputError
        Naming the file, the key, and what would be right.
    """
    data = toml.read(path, overrides)
    if protocols:
        data.setdefault("scc", {})["protocols"] = list(protocols)
    found = toml.checked(File, data, path)
    if found.bc is None:
        raise InputError(f"{path}: has no program: a table [bc], or [hf]")
    for protocol in found.scc.protocols:
        if protocol not in (*SCHEMES, *carriers.MPI):
            carriers.check(protocol)
    for scheme, given in found.scc.buffers.items():
        chunk(scheme, given)
    return found


def present(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Those transports that can be measured here, and why others cannot.

    Columns of the chip are in neither: nothing of them is measured.
    """
    found, absent = [], {}
    for name in names:
        if name in SCHEMES:
            continue
        try:
            carriers.check(name)
        except InputError as error:
            absent[name] = str(error)
        else:
            found.append(name)
    return found, absent


def chunk(scheme: str, given: Buffers) -> int:
    """Bytes that are sent at a time: of a buffer what flags leave, or a section."""
    settings = Buffer.made(scheme, given.model_dump())
    return settings.payload() if scheme == "mpb" else settings.section()


@contextmanager
def buffers(given: Mapping[Any, Buffers]) -> Iterator[dict[str, int]]:
    """Have transports that begin meanwhile use some buffers; bytes that are sent at a time, by scheme."""
    import dask

    keys = {"mpb": "dgsuite.rcce", "mpimpb": "dgsuite.mpimpb"}
    with dask.config.set({keys[name]: b.model_dump() for name, b in given.items()}):
        yield {name: chunk(name, b) for name, b in given.items()}
