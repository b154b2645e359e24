"""Tables of one's own figures, and what is said of them."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dgsuite import scaling
from dgsuite.studies.scaling.analysis import analyse
from tests.support.mains import scaling as main
from tests.support.sweeps import sweep

KEYS = ["n", "workers", "bandwidth", "repeat", "seconds"]


@pytest.fixture
def own(tmp_path):
    """A table of made runs of two sizes, with three bandwidths, and the runs."""
    runs = sweep()
    frame = pd.DataFrame([[ds.attrs[key] for key in KEYS] for ds in runs], columns=KEYS)
    frame.drop(columns="repeat").to_csv(tmp_path / "own.csv", index=False)
    return tmp_path / "own.csv", runs


def test_a_table_is_analysed_as_runs_are(own):
    path, runs = own
    table, measured = scaling.read(path), scaling.measured(runs)
    xr.testing.assert_allclose(table.seconds, measured.seconds)
    here, there = analyse(table), analyse(runs)
    assert here.stop == there.stop
    assert here.link == there.link
    assert here.unit == "workers"


def test_the_command_says_where_to_stop(own, capsys):
    path, runs = own
    assert main(["fit", str(path)]) == 0
    said = capsys.readouterr().out
    expected = analyse(runs)
    for n, at in expected.stop.items():
        assert f"n = {n}: {at}" in said
    files = [line for line in said.splitlines() if line.startswith(str(path.parent))]
    assert sorted(files) == sorted(str(p) for p in path.parent.iterdir() if p != path)
    with xr.open_dataset(files[0]) as found:
        assert found.conclusion.values.tolist() == [str(at) for at in expected.stop.values()]


def test_names_separators_and_units(tmp_path, capsys):
    """Bandwidth in bytes per second; no size; other names."""
    p, rate = (a.ravel() for a in np.meshgrid([2, 4, 8, 12, 16], [2e8, 5e8, 1e9]))
    seconds = 0.1 + 10 / p + 0.5 / np.sqrt(p) * 1e9 / rate
    frame = pd.DataFrame({"Nodes": p, "elapsed": seconds, "Bandwidth": rate})
    frame.to_csv(tmp_path / "own.txt", index=False, sep=";")
    columns = {"p": "Nodes", "seconds": "elapsed"}
    found = scaling.read(tmp_path / "own.txt", columns)
    assert dict(found.sizes) == {"p": 5, "bandwidth": 3, "repeat": 1}
    assert found.bandwidth.values.tolist() == [20, 50, 100]
    assert found.attrs["nominal_bandwidth"] == 1e9
    given = [f"--column={name}={column}" for name, column in columns.items()]
    assert main(["fit", str(tmp_path / "own.txt"), *given, "--link", "2 GB", "--no-figures"]) == 0
    said = capsys.readouterr().out
    assert "reaches a link of 2 GB per second" in said
    assert "16 nodes: measured" in said
    assert "n = " not in said


def test_netcdf(tmp_path):
    times = xr.DataArray(
        [[8.0, 4.0, 2.0], [8.2, 4.2, 2.2]],
        {"machines": [1, 2, 4]},
        ("try", "machines"),
        name="time",
    )
    times.to_netcdf(tmp_path / "own.nc")
    found = scaling.read(tmp_path / "own.nc")
    np.testing.assert_allclose(found.seconds.isel(bandwidth=0).T, times)


def test_repeats_may_be_as_many_as_there_are(tmp_path):
    (tmp_path / "own.csv").write_text("p, seconds\n4, 3.0\n2, 5.0\n2, 5.4\n2, 5.1\n1, 9\n")
    found = scaling.read(tmp_path / "own.csv")
    assert found.seconds.median("repeat").values.ravel().tolist() == [9.0, 5.1, 3.0]
    assert analyse(found).rows().p.tolist() == [1, 2, 2, 2, 4]


THREE = "p,time,bandwidth\n1,2,100\n2,1,100\n2,2,50\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, "", "own.csv: there is no such file"),
        ("", "", "own.csv: is no table in CSV or NetCDF"),
        ("p,seconds\n", "", "own.csv: has no rows"),
        ("a,b\n1,2\n", "", "no column is named p or machines or workers or processes or ranks; it"),
        ("p,b\n1,2\n", "--column=seconds=c", "has no column 'c' for seconds; it has p, b"),
        ("p,b\n1,2\n", "--column=secs=b", "column 'secs' is unknown; one of p, seconds"),
        ("p,b\n1,2\n", "--column=b", "--column b: must be NAME=COLUMN"),
        ("p,time\n1,2\n2,-1\n", "", "own.csv, row 2: time must be a number above 0, got -1"),
        ("p,time\n1,2\n2,x\n", "", "own.csv, row 2: time must be a number above 0, got 'x'"),
        ("p,time\n1.5,2\n", "", "own.csv, row 1: p must be a whole number above 0, got 1.5"),
        (THREE, "", "own.csv: the row of p = 1 at bandwidth 50 % is missing"),
        ("p,time\n1,2\n", "-o none", "'--output': Directory 'none' does not exist"),
    ],
)
def test_what_is_wrong_is_named(text, options, message, tmp_path, here):
    if text is not None:
        (tmp_path / "own.csv").write_text(text)
    done = here(main, "fit", "own.csv", *options.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert {p.name for p in tmp_path.iterdir()} <= {"own.csv"}
