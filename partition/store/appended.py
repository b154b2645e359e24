"""What a graph in files has got since it was saved: a file for each step, and a list of its own.

``step-ID-000001.json`` describes the first step after the save with this id, and has the checksum of its
arrays. It is written last, under a name that must be new. So a step is there whole or not at all, and of two
processes that add one at the same time, one gets an error. A later save has another id: it replaces the graph
and all of its steps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.partition.construction.grow import Given
from dgsuite.partition.store import archives, packing

KIND = "step"
"""The kind of archive that a list of these files describes."""

NAME = re.compile(r"step-([0-9a-f]{8})-(\d{6,})\.json")
"""Names of the lists."""

FILE = re.compile(r"step-[0-9a-f]{8}-\d{6,}(-[0-9a-f]{8}\.npz|\.json)")
"""Names of all files of steps."""


def add(folder: str, save_id: str, number: int, given: Given, identity: str) -> None:
    """Write a step.

    Parameters
    ----------
    save_id
        Of the save that it follows.
    number
        From 1.
    given
        What the graph got.
    identity
        Of the graph that it became.

    Raises
    ------
    InputError
        Another process has written this step.
    """
    src, dst, weights = given.piece
    arrays = {"src": src, "dst": dst}
    if weights is not None:
        arrays["weights"] = weights
    if given.labels is not None:
        arrays |= packing.packed(given.labels)
    name = f"step-{save_id}-{number:06}"
    entry = archives.write(folder, f"{name}-{token_hex(4)}.npz", arrays)
    facts = {"n": given.n, "identity": identity, "arrays": entry}
    try:
        archives.write_list(folder, f"{name}.json", KIND, facts, new=True)
    except FileExistsError:
        archives.remove(archives.join(folder, entry["file"]))
        raise InputError(
            f"{folder}: another process has added to the graph; load it again, and add to that"
        ) from None


def listed(folder: str, save_id: str) -> list[dict[str, Any]]:
    """The facts of all steps since a save, in order.

    Raises
    ------
    InputError
        One is missing or damaged.
    """
    numbers = sorted(
        int(found[2])
        for name in archives.names(folder)
        if (found := NAME.fullmatch(name)) and found[1] == save_id
    )
    steps = []
    for number in range(1, max(numbers, default=0) + 1):
        steps.append(archives.read_list(folder, f"step-{save_id}-{number:06}.json", KIND))
    return steps


def read(folder: str, facts: dict[str, Any]) -> Given:
    """What a graph got in a step."""
    arrays = archives.read(folder, facts["arrays"])
    piece = arrays["src"], arrays["dst"], arrays.get("weights")
    return Given(piece, facts["n"], packing.unpacked(arrays))


def files(names: Sequence[str]) -> list[str]:
    """Which files of a folder are those of steps."""
    return [name for name in names if FILE.fullmatch(name)]
