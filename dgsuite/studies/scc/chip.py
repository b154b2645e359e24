"""The Single-Chip Cloud Computer: its mesh of tiles, what its buffers cost, and its memory.

Sizes and clocks are those of Chapman, Hussein and Hosking, sections 2 and 4.1. Cycles are those of the SCC
External Architecture Specification (Intel Labs 2010) on memory latency: a line of a message-passing buffer
takes 45 core cycles, and 4 mesh cycles each way for each router that it passes, that of its own tile
included. Packets go along the row first, then along the column.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.studies.scc.ledger import Pieces, Transport
from dgsuite.studies.transports.chip import FLAG, Buffer


@dataclass(frozen=True)
class Chip:
    """A mesh of tiles.

    Attributes
    ----------
    columns, rows
        Of the mesh.
    cores_per_tile
        Core 0 is in the first tile of the first row; numbers go along the rows.
    core_hz, mesh_hz
        Clocks.
    access_cycles
        Core cycles to read or write a line of a buffer.
    router_cycles
        Mesh cycles of a router, one way.
    buffer
        Bytes of a core's message-passing buffer.
    memory
        Bytes of a core's private memory.
    """

    columns: int = 6
    rows: int = 4
    cores_per_tile: int = 2
    core_hz: float = 533e6
    mesh_hz: float = 800e6
    access_cycles: int = 45
    router_cycles: int = 4
    buffer: int = 8192
    memory: int = 322_000_000

    @property
    def tiles(self) -> int:
        return self.columns * self.rows

    @property
    def cores(self) -> int:
        return self.tiles * self.cores_per_tile

    def hops(self, core: Any, other: Any) -> NDArray[np.int64]:
        """Links between the tiles of two cores, or of arrays of cores."""
        one, two = (np.asarray(c) // self.cores_per_tile for c in (core, other))
        along = np.abs(one % self.columns - two % self.columns)
        return np.asarray(along + np.abs(one // self.columns - two // self.columns))

    def access(self, core: Any, other: Any) -> NDArray[np.float64]:
        """Seconds in which a core reads or writes a line of another's buffer, or of its own."""
        routers = self.hops(core, other) + 1
        return np.asarray(
            self.access_cycles / self.core_hz + 2 * self.router_cycles * routers / self.mesh_hz
        )


SCC = Chip()

SCHEMES = {"chip:mpb": "mpb", "chip:mpimpb": "mpimpb"}
"""Columns that are simulated on the chip, and their schemes: that of RCCE-X10, and that of the SCC's MPI."""

NO_SOCKETS = "the chip's columns have no sockets: the paper prints no cost of its TCP/IP driver"
"""What there is no column of, and why."""


@dataclass(frozen=True)
class OnChip(Transport):
    """A transport through the chip's buffers, by cycles alone: no software, and no two messages at a time.

    Each line of a message is written once and read once, one of the two in another core's buffer. Each
    piece of it has a flag to the receiver and one back: both are set in another's buffer and read in one's
    own. A message without content takes a line.
    """

    chip: Chip = field(default=SCC)

    def seconds(self, nbytes: Any, sender: Any, receiver: Any) -> Any:
        lines, pieces = (np.maximum(1, np.ceil(np.divide(nbytes, s))) for s in (FLAG, self.chunk))
        here, there = self.chip.access(sender, sender), self.chip.access(sender, receiver)
        return (lines + 2 * pieces) * (here + there)

    def why_not(self, places: int, held: float) -> str:
        if places > self.chip.cores:
            return f"{places} places are more than the {self.chip.cores} cores"
        if held > self.chip.memory:
            return f"a place holds {held / 1e6:.0f} MB of the {self.chip.memory / 1e6:.0f} MB of a core"
        return ""


def transport(name: str, chip: Chip = SCC) -> OnChip:
    """A column of `SCHEMES`; its costs of a message and of a byte are means over all pairs of cores.

    Raises
    ------
    InputError
        There is none of the name.
    """
    if name not in SCHEMES:
        raise InputError(f"{name!r} is no transport of the chip; one of {', '.join(SCHEMES)}")
    settings = Buffer(chip.buffer, chip.cores)
    chunk, buffer = Pieces.of(SCHEMES[name], settings)
    made = OnChip(name, 0.0, 0.0, chunk=chunk, buffer=buffer, chip=chip)
    cores = np.arange(chip.cores)
    apart = cores[:, None] != cores
    empty, full = (
        float(made.seconds(size, cores[:, None], cores)[apart].mean()) for size in (0, 64 * chunk)
    )
    return replace(made, message=empty, byte=(full - empty) / (64 * chunk))
