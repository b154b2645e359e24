"""What the benchmarks share: options, a record of figures and of what they were measured with, clusters.

A benchmark calls `record` for each figure within `Options.recorded`. With ``--json`` they are written to a
file, of which `page.py` makes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
# a peer's idle threads must not spin into our turn
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

PEERS = (
    *("igraph", "leidenalg", "mpi4py", "networkit", "networkx", "pandas", "pyscf"),
    "suitesparse-graphblas",
)
"""Packages that benchmarks compare with; their versions are noted where they are installed."""

LOOPS, EVERY = 1_000_000, 5.0
"""Steps of the fixed loop, and seconds from one time of it to the next, at least."""

Figure = float | Sequence[float]


class Run:
    """A run of a benchmark: its figures, and what they were measured with.

    Parameters
    ----------
    benchmark, about, command
        Its name, a sentence about it, and how it was called.
    tiny
        Whether its sizes are those of a test, which say nothing about speed.
    """

    def __init__(self, benchmark: str, about: str, command: str, tiny: bool = False) -> None:
        commit, changed = revision()
        self.header = {
            "benchmark": benchmark,
            "about": about,
            "command": command,
            "tiny": tiny,
            "commit": commit,
            "changed": changed,
            "date": datetime.now(UTC).isoformat(timespec="minutes"),
        }
        self.rows: list[dict[str, Any]] = []
        self.skipped: dict[str, str] = {}
        self._loops: list[float] = []
        self._loads: list[float] = []
        self._begin, self._used = time.perf_counter(), used()
        self.look()

    def look(self) -> None:
        """Time the fixed loop, and note the load."""
        begin = time.perf_counter()
        for _ in range(LOOPS):
            pass
        self._looked = time.perf_counter()
        self._loops.append(rounded(self._looked - begin))
        self._loads.append(round(os.getloadavg()[0], 2))

    def add(self, row: dict[str, Any]) -> None:
        """Note a figure."""
        self.rows.append(row)
        if time.perf_counter() - self._looked > EVERY:
            self.look()

    def document(self) -> dict[str, Any]:
        """All of it, as it is written."""
        from dgsuite.core.results.dataset import versions
        from dgsuite.core.results.provenance import machine

        self.look()
        return {
            **self.header,
            "machine": machine()["machine"],
            "versions": json.loads(versions(*filter(installed, PEERS))),
            "load": self._loads,
            "loop_seconds": self._loops,
            "seconds": rounded(time.perf_counter() - self._begin),
            "processor_seconds": rounded(used() - self._used),
            "skipped": self.skipped,
            "rows": self.rows,
        }


RUN: list[Run] = []
"""The run that figures belong to, if there is one."""


class Options(argparse.ArgumentParser):
    """Options of a benchmark: its own, ``--json`` and ``--tiny``.

    Parameters
    ----------
    name, doc
        ``__file__`` and ``__doc__`` of the benchmark; the first sentence says what it measures.
    """

    def __init__(self, name: str, doc: str | None) -> None:
        self.benchmark = Path(name).stem
        self.about = " ".join((doc or "").partition("\n\n")[0].split())
        super().__init__(prog=f"python benchmarks/{self.benchmark}.py", description=self.about)
        self._tiny: dict[str, Any] = {}
        self.add_argument("--json", metavar="FILE", help="write figures and circumstances there")
        self.add_argument("--tiny", action="store_true", help="sizes of a test")

    def size(self, flag: str, default: Any, tiny: Any, **how: Any) -> None:
        """Add an option that has another default with ``--tiny``."""
        kind = (
            {} if "type" in how or isinstance(default, (list, tuple)) else {"type": type(default)}
        )
        self.add_argument(flag, default=default, **kind, **how)
        self._tiny[flag.lstrip("-").replace("-", "_")] = tiny

    def parse_args(self, *given: Any) -> argparse.Namespace:  # type: ignore[override]
        """Parse, once more where the sizes are to be tiny."""
        found = super().parse_args(*given)
        if found.tiny:
            self.set_defaults(**self._tiny)
            found = super().parse_args(*given)
        return found

    @contextmanager
    def recorded(self, arguments: Sequence[str] | None = None) -> Iterator[argparse.Namespace]:
        """The options; figures within the block are written at its end, if they are to be."""
        from dgsuite.base.files import atomic_write, check_writable
        from dgsuite.base.thresholds import compile_without_delay

        compile_without_delay()
        arguments = sys.argv[1:] if arguments is None else [*arguments]
        given = self.parse_args(arguments)
        if given.json:
            check_writable(given.json, ".json")
        run = Run(self.benchmark, self.about, self._command(arguments), given.tiny)
        RUN.append(run)
        try:
            yield given
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            RUN.remove(run)
        if given.json:
            with atomic_write(given.json) as part:
                Path(part).write_text(text(run.document()), encoding="utf-8")

    def _command(self, arguments: Sequence[str]) -> str:
        """How the benchmark is called, wherever it writes to."""
        kept = [*arguments]
        if "--json" in kept:
            at = kept.index("--json")
            del kept[at : at + 2]
        kept = [word for word in kept if not word.startswith("--json=")]
        return shlex.join(["python", f"benchmarks/{self.benchmark}.py", *kept])


def record(
    what: str,
    value: Figure,
    unit: str,
    *,
    most: float | None = None,
    least: float | None = None,
    peer: str | None = None,
    detail: Any = None,
    **conditions: Any,
) -> float:
    """Print a figure, say whether it is within its bound, and keep it for the file.

    Parameters
    ----------
    what
        The quantity; tables have a column or a line for each.
    value
        A number, or several of which the median counts.
    most, least
        Bound from above or from below.
    peer
        What the value is a ratio to.
    detail
        What else the file is to hold.
    conditions
        Under which it was measured: sizes, styles, workers, inputs.

    Returns
    -------
    float
        The value, or the median.
    """
    from rows import met, named

    several = None if isinstance(value, (int, float)) or hasattr(value, "dtype") else [*value]
    middle = number(value if several is None else statistics.median(several))
    row: dict[str, Any] = {"what": what, "conditions": conditions, "value": middle, "unit": unit}
    if several is not None:
        row["spread"] = [number(min(several)), number(max(several))]
    row |= {
        name: given
        for name, given in (("most", most), ("least", least), ("peer", peer), ("detail", detail))
        if given is not None
    }
    if RUN:
        RUN[-1].add(row)
    bound = (
        "" if most is None and least is None else f"   bound {least if most is None else most:g}"
    )
    verdict = {None: "", True: ": ok", False: ": MISSED"}[met(row)]
    print(f"{named(row):<70} {middle:>12,} {unit}{bound}{verdict}", flush=True)
    return middle


def skip(what: str, why: str) -> None:
    """Say that something is not measured, and why."""
    print(f"{what}: left out: {why}", flush=True)
    if RUN:
        RUN[-1].skipped[what] = why


def number(value: Any) -> float:
    """A count as it is, any other number to four digits."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, int) else rounded(value)


