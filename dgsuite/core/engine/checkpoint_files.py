"""The checkpoints of a run in a folder, or at a URL of fsspec.

Of each checkpoint, a site writes a file with what its clusters need, a file with its log, and then a list of
both with their checksums. A checkpoint is whole if the lists of all sites are there, and what they name is
undamaged. The last two are kept: while one is written, or if it is damaged, there is the one before.

The try of the run that began last owns the folder. Processes of an earlier one, which may still run, find
that out before they write.
"""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.log import TABLES, Log, merge, row_format
from dgsuite.kernels.bsp import Vote
from dgsuite.partition.store import archives, checking
from dgsuite.partition.store.archives import Entry
from dgsuite.partition.store.checking import refuse

logger = logging.getLogger("dgsuite")

KIND = "checkpoint"
"""What the lists are of."""

DUE = 16
"""Bit of `Vote.given` by which a vote tells all sites to write a checkpoint; no program reads it."""

OWNER = "owner.json"
"""Name of the file that says which try owns the folder."""

NAME = re.compile(
    r"phase-(?P<phases>\d{8,})-(?P<attempt>[0-9a-f]{8})-"
    r"(?:states-\d{4,}\.npz|log-\d{4,}\.npz|(?P<list>site-(?P<site>\d{4,})-of-(?P<sites>\d{4,})\.json))"
    r"(?P<part>\.[0-9a-z.]+\.part)?"
)
"""Names of the files, and of those that were being written when a process was killed."""


NEEDED: dict[str, checking.Kind] = {
    "run": dict,
    "offsets": checking.is_counts,
    "clusters": checking.is_counts,
    "states": dict,
    "log": dict,
}
"""What the list of a site says, and of what kind that is."""

OWNED = {"attempt": str}
"""The same of the file that names the owner."""


class Found(NamedTuple):
    """A checkpoint that is whole.

    Attributes
    ----------
    phases
        How many phases of the run are over.
    offsets
        Where the clusters begin: see `dgsuite.partition.clusters.partitioners.Partition`.
    sites
        Of each site that wrote it, the numbers of its clusters from and to, and the entries of its files.
    """

    phases: int
    offsets: list[int]
    sites: list[tuple[int, int, Entry, Entry]]


@dataclass(frozen=True)
class Checkpoints:
    """The folder of a run's checkpoints.

    Attributes
    ----------
    folder
        Absolute path or URL.
    every
        Seconds between two checkpoints; as int, rounds.
    facts
        What the run is: a checkpoint of another run is refused.
    offsets
        Where the clusters begin.
    attempt
        A part of the names of files, new for each try of the run. So what a try left that was broken off is
        not mixed with what this one writes.
    found
        What this try goes on from, if anything.
    """

    folder: str
    every: float | int
    facts: Mapping[str, Any]
    offsets: list[int] | None = None
    attempt: str = ""
    found: Found | None = None

    def begun(self, offsets: list[int], found: Found | None) -> Checkpoints:
        """The same for a try of the run, which owns the folder from now on."""
        attempt = token_hex(4)
        with archives.explained(self.folder):
            files, inner = archives.opened(self.folder)
            files.makedirs(inner, exist_ok=True)
        archives.write_list(self.folder, OWNER, KIND, {"attempt": attempt})
        return replace(self, offsets=offsets, attempt=attempt, found=found)

    def check_owner(self) -> None:
        """Check that this try owns the folder.

        Raises
        ------
        InputError
            Another one does, or this process sees another folder.
        """
        try:
            there = archives.read_list(self.folder, OWNER, KIND, OWNED)["attempt"]
        except InputError as error:
            raise InputError(f"{error}; all workers must see the same folder") from None
        if there != self.attempt:
            raise InputError(f"{self.folder}: another run writes its checkpoints there")

    def newest(self) -> Found | None:
        """The newest checkpoint that is whole, if there is one.

        Raises
        ------
        InputError
            The folder holds checkpoints of another run.
        """
        lists: dict[tuple[int, str], list[re.Match]] = defaultdict(list)
        for match in self._files():
            if match["list"] and not match["part"]:
                lists[int(match["phases"]), match["attempt"]].append(match)
        for key in sorted(lists, reverse=True):
            try:
                return self._whole(lists[key])
            except BrokenError as error:
                logger.warning("the checkpoint of phase %d is left out: %s", key[0], error)
        if lists:
            logger.warning("%s: no checkpoint is whole; the run begins at round 0", self.folder)
        return None

    def past(self) -> Log:
        """The log of what this try goes on from; an empty one at round 0."""
        if self.found is None:
            return Log(0)
        logs = []
        for begin, end, _, entry in self.found.sites:
            arrays = archives.read(self.folder, entry)
            with checking.sound(archives.place(self.folder, entry)):
                logs.append(read_log(arrays, end - begin, self.found.phases))
        return merge(logs)

    def remove(self, besides: str = "") -> None:
        """Remove all files of checkpoints but those of a try, and the folder if it is empty then."""
        with archives.explained(self.folder):
            files, inner = archives.opened(self.folder)
            for match in self._files():
                if match["attempt"] != besides:
                    files.rm_file(f"{inner}/{match[0]}")
            if besides:
                return
            with suppress(FileNotFoundError):
                files.rm_file(f"{inner}/{OWNER}")
            files.invalidate_cache()
            if files.isdir(inner) and not files.ls(inner):
                files.rmdir(inner)

    def _files(self) -> Iterator[re.Match]:
        """Names of the files of checkpoints."""
        with archives.explained(self.folder):
            files, inner = archives.opened(self.folder)
            files.invalidate_cache()
            names = files.ls(inner, detail=False) if files.isdir(inner) else []
        return filter(None, (NAME.fullmatch(name.rpartition("/")[2]) for name in names))

    def _whole(self, lists: list[re.Match]) -> Found:
        """A checkpoint of which these are the lists of sites.

        Raises
        ------
        BrokenError
            It is not whole.
        """
        sites = []
        for match in sorted(lists, key=lambda match: int(match["site"])):
            try:
                facts = archives.read_list(self.folder, match[0], KIND, NEEDED)
                for entry in (facts["states"], facts["log"]):
                    archives.check(self.folder, entry)
            except InputError as error:
                raise BrokenError(str(error)) from None
            if facts["run"] != self.facts:
                raise InputError(f"{self.folder}: {_other(facts['run'], self.facts)}")
            with checking.sound(archives.join(self.folder, match[0])):
                begin, end = facts["clusters"]
            sites.append((begin, end, facts["states"], facts["log"]))
        if len(sites) < int(lists[0]["sites"]):
            raise BrokenError(f"{len(sites)} of {int(lists[0]['sites'])} workers wrote theirs")
        offsets = facts["offsets"]
        ends = [0, *(end for _, end, *_ in sites)]
        with checking.sound(self.folder):
            follow = [begin for begin, *_ in sites] == ends[:-1] and ends == sorted(ends)
            refuse(not follow, "its lists must be of clusters that follow each other")
            refuse(len(offsets) != ends[-1] + 1, f"offsets must be those of {ends[-1]} clusters")
            checking.partition(offsets, None)
            n = self.facts.get("n", offsets[-1])
            refuse(offsets[-1] != n, f"offsets must end at {n}")
        return Found(int(lists[0]["phases"]), offsets, sites)


