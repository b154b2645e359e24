"""What all command lines share: how they end. No heavy imports."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence

from partition.errors import DgsuiteError, InputError


def ending(main: Callable[..., int]) -> Callable[..., int]:
    """Have a command line end with one message: status 130 interrupted, 2 wrong input, 1 otherwise failed."""

    @functools.wraps(main)
    def guarded(arguments: Sequence[str] | None = None) -> int:
        try:
            return main(arguments)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        except DgsuiteError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2 if isinstance(error, InputError) else 1

    return guarded
