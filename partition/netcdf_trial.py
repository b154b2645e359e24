"""Read all of an HDF5 file, as a program: the HDF5 library may crash on a damaged file, or never end.

    python netcdf_trial.py FILE BYTES

It ends with exit status 1 and a reason on standard error where the file cannot be read, or declares
arrays of more than so many bytes. It imports nothing of this project, so that it starts quickly.
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
            raise ValueError(f"it declares {declared} bytes of arrays, and can hold {most} at most")
        for item in found:
            dict(item.attrs)
        for array in arrays:
            array[()]


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except Exception as error:
        sys.exit(str(error).partition("\n")[0] or type(error).__name__)
