"""The checkpoints of a run in a folder, or at a URL of fsspec.

Of each checkpoint, a site writes a file with what its clusters need, a file with its log, and then a list of
both with their checksums. A checkpoint is whole if the lists of all sites are there, and what they name is
undamaged. The last two are kept: while one is written, or if it is damaged, there is the one before.

The try of the run that began last owns the folder. Processes of an earlier one, which may still run, find
that out before they write.
"""

from __future__ import annotations

import logging
import re
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from secrets import token_hex
from time import monotonic
from typing import Any, NamedTuple

from numpy.typing import NDArray

from dgsuite.engine import checkpoint
from dgsuite.engine.checks import digest
from dgsuite.engine.log import Log, merge
from dgsuite.engine.program import Step
from dgsuite.engine.site import Site
from dgsuite.engine.values import Classes, Reader, Writer
from kernels.base import Vote
from partition import archives
from partition.archives import Entry
from partition.errors import InputError, RunError

logger = logging.getLogger("dgsuite")

KIND = "checkpoint"
"""What the lists are of."""

OWNER = "owner.json"
"""Name of the file that says which try owns the folder."""

NAME = re.compile(
    r"phase-(?P<phases>\d{8,})-(?P<attempt>[0-9a-f]{8})-"
    r"(?:states-\d{4,}\.npz|log-\d{4,}\.npz|(?P<list>site-(?P<site>\d{4,})-of-(?P<sites>\d{4,})\.json))"
    r"(?P<part>\.[0-9a-z.]+\.part)?"
)
"""Names of the files, and of those that were being written when a process was killed."""

COPIES = 3
"""Of a checkpoint in the memory of workers: what is being written, and one or two that are kept."""

DUE = 16
"""Bit of `Vote.given` that is set in a marked vote; no program reads it."""


def marked(vote: Vote) -> Vote:
    """A vote that tells all sites to write a checkpoint after this phase."""
    return vote._replace(given=vote.given | DUE)


def is_marked(vote: Vote) -> bool:
    """Whether a site told the others to."""
    return bool(vote.given & DUE)


class Found(NamedTuple):
    """A checkpoint that is whole.

    Attributes
    ----------
    phases
        How many phases of the run are over.
    offsets
        Where the clusters begin: see `partition.partitioners.Partition`.
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
    automatic
        Whether nobody asked for them. Then they cost nothing before the first is due, and the run continues
        if one cannot be written. No other run knows the folder, so it has no owner.
    """

    folder: str
    every: float | int
    facts: Mapping[str, Any]
    offsets: list[int] | None = None
    attempt: str = ""
    found: Found | None = None
    automatic: bool = False

    def begun(self, offsets: list[int], found: Found | None) -> Checkpoints:
        """The same for a try of the run, which owns the folder from now on."""
        attempt = token_hex(4)
        if self.automatic:
            return replace(self, offsets=offsets, attempt=attempt, found=found)
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
        if self.automatic:
            return
        try:
            there = archives.read_list(self.folder, OWNER, KIND)["attempt"]
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
        return merge([Log.of(columns) for columns in self.pasts(Classes())])

    def pasts(self, classes: Classes) -> list[Any]:
        """What each site wrote of the phases that are over."""
        assert self.found is not None
        read = Reader(classes).read
        return [read(archives.read(self.folder, log)) for *_, log in self.found.sites]

    def end(self, seconds: float) -> None:
        """Remove all files, after so many seconds of the run; of automatic ones there are none before."""
        if not self.automatic or seconds >= self.every:
            self.remove()

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
                facts = archives.read_list(self.folder, match[0], KIND)
                for entry in (facts["states"], facts["log"]):
                    archives.check(self.folder, entry)
            except InputError as error:
                raise BrokenError(str(error)) from None
            if facts["run"] != self.facts:
                raise InputError(f"{self.folder}: {_other(facts['run'], self.facts)}")
            sites.append((*facts["clusters"], facts["states"], facts["log"]))
        if len(sites) < int(lists[0]["sites"]):
            raise BrokenError(f"{len(sites)} of {int(lists[0]['sites'])} workers wrote theirs")
        return Found(int(lists[0]["phases"]), facts["offsets"], sites)


class BrokenError(Exception):
    """A checkpoint is not whole."""


