"""The values that nodes which lie make up, held to those that their messages can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError

Limits = tuple[int, int] | None
"""Least and greatest value of a field; None for all of its dtype."""


def told(
    said: Any, fields: Mapping[str, NDArray], limits: Mapping[str, Limits]
) -> dict[str, NDArray]:
    """What messages say instead, by field.

    Parameters
    ----------
    said
        What a strategy returned.
    fields
        What the messages would have said.
    limits
        Of each field.

    Raises
    ------
    InputError
        It is no mapping, a field is missing, or its values are no numbers, one for each message.
    """
    if not isinstance(said, Mapping):
        raise InputError(
            f"a strategy returns a mapping of fields ({', '.join(fields)}), got {said!r:.80}"
        )
    if missing := sorted(fields.keys() - said.keys()):
        raise InputError(f"a strategy returns each field that was sent, and not {missing[0]!r}")
    return {
        name: bounded(name, said[name], values, limits.get(name)) for name, values in fields.items()
    }


def bounded(name: str, said: Any, values: NDArray, limits: Limits) -> NDArray:
    """Values of a field as its dtype and its limits have them.

    What lies outside becomes the nearest of these values, and NaN becomes 0 or the nearest to it. So each
    message by itself says what it says, for any cut.

    Parameters
    ----------
    values
        What the messages would have said.
    """
    try:
        lies = np.broadcast_to(np.asarray(said), values.shape)
    except ValueError:
        raise InputError(
            f"a strategy returns for each message a value of field {name!r}: an array of shape "
            f"{values.shape}, got {said!r:.80}"
        ) from None
    if lies.dtype.kind not in "biuf":
        raise InputError(f"a strategy returns numbers of field {name!r}, got {lies.dtype} values")
    dtype = values.dtype
    with np.errstate(invalid="ignore", over="ignore"):
        found = lies.astype(dtype)
        if dtype.kind == "f":
            return np.nan_to_num(found)  # type: ignore[no-any-return]
        if dtype.kind == "b":
            limits = limits or (0, 1)
        else:
            limit = np.iinfo(dtype)
            limits = limits or (int(limit.min), int(limit.max))
        least, most = limits
        if lies.dtype.kind == "f":
            found[np.isnan(lies)] = min(max(0, least), most)
    found[lies <= least] = least
    found[lies >= most] = most
    return found
