"""Result files: damage is seen before they are parsed, and other programs can read them."""

import random
import signal
import subprocess
import sys

import dask
import h5py
import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import Graph
from dgsuite.base import netcdf
from dgsuite.base.errors import InputError
from tests.support.patience import PATIENCE


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A result, and its file."""
    path = tmp_path_factory.mktemp("saved") / "result.nc"
    graph = Graph.from_edges(np.arange(50), np.arange(1, 51))
    ds = dgsuite.run("mis", graph, style="serial", seed=3)
    dgsuite.save(ds, path)
    return ds, path


def test_no_flipped_bit_gives_other_data(saved, tmp_path):
    """Those that are accepted fall into the mark of the checksum: the data are whole then."""
    ds, path = saved
    data = path.read_bytes()
    mark = range(len(data) - netcdf.TRAILER, len(data) - netcdf.TRAILER + len(netcdf.MARK))
    bits = random.Random(1).sample(range(8 * len(data)), 585) + [8 * at for at in mark[::5]]
    damaged = tmp_path / "damaged.nc"
    for bit in bits:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        if bit // 8 in mark:
            assert dgsuite.open(damaged).identical(ds)
            with pytest.raises(InputError, match="has no checksum"):
                netcdf.read(damaged, checksum=True)
        else:
            with pytest.raises(InputError, match="does not match its checksum"):
                dgsuite.open(damaged)


def test_what_is_cut_off_is_seen(saved, tmp_path):
    _, path = saved
    data = path.read_bytes()
    cut = tmp_path / "cut.nc"
    for size in (0, 10, len(data) // 2, len(data) - netcdf.TRAILER - 1):
        cut.write_bytes(data[:size])
        with pytest.raises(InputError, match=r"cut\.nc: not a NetCDF file, or a damaged one"):
            dgsuite.open(cut)


def test_other_programs_read_and_change_such_files(saved, tmp_path):
    """xarray and h5py read it; a change of the file drops the checksum, which would no longer fit."""
    ds, path = saved
    with xr.open_dataset(path) as found:
        assert found.attrs["kernel"] == "mis"
        np.testing.assert_array_equal(found.in_mis, ds.in_mis)
    changed = tmp_path / "changed.nc"
    changed.write_bytes(path.read_bytes())
    with h5py.File(changed, "r+") as file:
        file.attrs["title"] = "mine"
    assert dgsuite.open(changed).attrs["title"] == "mine"
    with pytest.raises(InputError, match="has no checksum"):
        netcdf.read(changed, checksum=True)


def write_without_checksum(path):
    """As another program does; xarray would take a lock of the current client's cluster."""
    with dask.config.set(scheduler="threads"):
        xr.Dataset({"x": ("a", [1.5, 2.5])}).to_netcdf(path, engine="h5netcdf")


def test_arrays_that_are_not_there_take_no_memory(tmp_path):
    """Each is 16 GiB that nothing in the file stands for."""
    path = tmp_path / "huge.nc"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (1 << 31,), "f8", chunks=(1 << 20,))
    with pytest.raises(InputError, match="declares 17179869184 bytes of arrays"):
        netcdf.read(path)


@pytest.mark.parametrize(
    ("trial", "patience", "message"),
    [
        ("import time; time.sleep(60)", 1.0, "took more than 1 s"),
        ("import os; os.kill(os.getpid(), 11)", 60.0, "ended with signal 11"),
        ("raise SystemExit('bad tree')", 60.0, "bad tree"),
    ],
)
def test_a_file_without_a_checksum_is_tried_apart(trial, patience, message, tmp_path, monkeypatch):
    path, program = tmp_path / "other.nc", tmp_path / "trial.py"
    write_without_checksum(path)
    program.write_text(trial)
    monkeypatch.setattr(netcdf.netcdf_trial, "__file__", str(program))
    monkeypatch.setattr(netcdf, "PATIENCE", patience)
    with pytest.raises(InputError, match=message):
        netcdf.read(path)


def test_a_trial_read_ends_without_its_parent():
    """The parent may be killed while the HDF5 library is in an endless loop."""
    program = "from dgsuite.base import netcdf_trial; netcdf_trial.limit(1)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", program], timeout=PATIENCE)
    assert -ended.returncode in (signal.SIGXCPU, signal.SIGKILL)
