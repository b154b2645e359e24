"""A program that reads all of an HDF5 file: on a damaged one the HDF5 library may crash or never return.

    python netcdf_trial.py FILE BYTES

It exits with status 1 and a reason on stderr if the file cannot be read, or declares arrays of more than
BYTES. It imports nothing from this project, so that it starts quickly.
"""

from __future__ import annotations

import sys
from typing import Any


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
        main(sys.argv[1], int(sys.argv[2]))
    except Exception as error:
        sys.exit(str(error).partition("\n")[0] or type(error).__name__)