def rounded(value: float) -> float:
    """To four digits."""
    return float(f"{value:.4g}")


def text(document: dict[str, Any]) -> str:
    """A result as JSON, with a line for each row."""
    head = json.dumps({k: v for k, v in document.items() if k != "rows"}, indent=1)
    rows = ",\n  ".join(json.dumps(row) for row in document["rows"])
    return f'{head[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


def revision() -> tuple[str | None, bool]:
    """The commit of the code, and whether it was changed since; None where there is no repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        made = subprocess.run(command, capture_output=True, text=True)
        return "" if made.returncode else made.stdout.strip()

    made = ("benchmarks/results", "benchmarks/README.md", "benchmarks/metg.png")
    others = [f":(exclude){name}" for name in made]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *others)
    return git("rev-parse", "HEAD") or None, bool(changed)


def installed(package: str) -> bool:
    """Whether a package is installed."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def used() -> float:
    """Seconds of processor time of this process and of those that have ended below it."""
    some = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in some)


@contextmanager
def cluster(
    workers: int, protocol: str | None = None, threads: int = 1, limit: str = "auto"
) -> Iterator:
    """A client of worker processes with some threads each, whose runs use the protocol, if one is given.

    Parameters
    ----------
    limit
        Memory of each worker, as Dask takes it.
    """
    import dask
    from distributed import Client, LocalCluster

    from dgsuite.studies.experiment.clusters import terminal_blocked

    settings = {
        "dgsuite.clocked.transport": "fastest" if protocol is None else "comm",
        # a worker that is not there this long after one of its name ended is never started again
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with dask.config.set(settings):
        with terminal_blocked():
            own = LocalCluster(
                n_workers=workers,
                threads_per_worker=threads,
                memory_limit=limit,
                dashboard_address=None,
                protocol=protocol,
            )
        with own, Client(own) as client:
            yield client


def repeated(measure: Callable[[], float], times: int) -> list[float]:
    """Some measurements, after one that does not count."""
    measure()
    return [measure() for _ in range(times)]


def in_turns(measures: Mapping[str, Callable[[], float]], times: int) -> dict[str, list[float]]:
    """Several measurements in turns, so that all have the same machine; a round before does not count."""
    found: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(times + 1):
        for name, measure in measures.items():
            value = measure()
            if turn:
                found[name].append(value)
    return found


def median(measure: Callable[[], float], times: int) -> float:
    """Median of some measurements, after one that does not count."""
    return statistics.median(repeated(measure, times))
