"""The ledger and its replay: sums come out, clocks never run backwards, one place is the sum."""

from dataclasses import replace

import numpy as np
import pytest

import dgsuite
from dgsuite import Graph
from dgsuite.studies.scc import bc, chip, ledger, options
from dgsuite.studies.scc.chip import SCC, Chip
from dgsuite.studies.scc.ledger import Ledger, Transport
from dgsuite.studies.scc.options import Buffers
from dgsuite.studies.scc.simulate import Simulation
from dgsuite.studies.transports import carriers, mpi
from tests.support.clusters import assert_nothing_held
from tests.support.mains import scc as main

WIRE = Transport("wire", 1e-4, 1e-9)


FREE = Transport("free", 0.0, 0.0)
DEALS = ("block", "cyclic", "dynamic")


@pytest.fixture
def case():
    """Sources of which the first have the most to do, as their degrees say."""
    units = np.sort(np.random.default_rng(1).exponential(1e-3, 1000))[::-1]
    order = np.arange(1000)
    return bc.Case(None, True, order, 1000 - order, 1, 0.0, Ledger(units, 0.05, 8000))


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("places", [1, 2, 48, 1024])
def test_all_units_are_done_once(case, deal, places):
    """One place takes their sum."""
    found = bc.simulate(case, places, WIRE, deal)
    assert found.busy.sum() == pytest.approx(case.ledger.units.sum() + places * case.ledger.setup)
    assert found.elapsed >= found.busy.max()
    if places == 1:
        free = bc.simulate(case, 1, FREE, deal).elapsed
        assert free == pytest.approx(case.ledger.setup + case.ledger.units.sum())


