"""What breadth-first search sends, one-dimensional against two-dimensional, on p clusters.

python benchmarks/grid_bytes.py [--scale 18]

Counted between clusters, on two workers: bytes of the frontier (expand) and of what was found (fold), a
cluster. One dimension is a grid of one column, in which every frontier goes to everyone.
"""

from __future__ import annotations

from collections.abc import Sequence

import common
import numpy as np
from common import Options, record


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scale", 18, 8)
    options.size("--clusters", (4, 16, 64, 256), (4, 16), type=int, nargs="+")
    with options.recorded(arguments) as given:
        measure(given.scale, given.clusters)


def measure(scale: int, sizes: Sequence[int]) -> None:
    """Bytes on each number of clusters, and how they grow."""
    import dgsuite
    from dgsuite import genval
    from dgsuite.partition.clusters.grid import arrange, near_square

    found: dict[str, list[float]] = {"1-D": [], "2-D": []}
    with common.cluster(2) as client:
        for p in sizes:
            graph = genval.graph("rmat", 2**scale, clusters=p, client=client)
            root = int(np.argmax(np.diff(graph.to_scipy().indptr)))
            for name, shape in (("1-D", (p, 1)), ("2-D", near_square(p))):
                ds = dgsuite.run("bfs2d", arrange(graph, *shape), client=client, root=root)
                expand, fold = int(ds.expand_bytes.sum()), int(ds.fold_bytes.sum())
                found[name].append((expand + fold) / p)
                on = {"p": p, "form": name}
                record("bytes of a cluster", (expand + fold) / p, "", **on)
                record("expand", expand / p, "", **on)
                record("fold", fold / p, "", **on)
    for name, values in found.items():
        slope = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
        record("bytes of a cluster, power of p", slope, "", form=name)


if __name__ == "__main__":
    main()
