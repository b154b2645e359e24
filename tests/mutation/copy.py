"""A copy of the tree, in which tests run with one change at a time."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutation import choice
from tests.mutation.changes import Change
from tests.support.paths import ROOT

HANGS = 30
"""Seconds after which a test hangs, on a machine at rest."""

FIRST = 4
"""Test files that are tried before the others: to collect all takes longer than most changes need."""

WITHOUT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "__pycache__", ".*_cache", ".hypothesis"
)


def slowness() -> float:
    """How many times longer than at rest a computation takes now, since others use the processors."""
    begun, until = time.monotonic(), time.thread_time() + 0.1
    while time.thread_time() < until:
        pass
    return max(1.0, (time.monotonic() - begun) / 0.1)


class Copy:
    """A copy of the tree. It keeps compiled loops and bytecode for the next time.

    Parameters
    ----------
    folder
        Holds it.
    """

    def __init__(self, folder: Path, every_layer: bool = False) -> None:
        self._layers = ["-m", "not exhaustive"] if every_layer else []
        self.root, self.outcome = folder / "tree", folder / "outcome.json"
        self.loops, self.aside = folder / "loops", folder / "aside"
        self.output = folder / "output.txt"
        self._stamp = time.time()
        self._restore()
        shutil.copytree(ROOT, self.root, ignore=WITHOUT, dirs_exist_ok=True)
        env = {**os.environ, "PYTHONPATH": str(self.root), "NUMBA_CACHE_DIR": str(self.loops)}
        how = {"cwd": self.root, "env": env | {"PYTHONHASHSEED": "0"}, "text": True}
        command, pipe = [sys.executable, "-m", "tests.mutation.server"], subprocess.PIPE
        self.server = subprocess.Popen(command, stdin=pipe, stdout=pipe, **how)

    def close(self) -> None:
        self.server.terminate()  # with the tests that it runs
        self.server.wait()

    def run(self, change: Change | None, files: list, seconds: float, only: Sequence = ()) -> dict:
        """Run tests with a change until one fails or took so much processor time, or those named."""
        from dgsuite.kernels import KERNELS

        given = {"kernels": [], "all_kernels": [*KERNELS], "only": [*only], "workers_last": True}
        given["seconds"] = seconds if change is None else seconds / 2
        given["outcome"] = str(self.outcome)
        if change is None:
            return self._tests(given, files, seconds)
        given["kernels"] = choice.kernels(ROOT, change.path)
        given["workers_last"] = not any(area in change.path for area in choice.SLOW_AREAS)
        self._put_aside(choice.stale(ROOT, change.path))
        path = self.root / change.path
        path.write_text(change.apply((ROOT / change.path).read_text()))
        self._stamp += 2  # bytecode of another change is not taken for this one's
        os.utime(path, (self._stamp, self._stamp))
        try:
            row = self._tests(given, files[:FIRST], seconds / 2)
            if row["failed"] or len(files) <= FIRST:
                return row
            others = self._tests(given, files[FIRST:], seconds / 2)
            return {
                **others,
                **{name: row[name] + others[name] for name in ("ran", "of", "seconds")},
                "whole": row["whole"] and others["whole"],
            }
        finally:
            shutil.copy2(ROOT / change.path, path)
            self._restore()

    def _put_aside(self, stems: list[str]) -> None:
        """Loops that are compiled anew with the change."""
        for stem in stems:
            for path in self.loops.rglob(f"{stem}.*.nb[ic]"):
                there = self.aside / path.relative_to(self.loops)
                there.parent.mkdir(parents=True, exist_ok=True)
                path.rename(there)

    def _restore(self) -> None:
        """Put back the loops, in place of what a change left."""
        for folder in {path.parent for path in self.aside.rglob("*.nb[ic]")}:
            there = self.loops / folder.relative_to(self.aside)
            for stem in {path.name.partition(".")[0] for path in folder.iterdir()}:
                for path in there.glob(f"{stem}.*.nb[ic]"):
                    path.unlink()
            for path in folder.iterdir():
                path.rename(there / path.name)
        shutil.rmtree(self.aside, ignore_errors=True)

    def _tests(self, given: dict, files: list[str], seconds: float) -> dict:
        self.outcome.unlink(missing_ok=True)
        options = ["-q", "-p", "tests.mutation.plugin", "-p", "no:cacheprovider", *self._layers]
        options += [] if given["only"] else ["-x"]
        slow = slowness()
        given["until"] = time.time() + seconds * slow
        request = {
            "options": [*options, f"--timeout={HANGS * slow}", *files],
            "env": {"DGSUITE_MUTATION": json.dumps(given), "HYPOTHESIS_PROFILE": "mutation"},
            "output": str(self.output),
            "seconds": (seconds + 2 * HANGS) * slow,
        }
        begun = time.monotonic()
        print(json.dumps(request), file=self.server.stdin, flush=True)
        status = json.loads(self.server.stdout.readline())
        found = json.loads(self.outcome.read_text()) if self.outcome.exists() else {}
        row = {"ran": 0, "of": 0, "whole": False, "failed": []}
        row |= {name: found[name] for name in row.keys() & found.keys()}
        if status is None or not found or found["running"]:
            row["failed"] = [found.get("running") or ("the end" if found else "the start")]
            row["ended"] = "hangs" if status is None else f"status {status}"
        row["seconds"] = round(time.monotonic() - begun)
        return row
