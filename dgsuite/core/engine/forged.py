"""What is checked of a checkpoint whose checksums are right, before a run goes on from it.

Its log must be that of as many phases and clusters, its votes must be votes, and what a state declares must
have the dtype and the length that it has at first. What a kernel makes of other values is its own: a
checkpoint from a stranger may still give wrong results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.core.engine.log import TABLES, Log, row_format
from dgsuite.kernels.bsp import VOTES, ClusterState, Vote
from dgsuite.kernels.bsp.state import INITIAL, LIST
from dgsuite.partition.clusters.cluster import Cluster, Links
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.store.checking import refuse

DUE = 16
"""Bit of `Vote.given` that is set in a marked vote (`checkpointed.marked`); no program reads it."""

NUMBERS = (int, float, np.integer, np.floating, Fraction)


def log_of(columns: Any, clusters: int, phases: int | None = None) -> Log:
    """The log that a site wrote.

    Parameters
    ----------
    clusters
        Of the site.
    phases
        That are over, if that is known.

    Raises
    ------
    ValueError
        It is none of so many clusters and phases.
    """
    refuse(type(columns) is not dict, "its log is no table")
    refuse(columns["clusters"] != clusters, f"its log must be of {clusters} clusters")
    dtype, _ = row_format(clusters)
    rows = _bytes(columns["rows"], dtype, "rows of the log")
    count = len(votes_of(columns["votes"]))
    refuse(
        len(rows) != count or phases not in (None, count), "its log must have a vote for each phase"
    )
    refuse(type(columns["seconds"]) is not float, "seconds must be a number")
    names, notes = columns["names"], columns["notes"]
    refuse(
        type(names) is not list or any(type(name) is not str for name in names),
        "names must be text",
    )
    refuse(type(notes) is not dict, "notes are no table")
    for name, note in notes.items():
        right = isinstance(note, np.ndarray) and note.dtype == np.int64 and note.ndim == 1
        refuse(type(name) is not str or not right or len(note) > count, "notes must be integers")
    if count:
        for name in ("round", "turn"):
            refuse(rows[name].min() < 0, f"each {name} of the log must be from 0")
            if phases is not None:  # tasks run in any order
                _steps(rows[name], name)
        refuse(
            rows["phase"].min() < 0 or rows["phase"].max() >= len(names), "phases must have names"
        )
        _tables(columns, count)
    return Log.of(columns)


def _bytes(found: Any, dtype: np.dtype, what: str) -> NDArray:
    """Bytes as rows of a dtype."""
    right = isinstance(found, np.ndarray) and found.dtype == np.uint8 and found.ndim == 1
    refuse(
        not right or len(found) % dtype.itemsize, f"the {what} are not of {dtype.itemsize} bytes"
    )
    return np.frombuffer(found.tobytes(), dtype)


def _steps(values: NDArray, what: str) -> None:
    """See that numbers go on by one at most, from 0 or 1."""
    steps = np.diff(values)
    refuse(
        not 0 <= values[0] <= 1 or (len(steps) and (steps.min() < 0 or steps.max() > 1)),
        f"each {what} of the log must follow the one before",
    )


def _tables(columns: Mapping[str, Any], phases: int) -> None:
    for name, dtype in TABLES.items():
        table = _bytes(columns[name], dtype, f"rows of {name}")
        of = table["phase"]
        refuse(
            len(of) and not 0 <= of.min() <= of.max() < phases,
            f"{name} names phases that there are not",
        )


def votes_of(found: Any) -> list[Vote]:
    """Votes, once they are."""
    refuse(type(found) is not list, "its votes are no list")
    for vote in found:
        vote_of(vote)
    votes: list[Vote] = found
    return votes


def vote_of(vote: Any) -> Vote:
    """A vote, once it is one."""
    right = (
        isinstance(vote, Vote)
        and type(vote.any) in (bool, np.bool_)
        and isinstance(vote.sum, NUMBERS)
        and all(each is None or isinstance(each, NUMBERS) for each in (vote.min, vote.max))
        and type(vote.given) is int
        and 0 <= vote.given < sum(VOTES.values()) + DUE + 1
        and isinstance(vote.targets, tuple)
        and all(isinstance(target, tuple) and len(target) == 3 for target in vote.targets)
    )
    refuse(not right, f"{repr(vote)[:80]} is no vote")
    return vote


def state_of(found: Any, first: Any, cluster: Cluster, outputs: Collection[str] = ()) -> Any:
    """The state of a cluster, once it is like that with which a run begins.

    Parameters
    ----------
    outputs
        Fields that have a value for each node.

    Raises
    ------
    ValueError
        It is of another class, or a field that it declares has another dtype or length, or names nodes that
        the cluster does not have.
    """
    refuse(type(found) is not type(first), f"a state must be a {type(first).__name__}")
    held = vars(found)
    for name in vars(first):
        refuse(name not in held, f"the state has no {name!r}")
    declared = fields(first) if isinstance(first, ClusterState) and is_dataclass(first) else ()
    for field in declared:
        value, before = held.get(field.name), getattr(first, field.name, None)
        if LIST in field.metadata:
            _nodes(value, cluster.size, field.name)
        elif (INITIAL in field.metadata or field.name in outputs) and isinstance(
            before, np.ndarray
        ):
            refuse(
                not _is_array(value, before.dtype, before.shape),
                f"{field.name} must have dtype {before.dtype} and shape {before.shape}",
            )
    for name, value in held.items():
        if isinstance(value, Subset):
            _subset(value, name)
        elif isinstance(value, Links):
            _links(value, cluster, name)
    return found


def _links(found: Links, cluster: Cluster, what: str) -> None:
    """See that live links are of this cluster."""
    size, entries = cluster.size, len(cluster.indices)
    for values in (found.degree, found.remote):
        right = _is_array(values, np.int32, (size,))
        refuse(not right, f"{what} must count {size} nodes in int32")
    right = found.gone is None or _is_array(found.gone, bool, (entries,))
    refuse(found._entries != entries or not right, f"{what} must be of {entries} edges")


def _is_array(value: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and (value.dtype, value.shape) == (dtype, shape)


def _nodes(value: Any, size: int, what: str) -> None:
    right = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"
    refuse(
        not right or (len(value) and not 0 <= value.min() <= value.max() < size),
        f"{what} must be nodes from 0 to {size - 1}",
    )


def _subset(found: Subset, what: str) -> None:
    """See that the forms of a subset agree."""
    mask, members, bits = found._mask, found._members, found._bitmap
    size, start, count = found.size, found.start, found.count
    refuse(
        any(type(value) not in (int, np.int64) for value in (size, start, count))
        or not 0 <= count <= size
        or (mask is None and members is None),
        f"{what} is no set of nodes",
    )
    if mask is not None:
        refuse(
            not _is_array(mask, bool, (size,)) or np.count_nonzero(mask) != count,
            f"{what} must be a mask of {size} nodes with {count} in it",
        )
    if members is not None:
        _nodes(members - start, size, what)
        refuse((members[1:] <= members[:-1]).any() or len(members) < count, f"{what} must ascend")
        refuse(mask is None and len(members) != count, f"{what} must have {count} nodes")
    refuse(
        bits is not None and not _is_array(bits, np.uint8, (-(-size // 8),)),
        f"{what} must have a bit for each of {size} nodes",
    )
