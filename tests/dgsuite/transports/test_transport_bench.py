"""The transports' command line."""

import asyncio
import json
import multiprocessing

import pytest
import xarray as xr

from dgsuite.studies.transports.bench import Partner
from tests.support.mains import transports as main


@pytest.mark.long
def test_bench(tmp_path, capsys):
    out = tmp_path / "t.nc"
    options = ["--patterns", "pingpong,all-pairs", "--processes", "2", "--repeats", "2", "--json"]
    arguments = ["bench", "--protocols", "tcp,mpb", "--sizes", "64,100000", *options]
    assert main([*arguments, "--output", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"tcp", "mpb"}
    for protocol in found.values():
        assert protocol.keys() == {"64", "100000"}
        for size, figures in protocol.items():
            expected = 2 * int(size) / figures["median_seconds"]
            assert figures["bytes_per_second"] == pytest.approx(expected)
            assert figures["all-pairs"]["median_seconds"] > 0
    ds = xr.load_dataset(out, engine="h5netcdf")
    assert dict(ds.sizes) == {"pattern": 2, "protocol": 2, "size": 2, "repeat": 2}
    assert bool((ds.held_bytes > 0).all())
    assert bool((ds.seconds > 0).all())
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


async def test_partners_are_connected_when_they_say_so():
    """Both ends of a comm are ready for rounds, however late one of them hears of it."""

    class Late(Partner):
        async def _serve(self, comm):
            await asyncio.sleep(0.3)
            await super()._serve(comm)

    def heard(pipe):
        assert pipe.poll(30)
        return pipe.recv()

    pipes, theirs = zip(*(multiprocessing.Pipe() for _ in range(2)), strict=True)
    partners = [kind(["tcp"], pipe) for kind, pipe in zip((Late, Partner), theirs, strict=True)]
    running = [asyncio.create_task(partner.main()) for partner in partners]
    try:
        addresses = [await asyncio.to_thread(heard, pipe) for pipe in pipes]
        pipes[1].send(("connect", "tcp", *addresses[0]))
        await asyncio.to_thread(heard, pipes[1])
        for pipe in pipes:
            pipe.send(("rounds", "tcp", 8, 1))
        for pipe in pipes:
            assert await asyncio.to_thread(heard, pipe) > 0
    finally:
        for pipe in pipes:
            pipe.send(None)
        for task in running:
            task.cancel()


WRONG = [
    (["--protocols", "tcp,pigeon"], "unknown protocol 'pigeon'; one of:"),
    (["--sizes", "8", "--kernels", "bf,bof"], "--kernels bof: unknown; one of abd, all_pairs, "),
    (["--protocols", "tls"], "protocol tls: TLS expects"),
    (["--protocols", "inproc"], "protocol inproc: it does not leave a process"),
    (["--protocols", "tcp,mpi"], "add --patterns clocked"),
    (["--sizes", "8,big"], "'--sizes': 'big' is not a valid integer"),
    (["--sizes", "-1"], "--sizes -1: must be at least 0"),
    (["--patterns", "star"], "--patterns star: unknown; one of pingpong, one-to-all"),
    (["--processes", "1"], "--processes 1: must be at least 2"),
    (["--sizes", ""], "--sizes []: must have at least 1 value"),
    (["--sizes", "8", "--output", "no/t.nc"], "no/t.nc: the folder no does not exist"),
    (["--sizes", "8", "--output", "t.png"], "t.png: the name must end in .nc"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_bad_options(arguments, message, capsys):
    assert main(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err
