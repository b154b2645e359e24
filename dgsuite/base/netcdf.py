"""NetCDF files with a checksum, which is verified before the file is parsed.

The HDF5 library may read wrong data from a damaged file, or never return. The checksum follows the end of
the HDF5 data. Readers of HDF5 and NetCDF ignore it, since the file's first block says where the data end,
and a program that changes the file drops it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from dgsuite.base import netcdf_trial
from dgsuite.base.errors import InputError, check_path
from dgsuite.base.extras import NETCDF, check_installed
from dgsuite.base.files import atomic_write

if TYPE_CHECKING:
    import xarray as xr

MARK = b"\ndgsuite sha256 "
"""Bytes before the checksum."""

TRAILER = len(MARK) + 2 * hashlib.sha256().digest_size + 1
"""Bytes of the mark, the checksum and a line break."""

DENSEST = 1100
"""Upper bound of the bytes of data per byte of a compressed file (deflate: 1032)."""

PATIENCE = 20.0
"""Seconds that a trial read may take, plus those for the size of the file."""

SPEED = 20e6
"""Bytes per second that a trial read must reach."""


def write(dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as NetCDF with a checksum, atomically.

    Raises
    ------
    InputError
        See `dgsuite.base.files.atomic_write`.

    Notes
    -----
    The file is made in memory, which takes as many bytes as the file has. When the HDF5 library fails to
    write to disk, the process ends in a segmentation fault.
    """
    check_installed(*NETCDF)
    import dask

    made = BytesIO()
    # otherwise xarray uses a lock of the current client's Dask cluster, named after the file
    with dask.config.set(scheduler="threads"):
        dataset.to_netcdf(made, engine="h5netcdf")
    with atomic_write(path) as part, open(part, "wb") as file:
        file.write(made.getbuffer())
        file.write(MARK + hashlib.sha256(made.getbuffer()).hexdigest().encode() + b"\n")


def read(path: str | os.PathLike[str], checksum: bool = False) -> xr.Dataset:
    """Read a NetCDF file into memory.

    The file's size bounds the memory used. Any program may have written a file without a checksum. Such a
    file is first read in another process, where the HDF5 library may crash or never return. Damage is then
    found only where that library finds it, and values may differ from those written.

    Parameters
    ----------
    checksum
        Require a checksum.

    Raises
    ------
    InputError
        The file does not exist, is damaged, or is not NetCDF.
    """
    check_path(path)
    check_installed(*NETCDF)
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            fits = _fits(file)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    if fits is None and checksum:
        raise InputError(f"{name}: has no checksum, or is damaged")
    if fits is False:
        raise InputError(f"{name}: is damaged: it does not match its checksum")
    import xarray as xr

    try:
        if fits is None:
            _try(name)
        else:
            _check(name)
        return xr.load_dataset(name, engine="h5netcdf")
    except Exception as error:  # the type depends on what is damaged
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{name}: not a NetCDF file, or a damaged one: {reason}") from None


def _check(name: str) -> None:
    """Check a file in this process: its checksum is right, and yet a stranger may have made it."""
    import h5py

    with h5py.File(name) as file:
        netcdf_trial.check(file, DENSEST * os.path.getsize(name))


def _try(name: str) -> None:
    """Read a file in another process.

    Raises
    ------
    ValueError
        The read failed or took too long.
    """
    size = os.path.getsize(name)
    seconds = PATIENCE + size / SPEED
    command = [sys.executable, "-P", netcdf_trial.__file__, name, str(DENSEST * size), str(seconds)]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it took more than {seconds:.0f} s") from None
    if trial.returncode < 0:
        raise ValueError(f"reading it ended with signal {-trial.returncode}")
    if trial.returncode:
        raise ValueError((trial.stderr.strip() or "it cannot be read").splitlines()[-1])


def _fits(file: BinaryIO) -> bool | None:
    """Whether a file matches its checksum; None if it has none."""
    size = os.fstat(file.fileno()).st_size
    if size < TRAILER:
        return None
    file.seek(size - TRAILER)
    trailer = file.read()
    if not trailer.startswith(MARK):
        return None
    file.seek(0)
    found = hashlib.sha256()
    left = size - TRAILER
    while left and (block := file.read(min(left, 1 << 20))):
        found.update(block)
        left -= len(block)
    return trailer == MARK + found.hexdigest().encode() + b"\n"
