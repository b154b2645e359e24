"""What is written by hand beside the library that could do it: readers, heaps, label look-up, archives.

python benchmarks/libraries.py

docs/decisions has the reasons for each; a ratio says how many times as long the library takes.
"""

from __future__ import annotations

import hashlib
import heapq
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from common import Options, in_turns, record

Call = Callable[[], Any]
Pairs = dict[str, tuple[Call, Call]]
"""By name, a call of ours and one of a library that does the same."""

PEERS = {
    "text edges": "pyarrow.csv",
    "text edges, spaces and comments": "pandas",
    "Matrix Market": "scipy.io",
    "heap": "heapq in Numba",
    "label look-up, integers": "pandas",
    "label look-up, text": "pandas",
    "arrays in a file, written": "zarr",
    "arrays in a file, read": "zarr",
    "checksum of a result": "HDF5's fletcher32",
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--edges", 2_000_000, 1000, help="lines of a file, entries of a heap, labels")
    options.size("--times", 5, 1, help="of each, of which the median counts")
    with options.recorded(arguments) as given, tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        luck = np.random.default_rng(1)
        for measure in (text_edges, matrix_market, heap, labels, archives, checksums):
            for what, (ours, theirs) in measure(where, given.edges, luck).items():
                compare(what, ours, theirs, given.times)


def timed(call: Call) -> float:
    """Milliseconds of a call."""
    begin = perf_counter()
    call()
    return 1e3 * (perf_counter() - begin)


def compare(what: str, ours: Call, theirs: Call, times: int) -> None:
    """Time both in turns."""
    both = {"dgsuite": partial(timed, ours), PEERS[what]: partial(timed, theirs)}
    took = in_turns(both, times)
    medians = [record("time", found, "ms", task=what, by=who) for who, found in took.items()]
    record("library's time over ours", medians[1] / medians[0], "x", task=what, peer=PEERS[what])


def text_edges(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    import pandas as pd
    from pyarrow import csv

    from dgsuite.partition.sources.readers import parse

    ends = luck.integers(0, edges, (edges, 2))
    plain, loose = folder / "edges.txt", folder / "loose.txt"
    np.savetxt(plain, ends, "%d")
    loose.write_text("# edges\n" + plain.read_text().replace(" ", "  "))
    size, longer = plain.stat().st_size, loose.stat().st_size

    def arrow() -> Any:
        table = csv.read_csv(
            plain,
            csv.ReadOptions(column_names=["source", "target"], use_threads=False),
            csv.ParseOptions(delimiter=" "),
        )
        return [column.to_numpy() for column in table.columns]

    def pandas() -> Any:
        return pd.read_csv(loose, sep=r"\s+", comment="#", header=None).to_numpy()

    return {
        "text edges": (lambda: parse(str(plain), 0, size), arrow),
        "text edges, spaces and comments": (lambda: parse(str(loose), 0, longer), pandas),
    }


def matrix_market(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    from scipy.io import mmread, mmwrite
    from scipy.sparse import coo_array

    from dgsuite.partition.sources.readers import read_matrix_market

    n = max(edges // 8, 10)
    row, column = luck.integers(0, n, (2, edges))
    name = str(folder / "matrix.mtx")
    mmwrite(name, coo_array((luck.random(edges), (row, column)), shape=(n, n)))
    return {
        "Matrix Market": (lambda: read_matrix_market(name), lambda: mmread(name, spmatrix=False))
    }


def heap(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    from numba import njit

    from dgsuite.kernels.tools._heap import pop, push

    costs, many = luck.random(edges), edges // 10

    @njit
    def ours(costs: Any, columns: Any, many: int) -> float:
        total = 0.0
        for k in range(len(costs)):
            size = min(k, many)
            if k >= many:
                pop(columns, size)
                size -= 1
                total += columns[0][size]
            push(columns, size, costs[k], k, k)
        return total

    @njit
    def theirs(costs: Any, many: int) -> float:
        waiting = [(costs[0], 0, 0)]
        total = 0.0
        for k in range(1, len(costs)):
            if k >= many:
                total += heapq.heappop(waiting)[0]
            heapq.heappush(waiting, (costs[k], k, k))
        return total

    columns = np.empty(many + 1), np.empty(many + 1, np.int64), np.empty(many + 1, np.int64)
    return {"heap": (lambda: ours(costs, columns, many), lambda: theirs(costs, many))}


def labels(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    import pandas as pd

    from dgsuite.partition.labels.labels import Labels

    numbers = np.unique(luck.integers(0, 2**60, edges))
    luck.shuffle(numbers)
    texts = np.char.add("account-", numbers[: edges // 10].astype("U"))
    found: Pairs = {}
    for kind, values in (("integers", numbers), ("text", texts)):
        wanted = luck.permutation(values)
        found[f"label look-up, {kind}"] = (
            lambda values=values, wanted=wanted: Labels(values, len(values)).nodes(wanted),
            lambda values=values, wanted=wanted: pd.Index(values).get_indexer(pd.Index(wanted)),
        )
    return found


def archives(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    import zarr
    from zarr.codecs import BytesCodec, Crc32cCodec

    from dgsuite.partition.store import archives as our

    arrays = {"indptr": np.arange(edges), "indices": luck.integers(0, edges, 8 * edges)}
    name = "cluster-0000-00000000.npz"
    entry = our.write(str(folder), name, arrays)

    def write() -> None:
        group = zarr.open_group(str(folder / "cluster.zarr"), mode="w")
        for name, values in arrays.items():
            made = group.create_array(
                name,
                shape=values.shape,
                chunks=values.shape,
                dtype=values.dtype,
                serializer=BytesCodec(),
                compressors=[Crc32cCodec()],
            )
            made[:] = values

    def read() -> Any:
        group = zarr.open_group(str(folder / "cluster.zarr"), mode="r")
        return {name: group[name][:] for name in arrays}

    write()
    return {
        "arrays in a file, written": (
            lambda: our.write(str(folder), "cluster-0001-00000000.npz", arrays),
            write,
        ),
        "arrays in a file, read": (lambda: our.read(str(folder), entry), read),
    }


def checksums(folder: Path, edges: int, luck: np.random.Generator) -> Pairs:
    import h5py

    values = luck.random(4 * edges)

    def write(name: str, **how: Any) -> bytes:
        with h5py.File(folder / name, "w") as file:
            file.create_dataset("values", data=values, **how)
        return (folder / name).read_bytes()

    def ours() -> str:
        return hashlib.sha256(write("plain.h5")).hexdigest()

    return {
        "checksum of a result": (
            ours,
            lambda: write("sums.h5", chunks=(min(len(values), 1 << 17),), fletcher32=True),
        )
    }


if __name__ == "__main__":
    main()
