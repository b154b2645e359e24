"""What a graph in files has got since it was saved: a file for each step, and a list of its own.

``step-ID-000001.json`` describes the first step after the save with this id, and has the checksum of its
arrays. It is written last, under a name that must be new. So a step is there whole or not at all, and of two
processes that add one at the same time, one gets an error. A later save has another id: it replaces the graph
and all of its steps.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from dgsuite.base.errors import InputError
from dgsuite.partition.construction.grow import Given
from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import Labels
from dgsuite.partition.sources.piece import MOST_NODES, check_edges
from dgsuite.partition.store import archives, checking, packing

NEEDED = {"n": checking.is_count, "identity": checking.is_text, "arrays": checking.is_dict}
"""What a list says, and of what kind that is."""

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
    except BaseException as error:
        archives.remove(archives.join(folder, entry["file"]))
        if not isinstance(error, FileExistsError):
            raise
        raise InputError(
            f"{folder}: another process has added to the graph; load it again, and add to that"
        ) from None


class Listed(NamedTuple):
    """A step: the path of its list, and its facts."""

    path: str
    facts: dict[str, Any]


def listed(folder: str, save_id: str) -> list[Listed]:
    """All steps since a save, in order.

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
        name = f"step-{save_id}-{number:06}.json"
        facts = archives.read_list(folder, name, KIND, NEEDED)
        archives.place(folder, facts["arrays"])
        steps.append(Listed(archives.join(folder, name), facts))
    return steps


def read(
    folder: str,
    step: Listed,
    before: int,
    weighted: bool,
    labels: Labels | None,
    added: set[Hashable],
) -> Given:
    """What a graph got in a step.

    Parameters
    ----------
    before, weighted, labels
        Of the graph: how many nodes it had, whether it has weights, and its labels when it was saved.
    added
        Labels of nodes that it got since then; those of the step are put there.

    Raises
    ------
    InputError
        It is not what a graph can get.
    """
    entry, n = step.facts["arrays"], step.facts["n"]
    arrays, path = archives.read(folder, entry), archives.place(folder, entry)
    with checking.sound(step.path):
        checking.refuse(
            not before <= n <= MOST_NODES, f"n = {n} is less than {before}, or too much"
        )
    with checking.sound(path):
        src = checking.needed(arrays, "src", ["i8"])
        dst = checking.needed(arrays, "dst", ["i8"], len(src))
        weights = arrays.get("weights")
        checking.refuse(
            len(src) and (weights is not None) != weighted,
            "weights must be there if the graph has some",
        )
        if weights is not None:
            checking.refuse(
                weights.shape != src.shape or not checking.is_weights(weights.dtype),
                f"weights have the shape {weights.shape} and dtype {weights.dtype}",
            )
        check_edges((src, dst, weights), n)
        new = packing.unpacked(arrays, path)
        more = n - before if labels is not None else 0
        checking.refuse(
            more != (0 if new is None else len(new)), f"there must be labels of {more} nodes"
        )
        if new is not None and labels is not None:
            _check_labels(new, labels, added)
    return Given((src, dst, weights), n, new)


def _check_labels(new: Values, labels: Labels, added: set[Hashable]) -> None:
    """Check that new labels ascend, are of the graph's kind, and are none of those that it has."""
    checking.ascending(new)
    array = identifiers.to_numpy(new, identifiers.dtype_of(new))
    checking.refuse(
        labels[:1].dtype.kind not in ("O", array.dtype.kind)
        or not added.isdisjoint(array.tolist())
        or (labels.nodes(array, missing=True) >= 0).any(),
        "new labels must be of the graph's kind, and none that it has",
    )
    added.update(array.tolist())


def files(names: Sequence[str]) -> list[str]:
    """Which files of a folder are those of steps."""
    return [name for name in names if FILE.fullmatch(name)]
