"""Records that are linked: components of scored pairs at three thresholds and at one, on two workers.

python benchmarks/linkage.py [--pairs P] [--alone R] [--files F] [--turns T]

From Parquet to Parquet: workers write the files, make the graph, and write the components of each record.
Four of five pairs are all pairs of groups of two to six records, with scores from 0.7 on, most of them near
1; the others are of any two records, with scores from 0.5 to 0.85. Identifiers are text of 13 characters.
Some more records have no pair. Memory is as in construction.py.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
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

PAIRS, RECORDS = sum(size * (size - 1) // 2 for size in SIZES), sum(SIZES)
"""Of a group of each size together."""

THRESHOLDS = (0.95, 0.9, 0.8)

LARGE = 1_000_000
"""Pairs from which the ratios of times have a bound; of fewer, most time is that of starting phases."""

STRANGE = 5
"""One of so many pairs is of any two records."""

PRIME, STEP = 99_999_989, 61_803_399
"""Record i is number ``i * STEP`` modulo the prime, so that names are in no order."""


def names(number: np.ndarray) -> Any:
    """The names of records."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = pc.utf8_lpad(pa.array(number * STEP % PRIME).cast(pa.string()), 8, "0")
    return pc.binary_join_element_wise("name-", digits, "")


def pairs_of_groups(each: int, part: int, parts: int) -> Iterator[np.ndarray]:
    """One of `parts` shares of the pairs of groups, of which there are `each` of every size."""
    first = 0
    for size in SIZES:
        ends = np.stack(np.triu_indices(size, 1))
        group, which = np.divmod(np.arange(part, each * ends.shape[1], parts), ends.shape[1])
        yield first + size * group + ends[:, which]
        first += size * each


def write_part(folder: Path, part: int, parts: int, count: int, alone: int) -> None:
    """Write one file of scored pairs, and one of records; for a task."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng([1, part])
    each = (count - count // STRANGE) // PAIRS
    known = np.concatenate([*pairs_of_groups(each, part, parts)], axis=1)
    paired, strange = RECORDS * each, (count - PAIRS * each) // parts
    one = rng.integers(0, paired, strange)
    other = (one + rng.integers(1, paired, strange)) % paired
    ends = np.concatenate([known, [one, other]], axis=1)
    scores = [1 - 0.3 * rng.random(known.shape[1]) ** 3, rng.uniform(0.5, 0.85, strange)]
    order = rng.permutation(ends.shape[1])
    left, right = (names(end[order]) for end in ends)
    columns = [left, right, np.concatenate(scores)[order]]
    table = pa.table(columns, ["unique_id_l", "unique_id_r", "match_probability"])
    pq.write_table(table, folder / "pairs" / f"part-{part:03}.parquet")
    records = pa.table([names(np.arange(part, paired + alone, parts))], ["unique_id"])
    pq.write_table(records, folder / "records" / f"part-{part:03}.parquet")


def write(folder: Path, count: int, alone: int, files: int, client: Any) -> None:
    """Write scored pairs, and all records, on the workers."""
    for name in ("pairs", "records"):
        (folder / name).mkdir()
    how = {"parts": files, "count": count, "alone": alone}
    client.gather(client.map(partial(write_part, folder, **how), range(files), pure=False))


def digest(names: pd.Series) -> tuple[int, int]:
    """How many names, and a sum over them that does not depend on their order."""
    hashes = pd.util.hash_array(names.to_numpy(object), categorize=False)
    return len(names), int(hashes.sum(dtype=np.uint64))


def digest_of(folder: Path, column: str, client: Any) -> tuple[int, int]:
    """The same of all files of a folder, on the workers."""

    def part(file: Path) -> tuple[int, int]:
        return digest(pd.read_parquet(file, columns=[column])[column])

    found = client.gather(client.map(part, sorted(folder.glob("*.parquet")), pure=False))
    counts, sums = zip(*found, strict=True)
    return sum(counts), sum(sums) % 2**64


def check(folder: Path, target: Path, client: Any) -> int:
    """How many records the result lacks.

    Raises
    ------
    ValueError
        There are as many records, but others.
    """
    asked = digest_of(folder / "records", "unique_id", client)
    found = digest_of(target, "node", client)
    if asked[0] == found[0] and asked != found:
        raise ValueError("the components are those of other records")
    return asked[0] - found[0]


def measure(folder: Path, turns: int, on: dict[str, Any], client: Any) -> None:
    """Make the graph, and run with one threshold and with three in turns."""
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
        asked = {"one": THRESHOLDS[-1:], "three": THRESHOLDS}
        rounds: dict[str, list[float]] = {name: [] for name in asked}

        def to_parquet(name: str) -> float:
            begin, thresholds = time.perf_counter(), asked[name]
            ds = dgsuite.run("wcc", graph, thresholds=thresholds)
            rounds[name].append(float(ds.attrs["seconds"]))
            columns = ds.component.to_dataset("threshold").rename({t: str(t) for t in thresholds})
            dgsuite.to_dataframe(columns).to_parquet(folder / name, overwrite=True)
            return time.perf_counter() - begin

        whole = common.in_turns({name: partial(to_parquet, name) for name in asked}, turns)
    with Watch() as summary:  # tables of all components in this process
        begin = time.perf_counter()
        ds = dgsuite.run("wcc", graph, thresholds=THRESHOLDS)
        for threshold in THRESHOLDS:
            len(dgsuite.components(graph, ds, threshold))
        record("run, and summary of the components", time.perf_counter() - begin, "s", **on)
    rounds = {name: times[1:] for name, times in rounds.items()}  # the first does not count
    bound = 1.3 if on["pairs"] >= LARGE else None
    for what, found in (("rounds", rounds), ("run, and components to Parquet", whole)):
        for name, times in found.items():
            record(what, [1e3 * each for each in times], "ms", **on, thresholds=name)
        ratios = [three / one for one, three in zip(found["one"], found["three"], strict=True)]
        record(f"{what}, three thresholds", ratios, "x", most=bound, peer="one", **on)
    for name in asked:
        lost = check(folder, folder / name, client)
        record("records lost", lost, "", most=0, **on, thresholds=name)
    record("peak of the client, to Parquet", watch.own / 1e6, "MB", most=1000, **on)
    record("peak of the client, with the summary", summary.own / 1e6, "MB", **on)
    record("peak of all processes, to Parquet", watch.peak / 1e6, "MB", **on)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--pairs", 2_000_000, 2_000)
    options.size("--alone", 200_000, 100)
    options.size("--files", 20, 2)
    options.size("--turns", 7, 1)
    with options.recorded(arguments) as given, common.cluster(2) as client:
        folder = Path(tempfile.mkdtemp())
        try:
            begin = time.perf_counter()
            write(folder, given.pairs, given.alone, given.files, client)
            on = {"pairs": given.pairs, "alone": given.alone}
            record("making the files takes", time.perf_counter() - begin, "s", **on)
            measure(folder, given.turns, on, client)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
