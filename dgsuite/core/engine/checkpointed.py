"""A run at one site with checkpoints: when they are due, writing them, and going on from one.

The votes of a phase tell all sites to write a checkpoint, so all write at the end of the same phase.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from dgsuite.core.engine import checkpoint
from dgsuite.core.engine.checkpoint_files import KIND, Checkpoints, Found
from dgsuite.core.engine.checks import digest
from dgsuite.core.engine.forged import DUE
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.values import Classes, Writer
from dgsuite.kernels.bsp import Vote
from dgsuite.partition.store import archives, checking


def marked(vote: Vote) -> Vote:
    """A vote that tells all sites to write a checkpoint after this phase."""
    return vote._replace(given=vote.given | DUE)


def is_marked(vote: Vote) -> bool:
    """Whether a site told the others to."""
    return bool(vote.given & DUE)


class Pace:
    """When a checkpoint is due.

    Parameters
    ----------
    plan
        Says how often.
    rounds
        Of the run that are over.
    """

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


class Fresh:
    """A run at one site that begins at round 0 and writes no checkpoints.

    Attributes
    ----------
    votes
        Of the phases that were over before: with them the program is replayed.
    sends
        What the site sends once more before it goes on: see `checkpoint.restore`.
    """

    def __init__(self) -> None:
        self.votes: list[Vote] = []
        self.sends: list[list[Any]] = []

    def resent(self, site: Site, number: int) -> dict[int, MessageBatch]:
        """Send once more what a site sends in one of the exchanges before it goes on."""
        return site.send(checkpoint.AGAIN, self.sends[number])

    def due(self, step: Step) -> bool:
        """Whether the other sites are to be told to write a checkpoint after a phase."""
        return False

    def write(self) -> None:
        """Write a checkpoint of the site after the last phase of its log."""


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

    def __init__(self, plan: Checkpoints, site: Site) -> None:
        super().__init__()
        plan.check_owner()
        site.keeps = True
        self.plan = plan
        self.site = site
        self._written: deque[list[str]] = deque()
        if plan.found is not None:
            self._go_on(plan.found)
        self._pace = Pace(plan, site.log.rounds)

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
        with checking.sound(folder):
            self.sends = checkpoint.restore(self.site, arrays, self._graph)
            whole = self.plan.past()
            self.votes = whole.votes
            self.site.log = whole.part(slice(first, last))

    def resent(self, site: Site, number: int) -> dict[int, MessageBatch]:
        with checking.sound(self.plan.folder):
            return super().resent(site, number)

    def due(self, step: Step) -> bool:
        return not self.site.me and self._pace.due(step)  # one decides for all

    def write(self) -> None:
        plan, me = self.plan, self.site.me
        plan.check_owner()
        head = f"phase-{len(self.site.log):08}-{plan.attempt}"
        states = checkpoint.held(self.site, self._graph)
        log = Writer(Classes()).write(self.site.log.columns())
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
        self._pace.restart(self.site.log.rounds)

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


def begun(plan: Checkpoints | None, site: Site) -> Fresh:
    """A run at one site, with checkpoints if there is a plan."""
    return Fresh() if plan is None else Kept(plan, site)
