"""What the benchmarks share: a cluster of worker processes, and figures as lines."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:3])


@contextmanager
def cluster(workers: int, protocol: str = "tcp") -> Iterator:
    """A client of worker processes with one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, protocol=protocol
        ) as own,
        Client(own) as client,
    ):
        yield client


def median(measure: Callable[[], float], times: int) -> float:
    """Median of some measurements, after one that does not count."""
    measure()
    return statistics.median(measure() for _ in range(times))


def line(what: str, value: float, unit: str, bound: float | None = None) -> None:
    """Print a figure, and whether it is within its bound."""
    verdict = "" if bound is None else f"   bound {bound:g}: {'ok' if value <= bound else 'MISSED'}"
    print(f"{what:<58} {value:>10.3f} {unit}{verdict}", flush=True)