def _other(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What is different in a checkpoint of another run."""
    name = next(n for n in {**before, **now} if before.get(n) != now.get(n))
    return (
        f"holds a checkpoint of another run: {name} was {before.get(name)!r}, and is {now.get(name)!r}; "
        f"give a folder of its own, or remove this one"
    )


class Pace:
    """When a checkpoint is due.

    Parameters
    ----------
    plan
        Says how often.
    rounds
        Of the run that are over.
    """

    few = 16
    """Phases that are sent off at once before it is known how long they take."""

    def __init__(self, plan: Checkpoints, rounds: int = 0) -> None:
        self.every = plan.every
        self.restart(rounds)

    def restart(self, rounds: int) -> None:
        """The time to the next checkpoint begins, after so many rounds."""
        self._since = rounds if type(self.every) is int else monotonic()

    def due(self, step: Step) -> bool:
        """Whether one is due after a phase."""
        if type(self.every) is int:
            return step.last and step.round + 1 - self._since >= self.every
        return monotonic() - self._since >= self.every

    def phases(self, seconds: float, count: int) -> int:
        """How many phases to send off at once, if the last ones took so many seconds."""
        if type(self.every) is int:
            return sys.maxsize
        return max(1, int(self.every * count / max(seconds, 1e-3)))


class Fresh:
    """A run at one site that begins at round 0 and writes no checkpoints.

    Attributes
    ----------
    log
        Of the site, with the phases that are over.
    votes
        Of these phases: with them the program is replayed.
    sends
        What the site sends once more before it goes on: see `checkpoint.restore`.
    """

    def __init__(self, site: Site) -> None:
        self.log = Log(len(site.clusters))
        self.votes: list[Vote] = []
        self.sends: list[list[Any]] = []

    def due(self, step: Step) -> bool:
        """Whether the other sites are to be told to write a checkpoint after a phase."""
        return False

    def write(self) -> None:
        """Write a checkpoint of the site after the last phase of the log."""


class Kept(Fresh):
    """A run at one site that writes checkpoints, and goes on from one if there is one.

    Parameters
    ----------
    plan
        The folder.
    site
        Its clusters get their state from the checkpoint.

    Raises
    ------
    InputError
        The folder is not that of the run, or the checkpoint is of another graph.
    """

    _can = True

    def __init__(self, plan: Checkpoints, site: Site) -> None:
        super().__init__(site)
        plan.check_owner()
        site.keeps = not plan.automatic
        self.plan = plan
        self.site = site
        self._written: deque[list[str]] = deque()
        if plan.found is not None:
            self._go_on(plan.found)
        self._pace = Pace(plan, self._reached()[1])

    @cached_property
    def _graph(self) -> list[list[int]]:
        """Checksums of the clusters."""
        return [digest([cluster]) for cluster in self.site.clusters]

    def _go_on(self, found: Found) -> None:
        """Read what the site goes on from."""
        folder, first = self.plan.folder, self.site.clusters[0].index
        last = first + len(self.site.clusters)
        arrays: dict[str, NDArray] = {}
        for begin, end, states, _ in found.sites:
            if begin < last and first < end:
                arrays |= archives.read(folder, states)
        self.sends = checkpoint.restore(self.site, arrays, self._graph)
        self._take_past(slice(first, last))

    def _take_past(self, clusters: slice) -> None:
        """Go on from what all sites have logged; this one has these clusters."""
        whole = self.plan.past()
        self.votes = whole.votes
        self.log = whole.part(clusters)

    def _reached(self) -> tuple[int, int]:
        """How many phases and rounds are over."""
        return len(self.log), self.log.rounds

    def _past(self) -> Any:
        """What is written of the phases that are over."""
        return self.log.columns()

    def due(self, step: Step) -> bool:
        if self.site.me or not self._can:  # one decides for all
            return False
        return self._pace.due(step)

    def write(self) -> None:
        """Write a checkpoint of the site; an automatic one after the next phase, which is kept for it."""
        if not self.plan.automatic:
            self._write()
        elif not self.site.keeps:
            self.site.keeps = True
        elif self._can:
            try:
                self._write()
            except (InputError, RunError) as error:
                self._can = False
                logger.info("kernel %r has no checkpoints: %s", self.site.kernel.name, error)
            self.site.keeps, self.site.returned = False, ()

    def _write(self) -> None:
        plan, me = self.plan, self.site.me
        plan.check_owner()
        phases, rounds = self._reached()
        head = f"phase-{phases:08}-{plan.attempt}"
        states = checkpoint.held(self.site, self._graph)
        log = Writer(self.site.classes()).write(self._past())
        if plan.automatic and self.site.room is not None:
            self.site.room("checkpoint", COPIES * sum(array.nbytes for array in states.values()))
        entries = {
            "states": archives.write(plan.folder, f"{head}-states-{me:04}.npz", states),
            "log": archives.write(plan.folder, f"{head}-log-{me:04}.npz", log),
        }
        indices = [cluster.index for cluster in self.site.clusters]
        facts = {
            "run": plan.facts,
            "offsets": plan.offsets,
            "clusters": (indices[0], indices[-1] + 1),
            **entries,
        }
        name = f"{head}-site-{me:04}-of-{len(self.site.bounds) - 1:04}.json"
        archives.write_list(plan.folder, name, KIND, facts)
        self._written.append([name, *(entry["file"] for entry in entries.values())])
        self._clear()
        self._pace.restart(rounds)

    def _clear(self) -> None:
        """Remove what is older than the last two.

        All sites have written a checkpoint when one writes the next, as they exchange messages between.
        """
        if len(self._written) < 2:
            return
        self.plan.check_owner()  # what is older may be what another try goes on from
        if len(self._written) == 2 and self.site.me == 0:
            self.plan.remove(besides=self.plan.attempt)
        if len(self._written) > 2:
            files, inner = archives.opened(self.plan.folder)
            for name in self._written.popleft():
                files.rm_file(f"{inner}/{name}")


def begun(plan: Checkpoints | None, site: Site, kept: type[Kept] = Kept) -> Fresh:
    """A run at one site, with checkpoints if there is a plan.

    Automatic ones are of no use if there is no other site: they would be lost with the worker.
    """
    alone = len(site.bounds) == 2
    if plan is None or (plan.automatic and alone and plan.found is None):
        return Fresh(site)
    return kept(plan, site)
