"""NetCDF files with a checksum, which is compared before the file is parsed.

The HDF5 library reads a damaged file as other data, or never ends. The checksum stands after the end
of the HDF5 data: readers of HDF5 and NetCDF look no further than that end, which the file's first block
names, and a program that changes the file drops what follows it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from partition import netcdf_trial
from partition.errors import InputError
from partition.files import whole

if TYPE_CHECKING:
    import xarray as xr

MARK = b"\ndgsuite sha256 "
"""What stands before a checksum."""

TRAILER = len(MARK) + 2 * hashlib.sha256().digest_size + 1
"""Bytes of a checksum with its mark and a line break."""

DENSEST = 1100
"""More than the most bytes of data that a byte of a compressed file can hold (deflate: 1032)."""

PATIENCE = 20.0
"""Seconds that a trial reading may take, beyond those for the size of the file."""

SPEED = 20e6
"""Bytes per second that a trial reading may take."""


def write(dataset: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as NetCDF with a checksum: whole, or not at all.

    Raises
    ------
    InputError
        See `partition.files.whole`.

    Notes
    -----
    The file is made in memory, which takes as much memory as the file has bytes: a process in which
    the HDF5 library fails to write to disk ends in a segmentation fault.
    """
    import dask

    made = BytesIO()
    # otherwise xarray takes a lock of the current client's cluster, named by the file
    with dask.config.set(scheduler="threads"):
        dataset.to_netcdf(made, engine="h5netcdf")
    with whole(path) as part, open(part, "wb") as file:
        file.write(made.getbuffer())
        file.write(MARK + hashlib.sha256(made.getbuffer()).hexdigest().encode() + b"\n")


def read(path: str | os.PathLike[str], checksum: bool = False) -> xr.Dataset:
    """Read a NetCDF file into memory.

    Memory is bounded by the file's size. A file without a checksum may be of any program. It is first
    read in another process, where the HDF5 library may crash or never end. Damage is then found only
    where that library finds it, and values may be others than were written.

    Parameters
    ----------
    checksum
        Refuse a file without a checksum.

    Raises
    ------
    InputError
        No such file, damaged, or not NetCDF.
    """
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
        return xr.load_dataset(name, engine="h5netcdf")
    except Exception as error:  # the type depends on what is damaged
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{name}: not a NetCDF file, or a damaged one: {reason}") from None


def _try(name: str) -> None:
    """Read a file in another process.

    Raises
    ------
    ValueError
        That failed, or took too long.
    """
    size = os.path.getsize(name)
    seconds = PATIENCE + size / SPEED
    command = [sys.executable, "-P", netcdf_trial.__file__, name, str(DENSEST * size)]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading it takes more than {seconds:.0f} s") from None
    if trial.returncode < 0:
        raise ValueError(f"reading it ends in signal {-trial.returncode}")
    if trial.returncode:
        raise ValueError((trial.stderr.strip() or "it cannot be read").splitlines()[-1])


def _fits(file: BinaryIO) -> bool | None:
    """Whether a file matches its checksum; None where it has none."""
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
