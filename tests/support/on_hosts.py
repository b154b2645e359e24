"""Runs kernels from a host of `hosts.py`; prints a digest of each one's outputs and its time as JSON.

    python tests/support/on_hosts.py ADDRESS WORKERS JSON

JSON is a list of [kernel, style, parameters]. Each run is on a random graph of 200 nodes, with two clusters
for each worker.
"""

import hashlib
import json
import sys
import time

from dask.distributed import Client

import dgsuite
from dgsuite import genval


def digest(dataset):
    """SHA-256 of the outputs of a run, and its counts."""
    found = hashlib.sha256()
    for name in sorted(dataset.data_vars):
        if "node" in dataset[name].dims or name in ("messages", "active"):
            found.update(name.encode() + dataset[name].values.tobytes())
    return found.hexdigest()


def main(address, workers, runs):
    with Client(address, timeout=60) as client:
        client.wait_for_workers(int(workers), timeout=60)
        graph = genval.graph("spmax", 200, weights=True, clusters=2 * int(workers), client=client)
        for kernel, style, parameters in json.loads(runs):
            print(f"begun: {kernel}", flush=True)
            began = time.perf_counter()
            dataset = dgsuite.run(kernel, graph, style=style, client=client, **parameters)
            seconds = time.perf_counter() - began
            row = {"kernel": kernel, "style": style, "digest": digest(dataset), "seconds": seconds}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
