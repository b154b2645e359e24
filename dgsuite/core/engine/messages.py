"""Messages one by one, and their fields: what declared dtypes can hold, and names of nodes and clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays.segments import group, lent


def not_sent(name: str) -> InputError:
    """The error of a kernel that asks for a field that the messages do not have."""
    return InputError(f"field {name!r} is not among what was sent")


class MessageList:
    """Messages one by one, sorted by receiver's row, then sender.

    Parameters
    ----------
    row, src
        Receivers and senders, in the order of senders.
    field
        Returns the values of a field, of messages in an order.
    own
        How many rows there are.
    blocks
        The first row of each cluster, where messages are grouped by cluster, and not by receiver. They stay
        in the order of senders, and `to` has the first row of each cluster that got any.

    Attributes
    ----------
    to
        Rows that got any, ascending.
    starts
        Shape (len(to) + 1,): messages of ``to[i]`` are ``starts[i]`` to ``starts[i + 1]``.
    row
        Receiver of each message.
    src
        Node id of each sender; None where a combiner has folded senders together.
    sorted
        Values of fields that have been read.
    """

    _order: Any

    def __init__(
        self,
        row: NDArray,
        src: NDArray | None,
        field: Callable[[str, Any], NDArray],
        own: int,
        blocks: NDArray | None = None,
    ) -> None:
        if blocks is None:
            self.to, self.starts, self._order = group(row, own)
        elif len(blocks) == 1:
            self.to, self.starts, self._order = blocks, np.array([0, len(row)]), slice(None)
        else:
            block = np.searchsorted(blocks, row, side="right") - 1
            there, self.starts, self._order = group(block, len(blocks))
            self.to = blocks[there]
        self.row = lent(row[self._order])
        self.src = None if src is None else lent(src[self._order])
        self._field = field
        self.sorted: dict[str, NDArray] = {}

    def __getitem__(self, name: str) -> NDArray:
        if name not in self.sorted:
            try:
                self.sorted[name] = lent(self._field(name, self._order))
            except KeyError:
                raise not_sent(name) from None
        return self.sorted[name]


def concatenated[Batch: tuple[Any, ...]](batches: Sequence[Batch]) -> Batch:
    """Several batches as one; always a copy, so that nothing that is sent aliases a state.

    A batch is a named tuple of columns, of dictionaries of columns by field, and of what is the same in all
    batches.
    """
    return type(batches[0])(*map(_joined, zip(*batches, strict=True)))


def _joined(parts: tuple[Any, ...]) -> Any:
    first = parts[0]
    if isinstance(first, dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in first}
    return np.concatenate(parts) if isinstance(first, np.ndarray) else first


def held(values: NDArray, dtype: np.dtype) -> NDArray:
    """Values in a dtype that holds them; floats may be rounded to shorter ones.

    Raises
    ------
    InputError
        There is a value that the dtype cannot hold.
    """
    if values.dtype == dtype or np.can_cast(values.dtype, dtype):
        return values.astype(dtype, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        fits = _fits(values, dtype)
        if fits is not None:
            raise InputError(f"{values[~fits].tolist()[0]!r} does not fit into {dtype}")
        return values.astype(dtype)


def _fits(values: NDArray, dtype: np.dtype) -> NDArray[np.bool_] | None:
    """Which values a dtype can hold; None if it can hold all."""
    if values.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        fits = np.zeros(values.shape, bool)
    elif dtype.kind == "f":
        fits = np.isfinite(values.astype(dtype))
        fits = fits if fits.all() else fits | ~np.isfinite(values)
    elif values.dtype.kind == "f":
        least, most = _limits(dtype)
        fits = (values >= least) & (values < float(most + 1)) & (np.trunc(values) == values)
    else:
        return _inside(values, *_limits(dtype))
    return None if fits.all() else fits


def _limits(dtype: np.dtype) -> tuple[int, int]:
    """The smallest and the largest value of integers, or truth values."""
    if dtype.kind == "b":
        return 0, 1
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _inside(values: NDArray, least: int, most: int) -> NDArray[np.bool_] | None:
    """Which integers are in a range; None if all are."""
    if not values.size or (least <= int(values.min()) and int(values.max()) <= most):
        return None
    return (values >= least) & (values <= most)


def places(values: Any, size: int, kind: str = "node") -> NDArray:
    """Indices below `size`, as an array.

    Parameters
    ----------
    kind
        What has them, for messages.

    Raises
    ------
    InputError
        They are no list of integers, or out of range.
    """
    found = np.asarray(values)
    if not found.size and found.ndim == 1:
        return found.astype(np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        hint = "; of a mask take np.flatnonzero" if found.dtype == bool else ""
        raise InputError(
            f"{kind}s given as {found.dtype} of shape {found.shape}, not as a list of integers{hint}"
        )
    inside = _inside(found, 0, size - 1)
    if inside is not None:
        raise InputError(f"{kind} {found[~inside][0]}, which does not exist: there are {size}")
    return found


def compilable(dtype: np.dtype) -> bool:
    """Whether compiled loops reduce values of a dtype; others are listed."""
    return dtype.ndim == 0 and (dtype.kind in "iu" or dtype.char in "fd") and dtype.isnative