class BrokenError(Exception):
    """A checkpoint is not whole."""


def _other(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What is different in a checkpoint of another run."""
    names = (n for n in {**before, **now} if before.get(n) != now.get(n))
    name = next(names, "version")
    return (
        f"holds a checkpoint of another run: {name} was {before.get(name)!r}, and is {now.get(name)!r}; "
        f"give a folder of its own, or remove this one"
    )


def write_log(folder: str, name: str, log: Log) -> Entry:
    """Write a site's log; returns the entry of the file."""
    arrays = log.columns()
    about = {each: arrays.pop(each) for each in ("seconds", "names", "votes")}
    about["votes"] = [
        (v.any, [*v.sum.as_integer_ratio()] if type(v.sum) is Fraction else v.sum, *v[2:5])
        for v in about["votes"]
    ]
    notes = {f"note {each}": column for each, column in arrays.pop("notes").items()}
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    del arrays["clusters"]
    return archives.write(folder, name, {**arrays, **notes, "about": text})


def read_log(arrays: Mapping[str, NDArray], clusters: int, phases: int) -> Log:
    """The log of a site with so many clusters after so many phases, from the arrays of its file.

    Raises
    ------
    ValueError
        It is none of so many clusters and phases.
    """
    about = json.loads(arrays["about"].tobytes())
    votes, names = [*map(_vote, about["votes"])], about["names"]
    refuse(type(about["seconds"]) is not float, "seconds must be a number")
    refuse(any(type(name) is not str for name in names), "names must be text")
    columns = {"clusters": clusters, "seconds": about["seconds"], "names": names, "votes": votes}
    kinds = {"rows": row_format(clusters)[0], **TABLES}
    rows = {name: _bytes(arrays[name], dtype, name) for name, dtype in kinds.items()}
    table, last = rows["rows"], phases - 1
    refuse(len(table) != phases or len(votes) != phases, "its log must have a vote for each phase")
    for name in ("round", "turn"):
        steps = np.diff(table[name], prepend=0)
        refuse(not _within(steps, 0, 1), f"each {name} of the log must follow the one before")
    refuse(not _within(table["phase"], 0, len(names) - 1), "phases must have names")
    for name in TABLES:
        refuse(not _within(rows[name]["phase"], 0, last), f"{name} names phases that are not there")
    notes = {name[5:]: note for name, note in arrays.items() if name.startswith("note ")}
    for note in notes.values():
        right = note.dtype == np.int64 and note.ndim == 1 and len(note) <= phases
        refuse(not right, "notes must be integers")
    return Log.of({**columns, **{name: arrays[name] for name in kinds}, "notes": notes})


def _vote(found: Any) -> Vote:
    """A vote, once it is one."""
    any_, total, least, most, given = found
    total = Fraction(*total) if type(total) is list else total
    right = (
        type(any_) is bool
        and type(total) in (int, Fraction)
        and all(each is None or type(each) in (int, float) for each in (least, most))
        and type(given) is int
        and 0 <= given < 2 * DUE
    )
    refuse(not right, f"{found!r:.80} is no vote")
    return Vote(any_, total, least, most, given)


def _bytes(found: NDArray, dtype: np.dtype, what: str) -> NDArray:
    """Bytes as rows of a dtype."""
    right = found.dtype == np.uint8 and found.ndim == 1 and not len(found) % dtype.itemsize
    refuse(not right, f"the {what} of the log are not of {dtype.itemsize} bytes")
    return np.frombuffer(found.tobytes(), dtype)


def _within(values: NDArray, least: int, most: int) -> bool:
    """Whether all values are from one number to another."""
    return bool(((values >= least) & (values <= most)).all())
