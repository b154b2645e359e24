"""Bytes that the log of a run takes for each phase: lcr on a ring, in this process.

python benchmarks/log_memory.py
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence

import numpy as np
from common import Options, record

import dgsuite
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 2000, 100)
    with options.recorded(arguments) as given:
        measure(given.nodes)


def measure(n: int) -> None:
    """Log and phases of a run on a ring."""
    nodes = np.arange(n)
    kernel = KERNELS["lcr"](faithful=True)
    for clusters, bound in ((1, 250), (8, 450)):
        graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % n, n=n, clusters=clusters)
        serial.run(kernel, graph.parts)
        gc.collect()
        tracemalloc.start()
        outputs, log = serial.run(kernel, graph.parts)
        del outputs
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        phases = len([*log.steps])
        on = {"nodes": n, "clusters": clusters}
        record("log of lcr, a phase", taken / phases, "bytes", most=bound, **on)


if __name__ == "__main__":
    main()
