"""Identifiers of nodes in arrays: integers in NumPy, text in Arrow, and other objects in NumPy.

Text in Arrow takes its bytes and an offset. As Python's strings it would take some sixty bytes more each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.labels.columns import fits, objects
from dgsuite.partition.labels.labels import Labels, exact_array

if TYPE_CHECKING:
    import pyarrow as pa

Values = Any
"""Identifiers: a NumPy array of 64-bit integers or objects, or text in an array or chunked array of Arrow."""

TEXT = "text"
"""Kind of text in Arrow; the kind of other identifiers is the name of NumPy's dtype."""

SAMPLE = 1 << 10
"""Distinct identifiers of a piece, at most, of which those are chosen that divide all of them."""


SURROGATE = re.compile("[\ud800-\udfff]")
"""What no text of Arrow has."""


class Facts(NamedTuple):
    """What is known of some identifiers.

    Attributes
    ----------
    kind
        `TEXT`, "int64", "uint64" or "object".
    size
        Their number.
    least, most
        Of integers, else 0.
    sample
        Some of them.
    """

    kind: str
    size: int
    least: int
    most: int
    sample: Values


def is_text(ids: Any) -> bool:
    """Whether identifiers are in Arrow."""
    return type(ids).__module__.startswith("pyarrow")


def of(ids: Any) -> Values:
    """Ends of edges, of a piece or as labels, as identifiers of one kind."""
    if is_text(ids):
        return ids
    if not len(ids):
        return np.empty(0, np.int64)
    if ids.dtype.kind in "iu":
        return ids.astype(np.uint64 if ids.dtype == np.uint64 else np.int64, copy=False)
    objects = ids.astype(object, copy=False)
    text = _text(objects)
    return objects if text is None else text


