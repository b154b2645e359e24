"""Places and hardware threads: one worker process for each cluster, all of them bound to some processors."""

import os
from pathlib import Path

import pytest
import xarray as xr

from dgsuite import InputError, experiment
from dgsuite.core.workers.processor import own_processors
from dgsuite.studies.experiment import model as config
from dgsuite.studies.experiment.clusters import bound, local
from dgsuite.studies.experiment.load import load

FILE = """
[experiment]
name = "places"
[graph]
generate = "ring"
[[run]]
kernel = "lcr"
style = {style}
n = 8
places = {places}
hwts = {hwts}
workload = {{ operations = 1000 }}
"""

TWO = pytest.mark.skipif(len(own_processors()) < 2, reason="one processor alone is here")


def written(folder: Path, **given: str) -> str:
    path = folder / "places.toml"
    path.write_text(FILE.format(**{"style": '"clocked"', "places": 2, "hwts": 1} | given))
    return str(path)


PLACES = [
    (1, "[1, 4]", [(1, 1, 1, 1), (1, 1, 4, 4)]),
    ("[2, 4]", "4", [(2, 2, 2, 4), (4, 4, 1, 4)]),
    ('"n"', "2", [(8, 8, 1, 2)]),
    ("1", '"n"', [(1, 1, 8, 8)]),
    ("3", "4", [(3, 3, 2, 4)]),
]


@pytest.mark.parametrize(("places", "hwts", "expected"), PLACES)
def test_a_place_is_a_worker_and_a_cluster(places, hwts, expected, tmp_path):
    """Its threads suffice for all hardware threads."""
    loaded, _ = load(written(tmp_path, places=places, hwts=hwts), [])
    found = [(p.clusters, p.workers, p.threads, p.hwts) for p in config.points(loaded)]
    assert found == expected


WRONG = [
    ("run.0.workers=2", "run.0.workers: places say how many there are"),
    ("run.0.clusters=2", "run.0.clusters: places say how many there are"),
    ("run.0.hwts=0", "run.0.hwts"),
    ("run.0.places=m", "run.0.places"),
    ("cluster.scheduler=tcp://127.0.0.1:9", "run.0.hwts: a cluster at an address"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_places_that_cannot_be(change, message, tmp_path):
    with pytest.raises(InputError, match=message):
        load(written(tmp_path), [change])


def test_points_beyond_this_machine_are_left_out(tmp_path, here):
    many = len(os.sched_getaffinity(0)) + 1
    path = written(tmp_path, hwts=f"[1, {many}]")
    how = [path, "--output", "out.nc", "--no-progress", "--set", "experiment.plot=false"]
    done = here(experiment.main, *how)
    assert done.returncode == 0
    said = f"1 of 2 points left out: they need {many} hardware threads, and this machine has {many - 1}"
    assert said in " ".join(done.stderr.split())
    done = here(experiment.main, path, "--dry-run")
    assert done.returncode == 0
    _, one, two = done.stdout.splitlines()
    assert "left out" not in one
    assert two.endswith(f"left out: this machine has {many - 1} hardware threads")
    with xr.open_dataset(tmp_path / "out.nc") as ds:
        assert (ds.attrs["hwts"], ds.attrs["workers"], ds.attrs["oversubscribed"]) == (1, 2, 0)
    done = here(experiment.main, written(tmp_path, hwts=str(many)), *how[1:])
    assert done.returncode == 2
    assert "run.hwts: 1 of 1 points left out" in " ".join(done.stderr.split())


def processors() -> frozenset[int]:
    """Those of all threads of a process."""
    found = [os.sched_getaffinity(int(thread)) for thread in os.listdir("/proc/self/task")]
    return frozenset().union(*found)


@TWO
def test_all_processes_are_bound_and_set_free():
    everything = own_processors()
    one = frozenset(sorted(everything)[:1])
    with local(2, 1, "auto") as client:
        for _ in range(2):
            with bound(client, 1):
                assert {*client.run(processors).values(), processors()} == {one}
            assert {*client.run(processors).values(), processors()} == {everything}
        with pytest.raises(ZeroDivisionError), bound(client, 1):
            raise ZeroDivisionError
        assert processors() == everything
        with bound(client, None):
            assert {*client.run(processors).values()} == {one}  # of the failure before
        with bound(client, 2):
            assert {*client.run(processors).values()} == {frozenset(sorted(everything)[:2])}


@TWO
@pytest.mark.long
@pytest.mark.parametrize("style", ["clocked", "finish_async", "in_turn"])
def test_hardware_threads_change_no_results(style, tmp_path):
    """Also of tasks that a former run, on other processors, has kept."""
    out = str(tmp_path / "out.nc")
    path = written(tmp_path, style=f'"{style}"', places="[1, 2]", hwts="[1, 2]")
    more = ["--set", "experiment.repeats=2", "--set", "experiment.plot=false"]
    assert experiment.main([path, "--output", out, "--no-progress", *more]) == 0
    with xr.open_dataset(out) as ds:
        rows = zip(*(ds[n].values.tolist() for n in ("clusters", "hwts", "threads")), strict=True)
        assert sorted(rows) == sorted([(1, 1, 1), (1, 2, 2), (2, 1, 1), (2, 2, 1)] * 2)
        for name in ("leader", "messages", "asyncs", "n_rounds"):
            assert (ds[name] == ds[name].isel(run=0)).all()
