"""What breadth-first search sends, one-dimensional against two-dimensional, on p clusters.

python benchmarks/grid_bytes.py [--scale 18]

Counted between clusters, on two workers: bytes of the frontier (expand) and of what was found (fold), a
cluster. One dimension is a grid of one column, in which every frontier goes to everyone.
"""

from __future__ import annotations

import argparse

import common
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=18)
    given = parser.parse_args()

    import dgsuite
    import genval
    from partition.grid import arrange, near_square

    sizes = (4, 16, 64, 256)
    found: dict[str, list[float]] = {"1-D": [], "2-D": []}
    with common.cluster(2) as client:
        for p in sizes:
            graph = genval.graph("rmat", 2**given.scale, clusters=p, client=client)
            root = int(np.argmax(np.diff(graph.to_scipy().indptr)))
            for name, shape in (("1-D", (p, 1)), ("2-D", near_square(p))):
                ds = dgsuite.run("bfs2d", arrange(graph, *shape), client=client, root=root)
                expand, fold = int(ds.expand_bytes.sum()), int(ds.fold_bytes.sum())
                found[name].append((expand + fold) / p)
                print(
                    f"{name}  p = {p:3} {shape[0]:4} x {shape[1]:<3} expand {expand / p:10.0f}  "
                    f"fold {fold / p:10.0f}  together {(expand + fold) / p:10.0f} bytes a cluster",
                    flush=True,
                )
    for name, values in found.items():
        slope = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
        print(f"{name}: grows as p^{slope:.2f} a cluster (1/sqrt(p) is p^-0.5)")


if __name__ == "__main__":
    main()