def _text(objects: NDArray) -> Values | None:
    """Python's strings in Arrow; None if they are not all text that Arrow can hold, or without pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        text = pa.array(objects, from_pandas=True)
    except (pa.ArrowException, UnicodeError, OverflowError):
        return None
    plain = isinstance(text, pa.ChunkedArray) or text.type == pa.string()
    return text if plain and not text.null_count else None


def kind_of(values: Values) -> str:
    """The kind of identifiers: see `Facts`."""
    return TEXT if is_text(values) else values.dtype.name


def facts(values: Values, sample: int = 0) -> Facts:
    """What is known of some identifiers, with a sample of at most so many; without any for 0."""
    count = len(values)
    numbers = count and kind_of(values) in ("int64", "uint64")
    least, most = (int(values.min()), int(values.max())) if numbers else (0, 0)
    some = np.linspace(0, count - 1, min(count, sample)).astype(np.int64)
    # a copy, since a slice of Arrow's would be sent with all that it is a slice of
    return Facts(kind_of(values), count, least, most, take(values, some) if sample else None)


def common(found: Sequence[Facts]) -> str:
    """The kind that all identifiers have, once `converted`."""
    some = [each for each in found if each.size] or found[:1]
    kinds = {each.kind for each in some}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"int64", "uint64"}:
        if max(each.most for each in some) < 2**63:
            return "int64"
        if min(each.least for each in some) >= 0:
            return "uint64"
    return "object"


def converted(values: Values, kind: str) -> Values:
    """Identifiers as those of another kind."""
    if kind == TEXT:
        import pyarrow as pa

        return values if len(values) else pa.array([], pa.large_string())
    if kind != "object":
        return values.astype(kind) if len(values) else np.empty(0, kind)
    return values if kind_of(values) == kind else objects(as_list(values))


def encode(arrays: Sequence[Values]) -> tuple[list[NDArray], Values]:
    """Number the distinct identifiers of some arrays of one kind.

    Returns
    -------
    codes
        For each array the number of each identifier, from 0; int32 where they fit.
    values
        The distinct identifiers, in no particular order.

    Raises
    ------
    InputError
        One is not hashable.
    """
    if is_text(arrays[0]):
        codes, values = _encode_text(arrays)
    else:
        together = np.concatenate(arrays)
        if together.dtype == object:
            import pandas as pd

            # older versions compare text only up to the first zero character, unless there is another object
            mixed = np.append(together, np.array([object()], object))
            try:
                codes, values = (found[:-1] for found in pd.factorize(mixed, use_na_sentinel=False))
            except TypeError as error:
                raise InputError(f"identifiers must be hashable: {error}") from None
        else:
            values, codes = np.unique(together, return_inverse=True)
        codes = codes.astype(np.int32) if len(values) < 2**31 else codes
    return np.split(codes, np.cumsum([len(array) for array in arrays])[:-1]), values


def _encode_text(arrays: Sequence[Values]) -> tuple[NDArray, Values]:
    import pyarrow as pa

    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    chunks = [chunk for array in arrays for chunk in getattr(array, "chunks", [array])]
    encoded = pa.chunked_array(chunks, arrays[0].type).dictionary_encode().combine_chunks()
    return encoded.indices.to_numpy(), encoded.dictionary.cast(pa.large_string())


def take(values: Values, at: NDArray) -> Values:
    """Some of the identifiers, by index."""
    if not is_text(values):
        return values[at]
    import pyarrow as pa

    return values.take(pa.array(at))


def order(values: Values) -> NDArray:
    """Indices that put distinct identifiers in ascending order; of text, by code points.

    Raises
    ------
    InputError
        Identifiers have no order.
    """
    if is_text(values):
        from pyarrow import compute

        return compute.sort_indices(values).to_numpy()
    if values.dtype != object:
        return np.argsort(values)
    listed = values.tolist()
    with _comparable(values):
        return np.array(sorted(range(len(listed)), key=listed.__getitem__), np.int64)


def check(values: Values, what: str) -> None:
    """See that no identifier is a float, which has an order but no exact text.

    Raises
    ------
    InputError
        One is.
    """
    if kind_of(values) != "object":
        return
    wrong = next((v for v in values.tolist() if isinstance(v, float | np.floating)), None)
    if wrong is not None:
        raise InputError(f"{what}: {wrong} is a float, which is not an identifier")


@contextmanager
def _comparable(values: NDArray) -> Iterator[None]:
    try:
        yield
    except TypeError:
        names = ", ".join(sorted({type(value).__name__ for value in values.tolist()}))
        raise InputError(
            f"identifiers must all be integers, all be text, or all be of one type that has an order, got "
            f"{names}; read={{'dtype': str}} reads those of a CSV file as text"
        ) from None


def merge(found: Sequence[Values]) -> tuple[Values, list[NDArray]]:
    """The distinct identifiers of several arrays of one kind, ascending, and the position of each one there.

    Raises
    ------
    InputError
        See `order`.
    """
    codes, values = encode(found)
    ascending = order(values)
    rank = np.empty(len(ascending), codes[0].dtype)
    rank[ascending] = np.arange(len(ascending))
    return take(values, ascending), [rank[each] for each in codes]


def splitters(found: Sequence[Facts], parts: int) -> Values:
    """Identifiers that divide all of them into about equally many in each part, ``parts - 1`` at most.

    Raises
    ------
    InputError
        See `order`.
    """
    kind = common(found)
    some, _ = merge([converted(each.sample, kind) for each in found])
    cuts = np.arange(1, parts) * len(some) // parts
    return take(some, np.unique(cuts))


def divide(values: Values, splitters: Values) -> list[NDArray]:
    """Which identifiers are in which part: their indices, in an array for each part.

    Part i has those from ``splitters[i - 1]`` on, and below ``splitters[i]``.
    """
    if is_text(values):
        part = _search_text(values, splitters)
    else:
        with _comparable(values):
            part = np.asarray(np.searchsorted(splitters, values, side="right"))
    return [np.flatnonzero(part == i) for i in range(len(splitters) + 1)]


def _search_text(values: pa.Array, splitters: pa.Array) -> NDArray:
    """`numpy.searchsorted` with ``side="right"``."""
    from pyarrow import compute

    low: NDArray = np.zeros(len(values), np.int64)
    high: NDArray = np.full(len(values), len(splitters))
    while (low < high).any():
        middle = (low + high) // 2
        open_ = low < high
        bounds = take(splitters, np.minimum(middle, len(splitters) - 1))
        above = compute.greater_equal(values, bounds).to_numpy(zero_copy_only=False)
        low = np.where(open_ & above, middle + 1, low)
        high = np.where(open_ & ~above, middle, high)
    return low


def nbytes(values: Values) -> int:
    """Bytes that identifiers take, of objects about."""
    return 64 * len(values) if kind_of(values) == "object" else int(values.nbytes)


def as_array(values: Values) -> NDArray:
    """Distinct identifiers as labels: the array that `exact_array` makes of them."""
    if not is_text(values):
        return exact_array(values) if values.dtype == object else values
    return to_numpy(values, _dtype(values))


def _dtype(texts: pa.Array) -> np.dtype:
    """The dtype of NumPy that holds text as it is: of strings, or else objects."""
    from pyarrow import compute

    lengths = compute.utf8_length(texts)
    longest, total = compute.max(lengths).as_py() or 0, compute.sum(lengths).as_py() or 0
    odd = compute.any(compute.match_substring(texts, "\0")).as_py()
    return np.dtype(
        f"U{max(longest, 1)}" if fits(longest, total, len(texts)) and not odd else object
    )


def dtype_of(values: Values) -> np.dtype:
    """The dtype of `as_array`, or one that holds more."""
    return _dtype(values) if is_text(values) else values.dtype


def to_numpy(values: Values, dtype: np.dtype) -> NDArray:
    """Identifiers as an array of a dtype that holds them."""
    if not is_text(values):
        return values.astype(dtype, copy=False)
    from pyarrow import compute

    longest = dtype.itemsize // 4
    if dtype.kind != "U" or not compute.all(compute.string_is_ascii(values)).as_py() or not longest:
        return objects(values.to_pylist()).astype(dtype)
    padded = compute.ascii_rpad(values, longest, padding="\0")
    start = 8 * padded.offset
    first = int(np.frombuffer(padded.buffers()[1], np.int64, 1, start)[0]) if len(padded) else 0
    content = np.frombuffer(padded.buffers()[2], np.uint8, longest * len(values), first)
    return content.view(f"S{longest}").astype(dtype)


def utf8(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Text in Arrow as its bytes, and where each one ends."""
    from pyarrow import compute

    if not len(texts):
        return np.empty(0, np.uint8), np.empty(0, np.int64)
    ends = np.cumsum(compute.binary_length(texts).to_numpy(), dtype=np.int64)
    _, offsets, content = texts.buffers()
    first = np.frombuffer(offsets, np.int64)[texts.offset]
    return np.frombuffer(content, np.uint8)[first : first + ends[-1]], ends


def of_utf8(content: NDArray[np.uint8], ends: NDArray[np.int64]) -> pa.Array:
    """The text that `utf8` made arrays of."""
    import pyarrow as pa

    offsets = np.concatenate([[0], ends]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


def as_list(values: Values) -> list[Any]:
    """Identifiers as Python's values."""
    found: list[Any] = values.to_pylist() if is_text(values) else values.tolist()
    return found


def find(values: Values, labels: NDArray) -> NDArray[np.int64]:
    """Where labels are among ascending identifiers; -1 for those that are not."""
    if not is_text(values):
        return Labels(values, len(values), ascending=True).nodes(labels, missing=True)
    import pyarrow as pa
    from pyarrow import compute

    texts = (label if isinstance(label, str) else None for label in labels.tolist())
    wanted = [None if text is None or SURROGATE.search(text) else text for text in texts]
    return compute.index_in(pa.array(wanted, values.type), values).fill_null(-1).to_numpy()
