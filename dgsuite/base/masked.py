"""Masked arrays: what they hide has no value, so none is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from dgsuite.base.errors import InputError


def unmasked(values: Any, what: str) -> Any:
    """Values as they are, unless some are masked.

    `numpy.asarray` gives the values below a mask as if they counted.

    Parameters
    ----------
    what
        What they are, as the subject of the error.

    Raises
    ------
    InputError
        Some are masked.
    """
    if isinstance(values, np.ma.MaskedArray):
        hidden = int(np.count_nonzero(np.ma.getmaskarray(values)))
        if hidden:
            raise InputError(
                f"{what} must not be masked: {hidden} of {values.size} values have no value; give an array "
                f"without a mask, such as that of its method compressed() or filled()"
            )
    return values
