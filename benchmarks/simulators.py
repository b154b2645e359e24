"""Flooding and leader election beside PyDistSim, a simulator that calls Python for each message.

python benchmarks/simulators.py [--sizes N ...] [--python PYTHON] [--turns T]

PYTHON is an interpreter with PyDistSim, which needs other versions of networkx than dgsuite does. Flooding is
on a grid: `bfs`, in which a node tells its neighbours once, when it is first told. So is the election:
`floodmax`, in which it tells them what is larger than all that it has seen. On a ring it is that of Le Lann,
Chang and Roberts, `lcr`. Times are of the processor, without those of making graphs.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from common import Options, record, skip

RING = "election on a ring"

PEER = Path(__file__).with_name("simulators_peer.py")


def ours(name: str, n: int) -> float:
    """Processor seconds of a run in this process."""
    import dgsuite
    from dgsuite import genval

    if name != RING:
        n = isqrt(n) ** 2
    uid, how = 7919 * np.arange(n) % n, {}
    if name == RING:
        ends = np.arange(n)
        graph, kernel = dgsuite.Graph.from_edges(ends, (ends + 1) % n, uid=uid), "lcr"
    elif name == "flooding":
        graph, kernel = genval.graph("grid", n), "bfs"
    else:
        matrix = genval.graph("grid", n).to_scipy().tocoo()
        ends = np.stack([matrix.row, matrix.col])
        graph = dgsuite.Graph.from_edges(*ends[:, matrix.row < matrix.col], n=n, uid=uid)
        kernel, how = "floodmax", {"opt": True}
    begin = time.process_time()
    dgsuite.run(kernel, graph, style="serial", **how)
    return time.process_time() - begin


def peer(python: str, name: str, n: int) -> float:
    """Processor seconds of the simulator."""
    command: list[Any] = [python, PEER, name, str(n)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--sizes", [100, 1_000, 10_000], [25], nargs="+", type=int)
    options.add_argument(
        "--ring",
        type=int,
        default=10_000,
        help="largest ring of the simulator, whose time grows with its square",
    )
    options.add_argument("--python", help="interpreter with PyDistSim")
    options.size("--turns", 3, 1)
    with options.recorded(arguments) as given:
        for name in ("flooding", "election", RING):
            for n in given.sizes:
                ours(name, n)
                own = [ours(name, n) for _ in range(given.turns)]
                record("processor time", own, "s", algorithm=name, nodes=n)
                if given.python is None:
                    skip(f"{name} of PyDistSim", "no --python")
                elif name == RING and n > given.ring:
                    skip(
                        f"{name} of PyDistSim, {n} nodes",
                        "it takes longer than --ring allows",
                    )
                else:
                    other = peer(given.python, name, n)
                    record("processor time of PyDistSim", other, "s", algorithm=name, nodes=n)
                    least = 1000 if n >= 10_000 else None
                    times = [other / mine for mine in own]
                    record(
                        "times as fast",
                        times,
                        "x",
                        least=least,
                        peer="PyDistSim",
                        algorithm=name,
                        nodes=n,
                    )


if __name__ == "__main__":
    main()
