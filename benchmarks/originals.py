"""IMSuite's 64-node inputs against what the original took on a machine of this kind.

python benchmarks/originals.py [FOLDER]

FOLDER holds further input files named family_n64_kind_s101.txt; by default those of configs/data.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import common
from common import line, median

ORIGINAL = {  # milliseconds: X10-FA, one place, two threads, rounds only
    ("lcr", "ring_n64_s101.txt"): 1018,
    ("bf", "bfs_n64_spmin_s101.txt"): 790,
    ("bf", "bfs_n64_spmax_s101.txt"): 618,
    ("mis", "mis-ds_n64_spmin_s101.txt"): 633,
    ("mis", "mis-ds_n64_spmax_s101.txt"): 1339,
}


def main() -> None:
    import dgsuite

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else common.ROOT / "configs" / "data"
    with common.cluster(2) as client:
        for (kernel, name), original in ORIGINAL.items():
            graph = dgsuite.Graph.read_imsuite(folder / name, kernel)
            for style, factor in (("serial", 50), ("clocked", 10)):

                def whole(kernel=kernel, graph=graph, style=style) -> float:
                    begin = time.perf_counter()
                    dgsuite.run(kernel, graph, style=style, client=client)
                    return time.perf_counter() - begin

                took = 1e3 * median(whole, 9)
                line(f"{kernel} {name} {style}, whole call", took, "ms", original / factor)
                print(f"{'':<58} {original / took:>10.0f} x faster than the original", flush=True)


if __name__ == "__main__":
    main()
