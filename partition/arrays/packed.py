"""Numbers in few bits: the ends of edges, which ascend in each row.

Numbers are in blocks of 64. Of each number the difference to the one before is kept, in as few bits as most
of the block need. What other differences have above these bits is kept apart (PForDelta: Zukowski, Heman, Nes
and Boncz 2006, "Super-scalar RAM-CPU cache compression"). At the start of a row the difference may be
negative: it is taken modulo a power of two. A block is unpacked at once, so any row can be read without those
before it.

As many rows as fit into the processor's cache are unpacked at a time. They go through the same compiled loops
as rows that are not packed: see `parts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.partition.arrays import mapped
from dgsuite.partition.arrays.loops import loops

BLOCK = 64
"""Numbers of a block."""

EXCEPTIONS = 1 << 7
WIDTHS = 1 << 8
FIRST = WIDTHS * EXCEPTIONS
"""A head is ``(first word * WIDTHS + width) * EXCEPTIONS + exceptions``."""

AT_ONCE = 1 << 16
"""Numbers that are unpacked at a time: 256 KiB stay in the processor's cache."""


Part = tuple[slice, NDArray, NDArray]
"""See `parts`."""


@dataclass(frozen=True, eq=False)
class Packed:
    """An array of integers from 0 in few bits. It is read as an array is, and not written to.

    Attributes
    ----------
    words
        uint64: the bits.
    heads
        int64: where each block begins, and how it is packed.
    count
        How many numbers there are.
    bits
        Of the largest.
    dtype
        Of the array that it stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.partition.arrays.packed import Packed
    >>> numbers = np.arange(0, 6400, 2, dtype=np.int32)
    >>> packed = Packed.of(numbers)
    >>> packed[:3], packed[np.array([5, 0])], len(packed)
    (array([0, 2, 4], dtype=int32), array([10,  0], dtype=int32), 3200)
    >>> packed.nbytes < numbers.nbytes / 4
    True
    """

    words: NDArray[np.uint64]
    heads: NDArray[np.int64]
    count: int
    bits: int
    dtype: np.dtype

    @classmethod
    def of(cls, values: NDArray) -> Packed:
        """Pack an array of integers from 0."""
        return cls.made([values], int(values.max(initial=0)), values.dtype)

    @classmethod
    def made(cls, chunks: Iterable[NDArray], largest: int, dtype: DTypeLike) -> Packed:
        """Pack integers from 0 to `largest` that come in chunks."""
        compiled, bits = loops(), int(largest).bit_length()
        count, used = 0, 0
        parts: list[tuple[NDArray, NDArray]] = []
        for some in _whole_blocks(chunks, dtype):
            heads = np.empty(-(-len(some) // BLOCK), np.int64)
            words = np.zeros(compiled.measure(some, bits, heads), np.uint64)
            compiled.pack(some, bits, heads, words)
            parts.append((words, heads + used * FIRST))
            count, used = count + len(some), used + len(words)
        if not parts:
            return cls(np.empty(0, np.uint64), np.empty(0, np.int64), 0, bits, np.dtype(dtype))
        words, heads = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(words, heads, count, bits, np.dtype(dtype))

    def on_disk(self) -> Packed:
        """The same in mapped files."""
        return replace(self, words=mapped.moved(self.words), heads=mapped.moved(self.heads))

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.words.nbytes + self.heads.nbytes

    def __len__(self) -> int:
        return self.count

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        found: NDArray = self[:]
        return found if dtype is None else found.astype(dtype, copy=False)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, step = at.indices(self.count)
            out = mapped.empty(max(last - first, 0), self.dtype, self.words)
            loops().unpack(self.words, self.heads, self.bits, first, max(last, first), out)
            return out[::step]
        entries = np.asarray(at)
        if entries.dtype == bool:
            entries = np.flatnonzero(entries)
        out = np.empty(entries.size, self.dtype)
        flat = entries.ravel().astype(np.int64)
        flat[flat < 0] += self.count
        loops().pick_packed(self.words, self.heads, self.bits, flat, out)
        return out.reshape(entries.shape) if entries.ndim else out[0]

    def rows(self, indptr: NDArray, origin: int, rows: NDArray, most: int) -> Iterator[Part]:
        """As `parts` for packed numbers, `most` at a time unless a row has more."""
        starts = np.empty(len(indptr), indptr.dtype)
        lengths = indptr[rows + (origin + 1)] - indptr[rows + origin]
        room = min(int(lengths.sum()), max(most, int(lengths.max(initial=0))))
        done, out = 0, np.empty(room, self.dtype)
        while done < len(rows) or not done:
            coded = self.words, self.heads, self.bits
            many, _ = loops().unpack_rows(*coded, indptr, origin, rows[done:], starts, out)
            yield slice(done, done + many), starts, out
            done += max(many, 1)


Numbers = NDArray | Packed
"""An array of integers, or what stands for one."""


def parts(
    indptr: NDArray, indices: Numbers, origin: int, rows: NDArray, most: int = AT_ONCE
) -> Iterator[Part]:
    """Some rows of an adjacency, for compiled loops: all at once, or as many as are unpacked at a time.

    Parameters
    ----------
    origin
        Row 0 of `rows`.
    rows
        Ascending.
    most
        Entries that are unpacked at a time.

    Yields
    ------
    some
        Which of `rows`.
    indptr, indices
        Their adjacency, in which other rows are not defined.
    """
    if isinstance(indices, Packed):
        yield from indices.rows(indptr, origin, rows, most)
    else:
        yield slice(None), indptr, indices


def strips(indptr: NDArray, indices: Numbers) -> Iterator[tuple[int, NDArray, NDArray]]:
    """All rows of an adjacency: the number of the first, and the adjacency from there on."""
    if not isinstance(indices, Packed):
        yield 0, indptr, indices
        return
    rows = np.arange(len(indptr) - 1)
    for some, starts, out in indices.rows(indptr, 0, rows, AT_ONCE):
        yield some.start, starts[some.start : some.stop + 1], out


def chunks(numbers: Numbers) -> Iterator[NDArray]:
    """All numbers, or those that are unpacked at a time."""
    if isinstance(numbers, Packed):
        for first in range(0, numbers.count, AT_ONCE):
            yield numbers[first : first + AT_ONCE]
    else:
        yield numbers


def _whole_blocks(chunks: Iterable[NDArray], dtype: DTypeLike) -> Iterator[NDArray]:
    """The same numbers in chunks of whole blocks, but for the last one."""
    rest: NDArray = np.empty(0, dtype)
    for chunk in chunks:
        some = np.concatenate([rest, chunk], dtype=np.dtype(dtype)) if len(rest) else chunk
        whole = len(some) - len(some) % BLOCK
        if whole:
            yield some[:whole]
        rest = some[whole:]
    if len(rest):
        yield rest
