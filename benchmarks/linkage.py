"""Records that are linked: components of scored pairs at three thresholds and at one, on two workers.

python benchmarks/linkage.py [--pairs P] [--alone R] [--turns T]

Four of five pairs are all pairs of groups of two to six records, with scores from 0.7 on, most of them near
1; the others are of records of different groups, with scores from 0.5 to 0.85. Identifiers are text of 13
characters. Some more records have no pair. Memory is as in construction.py.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
from common import Options, record
from construction import Watch

SIZES = (2, 3, 4, 5, 6)
"""Of groups; as many of each."""

THRESHOLDS = (0.95, 0.9, 0.8)

LARGE = 1_000_000
"""Pairs from which the ratio of times has a bound."""

STRANGE = 5
"""One of so many pairs is between groups."""


def groups(count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """All pairs of groups of records, at most `count` in all, and how many records there are."""
    pairs = sum(size * (size - 1) // 2 for size in SIZES)
    each, first, found = count // pairs, 0, []
    for size in SIZES:
        ends = np.stack(np.triu_indices(size, 1))[:, None, :]
        starts = first + size * np.arange(each)
        found.append((ends + starts[None, :, None]).reshape(2, -1))
        first += size * each
    src, dst = np.concatenate(found, axis=1)
    return src, dst, first


def write(folder: Path, count: int, alone: int, files: int = 4) -> None:
    """Write scored pairs, and all records."""
    rng = np.random.default_rng(1)
    src, dst, paired = groups(count - count // STRANGE)
    more = rng.integers(0, paired, (2, count - len(src)))
    scores = [1 - 0.3 * rng.random(len(src)) ** 3, rng.uniform(0.5, 0.85, more.shape[1])]
    ends = np.concatenate([np.stack([src, dst]), more], axis=1)
    numbers = rng.permutation(10 * (paired + alone))[: paired + alone]
    names = pd.array([f"record{number:07d}" for number in numbers], dtype="str")
    frame = pd.DataFrame(
        {
            "unique_id_l": names[ends[0]],
            "unique_id_r": names[ends[1]],
            "match_probability": np.concatenate(scores),
        }
    ).sample(frac=1, random_state=1)
    for name in ("pairs", "records"):
        (folder / name).mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(folder / "pairs" / f"part-{part}.parquet", index=False)
    pd.DataFrame({"unique_id": names}).to_parquet(folder / "records" / "all.parquet")


def measure(folder: Path, turns: int, on: dict[str, Any]) -> None:
    """Make the graph, and run with one threshold and with three in turns, in the current client's cluster."""
    import dask.dataframe as dd

    import dgsuite

    with Watch() as watch:
        begin = time.perf_counter()
        graph = dgsuite.Graph.from_parquet(
            folder / "pairs",
            *("unique_id_l", "unique_id_r", "match_probability"),
            nodes=dd.read_parquet(folder / "records")["unique_id"],
            duplicates="max",
        )
        record("the graph takes", time.perf_counter() - begin, "s", **on)
        call = partial(dgsuite.run, "wcc", graph)

        def seconds(thresholds: Sequence[float]) -> float:
            return float(call(thresholds=thresholds).attrs["seconds"])

        asked = {"one": THRESHOLDS[-1:], "three": THRESHOLDS}
        calls = {name: partial(seconds, given) for name, given in asked.items()}
        found = common.in_turns(calls, turns)
        for name, times in found.items():
            record("rounds take", [1e3 * each for each in times], "ms", **on, thresholds=name)
        ratios = [three / one for one, three in zip(found["one"], found["three"], strict=True)]
        bound = (
            1.3 if on["pairs"] >= LARGE else None
        )  # of fewer, most time is that of starting phases
        record("rounds of three thresholds", ratios, "x", most=bound, peer="one", **on)
        begin = time.perf_counter()
        ds = call(thresholds=THRESHOLDS)
        columns = ds.component.to_dataset("threshold").rename({t: str(t) for t in THRESHOLDS})
        dgsuite.to_dataframe(columns).to_parquet(folder / "components")
        record("run, and its components to Parquet", time.perf_counter() - begin, "s", **on)
        begin = time.perf_counter()
        for threshold in THRESHOLDS:
            len(dgsuite.components(graph, ds, threshold))
        record("summary of the components", time.perf_counter() - begin, "s", **on)
    record("peak of the client", watch.own / 1e6, "MB", **on)
    record("peak of all processes", watch.peak / 1e6, "MB", **on)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--pairs", 2_000_000, 2_000)
    options.size("--alone", 200_000, 100)
    options.size("--turns", 7, 1)
    with options.recorded(arguments) as given, common.cluster(2):
        folder = Path(tempfile.mkdtemp())
        try:
            write(folder, given.pairs, given.alone)
            measure(folder, given.turns, {"pairs": given.pairs, "alone": given.alone})
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
