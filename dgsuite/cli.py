"""What command lines share: where their results go."""

from __future__ import annotations

import os

from partition.files import writable


def output(given: str | None, name: str) -> str:
    """Where a result goes: as given, or ``results/<name>.nc``, in a folder that is made.

    Raises
    ------
    InputError
        It does not end in .nc, where pictures and tables go beside it, or cannot be written.
    """
    if given is None:
        os.makedirs("results", exist_ok=True)
        given = os.path.join("results", f"{name}.nc")
    writable(given, ".nc")
    return given
