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


def limit(seconds: float) -> None:
    """Have the system end this process after some processor time, also where its parent is gone."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds),) * 2)


def main(name: str, most: int) -> None:
    """Read every attribute and array of a file.

    Raises
    ------
    Exception
        Whatever HDF5 and h5py raise for a damaged file; ValueError where arrays are too large.
    """
    import h5py

    found: list[Any] = []
    with h5py.File(name) as file:
        dict(file.attrs)
        file.visititems(lambda _, item: found.append(item))
        arrays = [item for item in found if isinstance(item, h5py.Dataset)]
        declared = sum(int(array.size or 0) * array.dtype.itemsize for array in arrays)
        if declared > most:
            raise ValueError(f"it declares {declared} bytes of arrays, but can hold at most {most}")
        for item in found:
            dict(item.attrs)
        for array in arrays:
            array[()]


if __name__ == "__main__":
    try:
        limit(float(sys.argv[3]))
        main(sys.argv[1], int(sys.argv[2]))
    except Exception as error:
        sys.exit(str(error).partition("\n")[0] or type(error).__name__)
