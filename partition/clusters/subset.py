"""A subset of consecutive numbers: nodes of a cluster, or slots of a site."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import keep, land, mark, members, remove
from dgsuite.partition.construction.build import id_dtype

INDEX = 4
"""Bytes of an entry of an encoded list; a bitmap takes a bit per number of the range."""

SEARCH = 4
"""Finding one number in a list by bisection costs about as much as testing 4 entries of a mask."""


def encoded_size(size: Any, count: Any) -> Any:
    """Bytes of the encoded form of `count` numbers out of `size`; elementwise."""
    return np.where(count == size, 0, np.minimum(INDEX * count, -(-size // 8)))


class Subset:
    """Some of the numbers from `start` to ``start + size - 1``.

    It has three forms: a mask, an ascending list and a bitmap. It is made from the mask or the list;
    the other forms are made when first asked for.

    Parameters
    ----------
    mask
        bool, shape (size,); the subset owns it. None to make it from the list when it is needed.
    members
        int64, shape (count,), ascending; None to make it from the mask when it is needed.
    start
        First number of the range.
    size
        Length of the range; by default that of the mask.
    count
        How many numbers are in the subset, where that is known.
    """

    __slots__ = ("_bitmap", "_mask", "_members", "count", "size", "start")

    def __init__(
        self,
        mask: NDArray[np.bool_] | None,
        members: NDArray[np.int64] | None = None,
        *,
        start: int = 0,
        size: int | None = None,
        count: int | None = None,
    ) -> None:
        if count is None:
            count = int(np.count_nonzero(mask)) if members is None else len(members)  # type: ignore[arg-type]
        self.start = start
        self.size: int = len(mask) if size is None else size  # type: ignore[arg-type]
        self.count = count
        self._mask = mask
        self._members = members
        self._bitmap: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def is_list(self) -> bool:
        """Whether the list is there already."""
        return self._members is not None

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which numbers of the range are in the subset; change it by `remove` alone."""
        if self._mask is None:
            mask = np.zeros(self.size, bool)
            mark(mask, self._from_start(self._members))  # type: ignore[arg-type]
            self._mask = mask
        return self._mask

    @property
    def members(self) -> NDArray[np.int64]:
        """The numbers, ascending."""
        if self._members is None:
            found = members(self.mask, self.count)
            if self.start:
                found += self.start
            self._members = found
        elif len(self._members) != self.count:
            self._members = keep(self.mask, self._members, self.count)
        return self._members

    @property
    def bitmap(self) -> NDArray[np.uint8]:
        """The mask in bits, the lowest bit first: shape (ceil(size / 8),)."""
        if self._bitmap is None:
            self._bitmap = np.packbits(self.mask, bitorder="little")
        return self._bitmap

    def remove(self, numbers: NDArray) -> None:
        """Take numbers out of a subset of a range from 0; each is named once, and need not be in."""
        self.count -= remove(self.mask, numbers)
        self._bitmap = None

    def restrict(self, numbers: NDArray | slice) -> Subset:
        """The part of the subset that is among some numbers.

        Parameters
        ----------
        numbers
            A slice of the range, all of the subset's numbers in it, or an ascending array.

        Returns
        -------
        Of a slice, the subset as one of that range. Of an array, the indices of those numbers
        that are in the subset. The subset must start at 0.
        """
        if isinstance(numbers, slice):
            part = self.mask[numbers]
            return Subset(part, self._members, start=numbers.start, count=self.count)
        if self._members is None or SEARCH * self.count >= len(numbers):
            return Subset(self.mask[numbers])
        at = np.searchsorted(numbers, self._members)
        at[at == len(numbers)] = 0
        return Subset(None, at[numbers[at] == self._members], size=len(numbers))

    @property
    def is_sparse(self) -> bool:
        """Whether the list takes fewer bytes than the bitmap."""
        return 8 * INDEX * self.count < self.size

    def encode(self) -> NDArray | None:
        """The subset in as few bytes as it can be: None if it is the whole range, else a bitmap
        (uint8) or a list (int32, or int64 where the range is too long), counted from the start.
        """
        if self.count == self.size:
            return None
        if not self.is_sparse:
            return self.bitmap
        return self._from_start(self.members).astype(id_dtype(self.size))

    @classmethod
    def decode(cls, code: NDArray | None, mask: NDArray[np.bool_], start: int = 0) -> Subset:
        """The subset that `encode` returned `code` for.

        Parameters
        ----------
        mask
            Shape (size,), all False; it becomes the mask of the subset.
        """
        if code is None:
            mask[:] = True
            return cls(mask, start=start, count=len(mask))
        if code.dtype == np.uint8:
            mask[:] = np.unpackbits(code, count=len(mask), bitorder="little").view(bool)
            return cls(mask, start=start)
        return cls(mask, land(mask, code, start), start=start)

    def clear(self) -> None:
        """Empty the mask, which the subset shares, at its numbers; the subset is not used again."""
        if self._members is not None and SEARCH * self.count < self.size:
            self.mask[self._from_start(self._members)] = False
        else:
            self.mask[:] = False

    def _from_start(self, numbers: NDArray) -> NDArray:
        return numbers - self.start if self.start else numbers
