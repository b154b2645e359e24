"""Hartree-Fock: energies, a Fock build, two workers, a killed worker."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

from common import Options, cluster, record

ENERGIES = {
    ("benzene", "sto-3g"): (-227.891120645, 0.3),
    ("benzene", "3-21g"): (-229.419371187, 0.6),
    ("aspirin", "3-21g"): (-641.337067475, 5.0),
}
"""Hartree of PySCF, and seconds that a serial Fock build may take."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    molecules = [" ".join(each) for each in ENERGIES]
    options.size("--molecules", molecules, molecules[:1], nargs="+", choices=molecules)
    deals = ["static", "filled", "unique", "dask"]
    options.size("--balance", deals, ["static"], nargs="+", choices=deals)
    options.size("--kill-after", 2.0, 0.2, help="seconds until a worker is killed")
    with options.recorded(arguments) as given, cluster(2) as client:
        for name in given.molecules:
            one = serial(name)
        parallel(name, one, given.balance, client)
        killed(name, given.kill_after, client)


def serial(name: str) -> Any:
    """A molecule on one place."""
    import dgsuite

    molecule, basis = name.split()
    energy, bound = ENERGIES[molecule, basis]
    ds = dgsuite.hartree_fock(molecule, basis=basis)
    on = {"molecule": name}
    record("energy off PySCF's", 1e9 * abs(float(ds.energy[-1]) - energy), "nEh", most=100, **on)
    record("iterations", ds.sizes["iteration"], "", **on)
    record("Fock build", float(ds.fock_seconds.min()), "s", most=bound, **on)
    record("processor time", float(ds.cpu_seconds.sum("place").min()), "s", **on)
    return ds


def parallel(name: str, one: Any, deals: Sequence[str], client: Any) -> None:
    """The same on two workers, dealt in several ways."""
    import dgsuite

    molecule, basis = name.split()
    for balance in deals:
        ds = dgsuite.hartree_fock(molecule, basis=basis, balance=balance, client=client)
        on = {"molecule": f"{name}, two workers", "balance": balance}
        faster = float(one.fock_seconds.min() / ds.fock_seconds.min())
        less = float(one.cpu_seconds.max("place").min() / ds.cpu_seconds.max("place").min())
        least = 1.7 if balance == "static" else None
        record("one place", faster, "x", least=least, peer="two workers", **on)
        record("processor time, one place", less, "x", peer="a worker", **on)
        off = 1e9 * abs(float(ds.energy[-1]) - ENERGIES[molecule, basis][0])
        record("energy off PySCF's", off, "nEh", most=100, **on)


def killed(name: str, after: float, client: Any) -> None:
    """How long a run goes on after a worker is killed, so many seconds after it began."""
    import dgsuite
    from dgsuite.partition.client.workers import worker_addresses

    molecule, basis = name.split()
    victim = client.run(os.getpid)[worker_addresses(client)[0]]
    at: list[float] = []

    def kill() -> None:
        at.append(perf_counter())
        os.kill(victim, signal.SIGKILL)

    threading.Timer(after, kill).start()
    with suppress(dgsuite.RunError):
        dgsuite.hartree_fock(molecule, basis=basis, balance="dynamic", client=client)
    if not at:
        raise RuntimeError(
            f"{name} was computed in less than {after} s, before a worker was killed"
        )
    record("from the end of a worker to that of its run", perf_counter() - at[0], "s", most=10)


if __name__ == "__main__":
    main()
