"""What all command lines share: where their results go, and how they end. No heavy imports."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from partition.errors import DgsuiteError, InputError
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


def ending(main: Callable[..., int], interrupted: str = "interrupted") -> Callable[..., int]:
    """Have a command line end with one message: status 130 interrupted, 2 wrong input, 1 otherwise failed.

    Parameters
    ----------
    interrupted
        What to say then.
    """

    @functools.wraps(main)
    def guarded(*arguments: Any) -> int:
        try:
            return main(*arguments)
        except KeyboardInterrupt:
            print(interrupted, file=sys.stderr)
            return 130
        except (DgsuiteError, OSError) as error:
            print(f"error: {str(error) or type(error).__name__}", file=sys.stderr)
            return 2 if isinstance(error, InputError) else 1

    return guarded
