"""Experiments of `dgsuite scc`: their files, and the columns of their results: transports and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from dgsuite.base.errors import InputError
from dgsuite.studies.experiment import toml
from dgsuite.studies.experiment.model import SEED, Count, Departing, Section, Seed
from dgsuite.studies.scc.chip import SCHEMES
from dgsuite.studies.scc.ledger import Pieces
from dgsuite.studies.transports import carriers
from dgsuite.studies.transports.chip import Buffer

Share = Annotated[float, Field(ge=0, le=1)]


class Figure(Departing):
    """Which figure of the paper the results are for."""

    number: Annotated[int, Field(ge=5, le=10)]
    """Of the figure."""


class Buffers(Section):
    """Message-passing buffers; see `dgsuite.studies.transports.chip`."""

    buffer: str
    """Bytes, such as "8 KiB": of a core's."""
    places: Count
    """Cores that share the chip."""


class Study(Section):
    """What the studies of all programs have."""

    name: str = Field(default="scc", pattern=r"^[\w.-]+$")
    """Of the result, and of its files."""
    places: Annotated[list[Count], Field(min_length=1)]
    """Places to simulate."""
    repeats: Count = 3
    """Of what is measured: of runs the mean counts, of the costs of units and messages the least."""
    buffers: dict[Literal["mpb", "mpimpb"], Buffers] = {}
    """Of a transport, where they are not its own."""


class Common(Study):
    """What all programs on graphs share."""

    output: str | None = None
    """NetCDF file; by default ``results/<name>.nc``. Figures go beside it."""
    places: Annotated[list[Count], Field(min_length=1)] = [
        *(1, 2, 4, 8, 16, 24, 32, 36, 40, 44, 48, 1024)
    ]
    """Places to simulate."""
    measured: Annotated[list[Annotated[int, Field(ge=1, le=64)]], Field(min_length=1)] = [1, 2]
    """Places to run as well, a worker process each; simulations of these are compared with it."""
    protocols: Annotated[list[str], Field(min_length=1)] = ["tcp"]
    """Transports, a column each; the first is what speed-up is normalised to."""
    seed: Seed = SEED
    """Of graphs, and of the sources that are measured."""


class Workload(Section):
    """A graph for betweenness centrality."""

    scale: Annotated[int, Field(ge=1, le=24)]
    """The graph has 2^scale nodes."""
    a: Share = 0.55
    """Share of the edges in the first quarter of the adjacency matrix."""
    b: Share = 0.1
    """The same of the second."""
    c: Share = 0.1
    """The same of the third."""
    d: Share = 0.25
    """The same of the fourth."""
    weighted: bool = True
    """Whether edges have weights."""
    sample: Count = 1
    """One source of so many is measured, at random, and stands for all of them."""
    edges: int | None = None
    """What the paper's table says."""


class Betweenness(Section):
    """Betweenness centrality."""

    deals: Annotated[list[Literal["block", "cyclic", "dynamic"]], Field(min_length=1)] = ["block"]
    """How sources are dealt to places."""
    workload: Annotated[dict[str, Workload], Field(min_length=1)]
    """Graphs by their names."""


class File(Section):
    """An experiment file: a program's table, and what is common."""

    scc: Common = Common()
    """What is common to the study's runs."""
    bc: Betweenness | None = None
    """The program: betweenness centrality."""
    figure: Figure | None = None
    """Which figure of the paper this is."""


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
        pieces(scheme, given)
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


def pieces(scheme: str, given: Buffers) -> Pieces:
    """What is sent at a time: of a buffer what flags leave, or a section."""
    return Pieces.of(scheme, Buffer.made(scheme, given.model_dump()))


@contextmanager
def buffers(given: Mapping[Any, Buffers]) -> Iterator[dict[str, Pieces]]:
    """Have transports that begin meanwhile use some buffers; what they send at a time, by scheme."""
    import dask

    keys = {"mpb": "dgsuite.rcce", "mpimpb": "dgsuite.mpimpb"}
    with dask.config.set({keys[name]: b.model_dump() for name, b in given.items()}):
        yield {name: pieces(name, b) for name, b in given.items()}
