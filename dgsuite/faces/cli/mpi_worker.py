"""``dgsuite transports mpi-worker``, which needs none of the extra ``command``."""

from __future__ import annotations

import click

from dgsuite.faces.cli import options


@click.command(epilog="Example: mpiexec -n 2 dgsuite transports mpi-worker tcp://127.0.0.1:8786")
@click.argument("address")
@click.option("--threads", "--nthreads", default=1, show_default=True, help="Threads.")
@options.general
def mpi_worker(address: str, threads: int) -> None:
    """Be a Dask worker among those that mpiexec starts, of the scheduler at ADDRESS."""
    import asyncio

    from dgsuite.studies.transports import mpi

    asyncio.run(mpi.work(address, threads))
