"""What nodes that lie send in place of what they would have sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import keyed, unit

FACES = 0
"""Number of the random bits that say who is told the truth; fields have the numbers after it."""

MIDDLE = np.uint64(1 << 63)
"""About half of all words are below it."""


class Sent(NamedTuple):
    """Messages of nodes that lie, as they would have been.

    Attributes
    ----------
    fields
        The value of each message, by field.
    src, dst
        Node ids of sender and receiver of each, int64.
    luck
        uint64: random bits of each message, by the network's seed, phase, sender and receiver.
    counts
        By field, how many values it can have; 0 where any number of its dtype may be one.
    round
        The round in which they are sent.
    phase
        The name of the phase that sends them.

    Examples
    --------
    Nodes that say that everything is one more:

    >>> import dgsuite
    >>> def inflated(sent):
    ...     return {name: values + 1 for name, values in sent.fields.items()}
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> network = dgsuite.Network(byzantine=dgsuite.Byzantine([1], inflated))
    >>> dgsuite.run("bf", graph, network=network).distance.values
    array([0, 1, 3, 4], dtype=int32)
    """

    fields: Mapping[str, NDArray]
    src: NDArray
    dst: NDArray
    luck: NDArray[np.uint64]
    counts: Mapping[str, int]
    round: int
    phase: str


Limits = tuple[int, int] | None
"""Least and greatest value of a field; None for all of its dtype."""

Strategy = Callable[[Sent], Mapping[str, NDArray]]
"""What messages say instead, by field: arrays of the same length."""


Adds = Callable[[Sent], tuple[Any, Mapping[str, Any]]]
"""Which of some messages are sent beside those of the program, and what they say."""


def truth(sent: Sent) -> Mapping[str, NDArray]:
    """What the nodes would have sent."""
    return sent.fields


def constant(sent: Sent) -> Mapping[str, NDArray]:
    """Every field is 0."""
    return {name: np.zeros_like(values) for name, values in sent.fields.items()}


def random(sent: Sent) -> Mapping[str, NDArray]:
    """Every field has a random value of its range, by random bits of its own; floats are from 0 to 1."""
    return {
        name: _drawn(keyed(sent.luck, np.array([number])), sent.fields[name], sent.counts[name])
        for number, name in enumerate(sent.counts, FACES + 1)
        if name in sent.fields
    }


def two_faced(sent: Sent) -> Mapping[str, NDArray]:
    """About half of the receivers get the truth, the others random values."""
    told = keyed(sent.luck, np.array([FACES])) < MIDDLE
    lies = random(sent)
    return {
        name: np.where(told.reshape(-1, *[1] * (values.ndim - 1)), values, lies[name])
        for name, values in sent.fields.items()
    }


def _drawn(keys: NDArray[np.uint64], values: NDArray, count: int) -> NDArray:
    """A random value for each message, or for each place of the array that it has, from a key for each."""
    places = np.arange(prod(values.shape[1:])).reshape(values.shape[1:])
    words = keyed(keys.reshape(-1, *[1] * places.ndim), places)
    if values.dtype.kind == "f":
        return unit(words).astype(values.dtype)
    if values.dtype.kind not in "iub":
        return np.zeros_like(values)
    count = count or (2 if values.dtype.kind == "b" else 0)
    return (words % np.uint64(count) if count else words).astype(values.dtype)


STRATEGIES: dict[str, Strategy] = {
    "constant": constant,
    "random": random,
    "two-faced": two_faced,
    "truth": truth,
}
"""By name."""


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
        if limits is None and dtype.kind != "b":
            limits = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        least, most = limits or (0, 1)
        if lies.dtype.kind == "f":
            found[np.isnan(lies)] = min(max(0, least), most)
    found[lies <= least] = least
    found[lies >= most] = most
    return found
