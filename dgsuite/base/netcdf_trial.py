"""A program that reads all of an HDF5 file: on a damaged one the HDF5 library may crash or never return.

    python netcdf_trial.py FILE BYTES SECONDS

It exits with status 1 and a reason on stderr if the file cannot be read, or declares arrays of more than
BYTES. The system kills it after SECONDS of processor time. It imports nothing from this project, so that it
starts quickly.
"""

from __future__ import annotations

import sys
from math import ceil
from typing import Any

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]


DIMENSIONS = b"DIMENSION_LIST"
"""Attribute of an array that refers to its dimensions."""


def limit(seconds: float) -> None:
    """Have the system end this process after some processor time, also where its parent is gone."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds),) * 2)


def check(file: Any, most: int) -> list[Any]:
    """Check what the HDF5 library trusts, without its help: sizes, and references to dimensions.

    Returns
    -------
    What is in the file.

    Raises
    ------
    ValueError
        Arrays are declared of more than `most` bytes, or a dimension is no reference.
    """
    import h5py

    found: list[Any] = []
    file.visititems(lambda _, item: found.append(item))
    arrays = [item for item in found if isinstance(item, h5py.Dataset)]
    declared = sum(int(array.size or 0) * array.dtype.itemsize for array in arrays)
    if declared > most:
        raise ValueError(f"it declares {declared} bytes of arrays, but can hold at most {most}")
    for array in arrays:
        if not h5py.h5a.exists(array.id, DIMENSIONS):
            continue
        # the library reads other types as if they were references, beyond their end
        held = h5py.h5a.open(array.id, DIMENSIONS)
        base = h5py.check_vlen_dtype(held.dtype)
        if (
            held.shape != (len(array.shape),)
            or h5py.check_ref_dtype(base or held.dtype) is None
            or base is None
        ):
            raise ValueError(f"the dimensions of {array.name} are no references")
    return found


def main(name: str, most: int) -> None:
    """Read every attribute and array of a file.

    Raises
    ------
    Exception
        Whatever HDF5 and h5py raise for a damaged file; ValueError where arrays are too large.
    """
    import h5py

    with h5py.File(name) as file:
        dict(file.attrs)
        for item in check(file, most):
            dict(item.attrs)
            if isinstance(item, h5py.Dataset):
                item[()]


if __name__ == "__main__":
    try:
        limit(float(sys.argv[3]))
        main(sys.argv[1], int(sys.argv[2]))
    except Exception as error:
        sys.exit(str(error).partition("\n")[0] or type(error).__name__)
