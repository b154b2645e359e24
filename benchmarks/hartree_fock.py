"""Hartree-Fock: energies, a Fock build, two workers, the counter, a killed worker."""

from __future__ import annotations

import os
import signal
import threading
from time import perf_counter

from common import cluster, line

ENERGIES = {
    ("benzene", "sto-3g"): (-227.891120645, 0.3),
    ("benzene", "3-21g"): (-229.419371187, 0.6),
    ("aspirin", "3-21g"): (-641.337067475, 5.0),
}
"""Hartree of PySCF, and seconds that a serial Fock build may take."""


def main() -> None:
    import dgsuite
    from dgsuite.scc import comms
    from partition.client.workers import worker_addresses

    builds = {}
    for (molecule, basis), (energy, bound) in ENERGIES.items():
        ds = dgsuite.hartree_fock(molecule, basis=basis)
        name = f"{molecule} {basis}"
        line(f"{name}, energy off PySCF's", 1e9 * abs(float(ds.energy[-1]) - energy), "nEh", 100)
        line(f"{name}, serial Fock build", float(ds.fock_seconds.min()), "s", bound)
        line(f"{name}, serial Fock build, processor", float(ds.cpu_seconds.sum("place").min()), "s")
        builds[name] = ds
    one = builds["aspirin 3-21g"]
    with cluster(2) as client:
        for balance in ("static", "filled", "unique", "dask"):
            ds = dgsuite.hartree_fock("aspirin", basis="3-21g", balance=balance, client=client)
            wall = float(ds.fock_seconds.min() / one.fock_seconds.min())
            most = float(ds.cpu_seconds.max("place").min() / one.cpu_seconds.max("place").min())
            bound = 1 / 1.7 if balance == "static" else None
            line(f"aspirin 3-21g, {balance}, two workers over serial", wall, "x", bound)
            line("  most processor time of a worker over serial's", most, "x", bound)
            line(
                "  off PySCF's energy", 1e9 * abs(float(ds.energy[-1]) + 641.337067475), "nEh", 100
            )
        found = comms.measure(client, "tcp", worker_addresses(client))
        line("a counter operation", 1e3 * found.counter, "ms", 0.6)
        victim = client.run(os.getpid)[worker_addresses(client)[0]]
        threading.Timer(2, os.kill, (victim, signal.SIGKILL)).start()
        begin = perf_counter()
        try:
            dgsuite.hartree_fock("aspirin", basis="3-21g", balance="dynamic", client=client)
        except dgsuite.RunError as error:
            line(f"a worker killed after 2 s: {error}", perf_counter() - begin, "s", 10)


if __name__ == "__main__":
    main()
