"""The whole study: every experiment that ships for a figure of a paper, and the page of their results."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from dgsuite.base import capabilities
from dgsuite.base.errors import one_of
from dgsuite.base.files import atomic_write
from dgsuite.partition.client.installed import fingerprint

NOTES = "study.json"
"""File of a folder: of each step that is done, the code that did it, what it took, and its checksum."""

PATIENCE = 10.0
"""Seconds that a step has to end after a signal."""


class Step(NamedTuple):
    """An experiment of the study."""

    name: str
    """Of its file."""
    command: str
    """Which command runs it: "run", "scaling", "scaling simulate" or "scc"."""
    minutes: float
    """What it takes in its quick setting, on a machine of two processors."""

    @property
    def started_by(self) -> list[str]:
        """The command that makes its result, as a person types it."""
        words = self.command.split()
        return words if len(words) > 1 else [self.command, self.name]

    def arguments(self, folder: Path, full: bool) -> list[str]:
        """The command's arguments, with results in a folder."""
        result = str(folder / f"{self.name}.nc")
        where = ["--output", result]
        if self.command == "scaling":
            where = ["--output", str(folder), "--set", f"experiment.output={result}"]
        has_full = self.command in ("run", "scaling") and self.name not in SINGLE
        return [*self.started_by, *where, *["--full"] * (full and has_full)]


SINGLE = ("figure07", "figure08", "figure09")
"""Those that have one setting."""

STEPS = (
    Step("figure07", "run", 0.15),
    Step("figure08", "run", 0.1),
    Step("figure09", "run", 0.08),
    Step("figure10", "run", 0.1),
    Step("figure11", "run", 14),
    Step("figure11-mn", "run", 3.8),
    Step("figure11-hjfap", "run", 1.2),
    Step("figure12", "run", 8.7),
    Step("figure13", "run", 3.9),
    Step("figure14", "run", 1.9),
    Step("figure15", "run", 7.3),
    Step("figure16", "run", 1.4),
    Step("figure17", "run", 3.7),
    Step("figure18", "run", 1.7),
    Step("figure19", "run", 4),
    Step("figure19-factors", "run", 1.4),
    Step("scalability-figure2", "scaling", 3.6),
    Step("scalability-paper", "scaling", 3.4),
    Step("scalability-simulated", "scaling simulate", 0.5),
    Step("scc-hf-figure5", "scc", 2.6),
    Step("scc-hf-figure6", "scc", 0.72),
    Step("scc-hf-figure7", "scc", 0.73),
    Step("scc-bc-figure8", "scc", 0.38),
    Step("scc-bc-figure9", "scc", 0.81),
    Step("scc-bc-figure10", "scc", 0.56),
)
"""All of them, in the order in which they run."""


def chosen(names: Sequence[str]) -> list[Step]:
    """The steps of some names, or all.

    Raises
    ------
    InputError
        A name is no step's.
    """
    known = {step.name: step for step in STEPS}
    for name in names:
        one_of("step", name, known)
    return [known[name] for name in names] or list(STEPS)


class Study:
    """Steps whose results are in a folder.

    Parameters
    ----------
    folder
        Where the results are, or will be.
    full
        Whether steps run in the papers' settings.
    """

    def __init__(self, folder: Path, full: bool = False) -> None:
        self.folder = folder
        self.full = full
        self._code = f"{fingerprint()}{'-full' * full}"

    def done(self, step: Step) -> bool:
        """Whether a step's result is there, made by this code."""
        note = self._notes().get(step.name, {})
        return note.get("code") == self._code and (self.folder / f"{step.name}.nc").exists()

    def minutes(self, step: Step) -> float:
        """What a step takes: what it took before, or else on a machine of two processors."""
        note = self._notes().get(step.name)
        return step.minutes if note is None or note["full"] != self.full else float(note["minutes"])

    def estimate(self, steps: Iterable[Step]) -> float:
        """Minutes of the steps that are not done."""
        return sum(self.minutes(step) for step in steps if not self.done(step))

    def run(self, steps: Sequence[Step], options: Sequence[str]) -> Iterator[tuple[Step, int]]:
        """Run the steps that are not done, one after the other; each prints what its command prints.

        Parameters
        ----------
        options
            More arguments of each command.

        Yields
        ------
        A step that has ended, and its exit status.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for step in steps:
            if self.done(step):
                continue
            begin = perf_counter()
            status = _called([*step.arguments(self.folder, self.full), *options])
            if status == 0:
                self._note(step, (perf_counter() - begin) / 60)
            yield step, status

    def _notes(self) -> dict[str, dict]:
        try:
            found: dict[str, dict] = json.loads((self.folder / NOTES).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return found

    def _note(self, step: Step, minutes: float) -> None:
        with (self.folder / f"{step.name}.nc").open("rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
        entry = {
            "code": self._code,
            "full": self.full,
            "minutes": round(minutes, 2),
            "sha256": checksum,
        }
        with atomic_write(self.folder / NOTES) as part:
            text = json.dumps(self._notes() | {step.name: entry}, indent=1)
            Path(part).write_text(f"{text}\n", encoding="utf-8")


def _called(arguments: Sequence[str]) -> int:
    """Run a command of dgsuite in a process of its own, which ends with this one; returns its exit status."""
    with subprocess.Popen([sys.executable, "-m", "dgsuite", *arguments]) as process:
        try:
            return process.wait()
        except BaseException:
            if capabilities.has("signals"):
                process.terminate()  # it cleans up; background jobs ignore SIGINT
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
