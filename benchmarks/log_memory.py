"""Bytes that the log of a run takes for each phase: lcr on a ring, in this process.

python benchmarks/log_memory.py
"""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
from common import line

import dgsuite
from dgsuite.executors import serial
from kernels import KERNELS

NODES = 2000


def main() -> None:
    nodes = np.arange(NODES)
    kernel = KERNELS["lcr"]()
    for clusters, bound in ((1, 250), (8, 450)):
        graph = dgsuite.Graph.from_edges(nodes, (nodes + 1) % NODES, n=NODES, clusters=clusters)
        serial.run(kernel, graph.parts)
        gc.collect()
        tracemalloc.start()
        outputs, log = serial.run(kernel, graph.parts)
        del outputs
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        phases = len([*log.steps])
        line(f"log of lcr, {clusters} clusters", taken / phases, "bytes per phase", bound)


if __name__ == "__main__":
    main()
