"""IMSuite's 64-node inputs against what the original took on a machine of this kind.

python benchmarks/imsuite.py [FOLDER]

FOLDER holds further input files named family_n64_kind_s101.txt; by default those of configs/data.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import common
from common import Options, record, repeated

ORIGINAL = {  # milliseconds: X10-FA, one place, two threads, rounds only
    ("lcr", "ring_n64_s101.txt"): 1018,
    ("bf", "bfs_n64_spmin_s101.txt"): 790,
    ("bf", "bfs_n64_spmax_s101.txt"): 618,
    ("mis", "mis-ds_n64_spmin_s101.txt"): 633,
    ("mis", "mis-ds_n64_spmax_s101.txt"): 1339,
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.add_argument("folder", nargs="?", type=Path, default=common.ROOT / "configs" / "data")
    options.size("--times", 9, 1)
    with options.recorded(arguments) as given:
        compare(given.folder, given.times)


def compare(folder: Path, times: int) -> None:
    """Whole calls in styles serial and clocked, beside the original's rounds."""
    import dgsuite

    with common.cluster(2) as client:
        for (kernel, name), original in ORIGINAL.items():
            graph = dgsuite.Graph.read_imsuite(folder / name, kernel)
            record("original", original, "ms", kernel=kernel, input=name.partition(".")[0])
            for style, factor in (("serial", 50), ("clocked", 10)):

                def whole(kernel=kernel, graph=graph, style=style) -> float:
                    # the textbook's LCR is another program than the original
                    begin = time.perf_counter()
                    dgsuite.run(kernel, graph, style=style, faithful=kernel == "lcr", client=client)
                    return time.perf_counter() - begin

                took = 1e3 * statistics.median(repeated(whole, times))
                on = {"kernel": kernel, "input": name.partition(".")[0]}
                record(f"{style}, whole call", took, "ms", **on)
                record(f"{style}, times as fast", original / took, "x", least=factor, **on)


if __name__ == "__main__":
    main()