def test_dynamic_balances_what_blocks_do_not(case):
    units, setup = case.ledger.units, case.ledger.setup
    block, cyclic, dynamic = (bc.simulate(case, 16, FREE, d).elapsed - setup for d in DEALS)
    assert dynamic < 1.1 * units.sum() / 16
    assert cyclic < 1.15 * units.sum() / 16
    assert block > 2 * cyclic
    assert block == pytest.approx(units[: 1000 // 16].sum())


def test_the_counter_is_one_place():
    """Units that take nothing are handed out one by one: a message each, at place 0."""
    alone = Simulation(2, WIRE)
    alone.clock[0] = 1  # busy elsewhere, so place 1 fetches all
    alone.dynamic(np.zeros(100))
    assert alone.clock[1] == pytest.approx(101 * WIRE.counter)
    ahead = Simulation(2, WIRE)
    ahead.clock[0] = 1
    ahead.dynamic(np.full(100, WIRE.counter), prefetch=True)
    assert ahead.clock[1] == pytest.approx(101 * WIRE.counter, rel=0.02)


def test_exchanges_and_trees():
    for places, steps in ((1, 0), (2, 1), (3, 2), (8, 3), (48, 6)):
        tree = Simulation(places, WIRE)
        tree.reduce(1000)
        assert tree.clock[0] == pytest.approx(steps * (WIRE.message + 1000 * WIRE.byte))
        all_pairs = Simulation(places, WIRE)
        all_pairs.exchange(1000)
        assert all_pairs.elapsed == pytest.approx((places - 1) * (WIRE.message + 1000 * WIRE.byte))
        spread = Simulation(places, WIRE)
        spread.broadcast(0)
        assert spread.elapsed == pytest.approx(steps * WIRE.message)
    late = Simulation(4, WIRE)
    late.clock[2] = 1
    late.exchange(0)
    assert (late.clock > 1).all()


def test_what_cannot_be_simulated():
    with pytest.raises(dgsuite.InputError, match="places must be from 1"):
        Simulation(0, WIRE)
    assert WIRE.why_not(1024, 1e12) == ""
    on_chip = chip.transport("chip:mpb")
    assert on_chip.why_not(48, SCC.memory) == ""
    assert on_chip.why_not(49, 0) == "49 places are more than the 48 cores"
    assert on_chip.why_not(1, 400e6) == "a place holds 400 MB of the 322 MB of a core"
    with pytest.raises(dgsuite.InputError, match="no transport of the chip; one of chip:mpb"):
        chip.transport("chip:tcp")


def test_distances_on_the_mesh():
    """Mean distance of an a by b mesh: (a^2 - 1) / 3a + (b^2 - 1) / 3b."""
    assert (SCC.tiles, SCC.cores) == (24, 48)
    cores = np.arange(48)
    hops = SCC.hops(cores[:, None], cores)
    assert (hops == hops.T).all()
    assert hops.mean() == pytest.approx(35 / 18 + 15 / 12)
    some = hops[[0, 0, 1, 0, 0, 0, 46, 10], [0, 1, 2, 10, 12, 47, 1, 37]]
    assert some.tolist() == [0, 0, 1, 5, 1, 8, 8, 8]
    near, far = 45 / 533e6 + 8 / 800e6, 45 / 533e6 + 72 / 800e6
    assert SCC.access(5, 4) == pytest.approx(near)
    assert SCC.access(0, 47) == pytest.approx(far)


MESSAGES = [("chip:mpb", 0, 1, 1), ("chip:mpb", 5120, 160, 1), ("chip:mpb", 5121, 161, 2)]
MESSAGES += [("chip:mpimpb", 160, 5, 1), ("chip:mpimpb", 5120, 160, 32)]


@pytest.mark.parametrize(("name", "nbytes", "lines", "pieces"), MESSAGES)
def test_messages_on_the_chip(name, nbytes, lines, pieces):
    """A line is written once and read once; each piece has a flag there and one back."""
    both = SCC.access(0, 0) + SCC.access(0, 47)
    found = chip.transport(name).seconds(nbytes, 0, 47)
    assert found == pytest.approx((lines + 2 * pieces) * both)


def on_chip(carrier, step, *given, places=48):
    """Clocks after a step of a simulation."""
    found = Simulation(places, carrier)
    getattr(found, step)(*given)
    return found.clock


def test_simulations_on_the_chip():
    """With a mesh that takes no time all pairs are alike; with the chip's, far places take longer."""
    alike = chip.transport("chip:mpb", Chip(router_cycles=0))
    one = float(alike.seconds(1000, 0, 1))
    assert on_chip(alike, "exchange", 1000) == pytest.approx(47 * one)
    assert on_chip(alike, "collect", 1000)[0] == pytest.approx(47 * one)
    real = chip.transport("chip:mpb")
    cores = np.arange(48)
    collected = real.seconds(1000, cores[1:], 0).sum()
    assert on_chip(real, "collect", 1000)[0] == pytest.approx(collected)
    assert on_chip(real, "broadcast", 0, places=2) == pytest.approx(float(real.seconds(0, 0, 1)))
    # 46 and 47 are 8 hops away and the last to be answered; 1 shares place 0's tile
    clock = on_chip(real, "dynamic", np.zeros(0))
    assert clock[1] < clock[46] < clock[47]
    both_ways = real.seconds(1000, cores[:, None], cores)
    np.fill_diagonal(both_ways, 0)
    assert on_chip(real, "exchange", 1000).max() >= both_ways.mean(1).max()
    assert on_chip(real, "exchange", 1000).max() > 47 * one


def test_costs_at_the_ends_of_their_intervals():
    given = replace(WIRE, message_half=4e-5, byte_half=2e-9)
    low, high = given.at(-1), given.at(1)
    assert (low.message, low.byte) == (pytest.approx(6e-5), 0.0)  # none is below nothing
    assert (high.message, high.byte) == (pytest.approx(14e-5), pytest.approx(3e-9))


def test_a_chunk_is_paid_for_whole():
    """A message takes no more for bytes that fit into the buffer with its head."""
    small = Transport("mpimpb", 1e-4, 1e-6, chunk=160)
    assert small.seconds(159, 0, 1) == pytest.approx(1e-4)
    assert small.seconds(1000, 0, 1) == pytest.approx(1e-4 + 960e-6)


def test_flags_of_the_cores_that_take_part_are_off_the_buffer():
    """8192 - 64 n bytes are left; a piece of them takes as long as one of 48 cores' layout."""
    measured = Transport("mpb", 1e-4, 1e-8, chunk=5120, buffer=8192)
    for cores, room in ((8, 7680), (24, 6656), (48, 5120), (200, 5120)):
        found = Simulation(cores, measured).transport
        assert found.chunk == room
        assert found.seconds(3 * room, 0, 1) == pytest.approx(measured.seconds(3 * 5120, 0, 1))
    assert [chip.transport(name).among(8).chunk for name in chip.SCHEMES] == [7680, 160]
    assert WIRE.among(8) is WIRE


CHIP = {name: Buffers(buffer="8 KiB", places=48) for name in ("mpb", "mpimpb")}


@pytest.mark.parametrize(("scheme", "nbytes"), [("mpb", 5120), ("mpimpb", 160)])
def test_workers_of_a_study_have_its_buffers(scheme, nbytes):

    def out(dask_worker):
        """Bytes of the buffer in which a worker's comm with its scheduler sends."""
        return len(dask_worker.batched_stream.comm._out)

    with options.buffers(CHIP) as pieces:
        assert pieces[scheme] == (nbytes, 8192 if scheme == "mpb" else 0)
        with carriers.workers(scheme, 2) as client:
            assert list(client.run(out).values()) == [nbytes] * 2
            pair = Graph.from_edges([0], [1], n=2, clusters=2)
            echo = ledger.Echo(rounds=2, size=2000)
            ran = dgsuite.run(echo, pair, style="clocked", client=client)
    assert int(ran.wire_bytes.sum()) > 2 * 2 * 8 * 2000


def test_transports_that_are_not_here_are_left_out(monkeypatch):
    names = ["tcp", "mpi-sock", "chip:mpb", "pigeon"]
    monkeypatch.setattr(mpi, "mpiexec", lambda: None)
    here, absent = options.present(names)
    assert here == ["tcp"]
    assert list(absent) == ["mpi-sock", "pigeon"]
    assert "no mpiexec" in absent["mpi-sock"]
    with pytest.raises(dgsuite.InputError, match="mpi-sock: no mpiexec"):
        carriers.check("mpi-sock")


def test_measured_costs(client, client_of_one):
    (found,) = ledger.transports({"tcp": client}, 2, {"tcp": ledger.Pieces(160, 8192)})
    assert (found.name, found.chunk, found.buffer) == ("tcp", 160, 8192)
    assert found.message_half > 0
    assert_nothing_held(client)
    assert 0 < found.message < 1
    assert 0 <= found.byte < 1
    with pytest.raises(dgsuite.InputError, match="fewer"):
        ledger.transports({"tcp": client_of_one})
    done: list[int] = []
    assert ledger.units(done.append, 5, repeats=2).shape == (5,)
    assert done == [0, *range(5), *range(5)]


TINY = """
[scc]
places = [1, 2, 36, 44, 48]
measured = [1, 2]
repeats = 1
seed = 1
protocols = ["tcp", "mpb", "mpi-sock", "chip:mpimpb"]
[scc.buffers]
mpb = { buffer = "8 KiB", places = 48 }
[bc]
deals = ["block", "cyclic", "dynamic"]
[bc.workload.small]
scale = 8
sample = 4
[bc.workload.medium]
scale = 8
a = 0.65
d = 0.15
[bc.workload.low]
scale = 9
edges = 3000
weighted = false
[bc.workload.high]
scale = 9
sample = 8
"""


@pytest.mark.long
def test_an_experiment_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(mpi, "mpiexec", lambda: None)
    config = tmp_path / "bc.toml"
    config.write_text(TINY)
    out = tmp_path / "out.nc"
    assert main([str(config), "--output", str(out)]) == 0
    printed, told = capsys.readouterr()
    assert "left out: mpi-sock: no mpiexec" in told
    for text in ("SIMULATED", "differs", "scc.table1.workloads"):
        assert text in printed
    assert "scc.fig10.load" not in printed  # of MPI, too
    ds = dgsuite.open(out)
    assert "simulation" in ds.attrs["title"]
    assert ds.simulated_seconds.dims == ("workload", "deal", "transport", "places")
    assert ds.transport.values.tolist() == ["tcp", "mpb", "chip:mpimpb"]
    assert ds.chunk_bytes.values.tolist() == [0, 5120, 160]
    assert bool((ds.simulated_seconds > 0).all())
    assert (ds.held_bytes > 10_000).all()
    assert int((ds.measured_seconds > 0).sum()) == (4 + 2 + 1) * 2
    assert ds.simulated_seconds.attrs["units"] == "s"
    work, setup = ds.work_seconds, ds.setup_seconds
    one = ds.simulated_seconds.sel(places=1, deal="block").isel(transport=0)
    np.testing.assert_allclose(one, work + setup)
    # searches of some microseconds, measured: each place's share is what a busy machine makes of it
    balance = ds.balance.median(("workload", "places"))
    assert float(balance.sel(deal="cyclic")) >= 0.9 * float(balance.sel(deal="block"))
    figures = ("deals", "elapsed", "check")
    assert {p.name for p in tmp_path.glob("*.png")} == {f"out-{name}.png" for name in figures}
    assert not list(tmp_path.glob("*.part"))


WRONG = [
    ("scc.protocols=['tpc']", "unknown protocol 'tpc'; did you mean 'tcp'"),
    ("scc.places=[0]", "scc.places.0"),
    ("scc.buffers.mpb={buffer='1 KiB',places=48}", "holds but the flags of 48 places"),
    ("bc.deals=['fair']", "fair"),
    ("bc.workload.low.q=1", "unknown key"),
    ("scc", "must be key.subkey=value"),
    ("", "has no program"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_bad_experiments_are_named(tmp_path, here, change, message):
    (tmp_path / "bc.toml").write_text(TINY if change else "[scc]\n")
    done = here(main, "bc.toml", *["--set", change] * bool(change))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
