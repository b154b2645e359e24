"""Columns that users give, of whatever library, as arrays of the values that they hold."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, shown
from dgsuite.base.masked import unmasked

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST, LONGER = 256, 64
"""Text is stored as an array of strings, of which every entry takes as much as the longest, if none has more
characters than this, and none so many more than the mean."""


def column(values: Any, what: str, *, optional: bool = False) -> Any:
    """The values of a column as an array of their own dtype: no value becomes text.

    Parameters
    ----------
    values
        Of pandas (also nullable, categorical, sparse, or backed by Arrow), Arrow, Polars, NumPy, xarray or
        Dask; or a list, a tuple, a set, a range, or another iterable.
    what
        What the column is, as the subject of errors.
    optional
        Whether a row may have no value. The array is then of objects where one has none.

    Returns
    -------
    numpy.ndarray or pyarrow.Array or pyarrow.ChunkedArray
        Text of Arrow stays there: see `dgsuite.partition.labels.identifiers`.

    Raises
    ------
    InputError
        It is no column, or rows have no value: how many, and which is the first.
    """
    if hasattr(values, "dask"):
        values = values.compute()
    values = unmasked(values, what)
    found = _of_arrow(values, what, optional)
    if found is not None:
        return found if type(found).__module__.startswith("pyarrow") else _whole_decimals(found)
    if isinstance(values, str | bytes | Mapping) or not (
        isinstance(values, Iterable) or hasattr(values, "__array__")
    ):
        raise InputError(f"{what} must be a list, an array or a column, got {shown(values)}")
    array = _of_pandas(values, what, optional) if is_array(values) else of_list(values)
    if array.ndim == 0:
        raise InputError(f"{what} must be a list, an array or a column, got {shown(values)}")
    if not optional:
        check_missing(array, what)
    return _whole_decimals(array)


def numpy_column(values: Any, what: str, *, optional: bool = False) -> NDArray:
    """As `column`, with text as objects of NumPy."""
    found = column(values, what, optional=optional)
    return found if isinstance(found, np.ndarray) else objects(found.to_pylist())


def numbers(values: Any, what: str) -> NDArray:
    """A column of numbers that holds them exactly; float16, which SciPy does not have, becomes float32.

    Raises
    ------
    InputError
        As `column` says; or they are no numbers, or no dtype of 64 bits holds all of them.
    """
    listed = isinstance(values, list | tuple)
    found = column(as_array(values) if listed else values, what)
    if isinstance(found, np.ndarray):
        if found.dtype == np.float16:
            return found.astype(np.float32)
        if found.dtype == object and set(map(type, found)) == {Decimal}:
            return found.astype(np.float64)
        if found.dtype == object and not listed and as_array(found.tolist()).ndim == 1:
            return numbers(found.tolist(), what)
        if found.dtype.kind in "iuf" or not found.size:
            if listed and found.dtype.kind == "f" and found.ndim == 1:
                _check_exact(values, found, what)
            return found if found.dtype.kind in "iuf" else found.astype(np.float64)
    dtype = found.dtype if isinstance(found, np.ndarray) else "text"
    raise InputError(f"{what} must be numbers, got dtype {dtype}")


def as_ids(array: NDArray, what: str) -> NDArray:
    """An array of what can name nodes: times as objects, and floats as integers.

    A table has whole numbers as floats where some rows have no value.

    Raises
    ------
    InputError
        The values are no identifiers; or a float is no whole number, or may stand for another one.
    """
    floats = float | np.floating
    if array.dtype == object and all(issubclass(kind, floats) for kind in set(map(type, array))):
        array = array.astype(np.float64)
    if array.dtype.kind in "iuUOST" or not array.size:
        return array
    if array.dtype.kind == "M":
        import pandas as pd

        return objects(list(pd.DatetimeIndex(array.ravel())))
    if array.dtype.kind != "f":
        raise InputError(
            f"{what} must be integers, text or objects such as UUIDs, got dtype {array.dtype}"
        )
    exact = (abs(array) < 2.0 ** (np.finfo(array.dtype).nmant + 1)) & (array == np.floor(array))
    if not exact.all():
        at = int(np.argmin(exact))
        raise InputError(
            f"{what} must be integers, text or objects such as UUIDs, got dtype {array.dtype}: {array[at]} "
            f"in row {at} is no whole number below 2^53"
        )
    return array.astype(np.int64)


def _whole_decimals(array: NDArray) -> NDArray:
    """An array, of decimals without a fraction as integers."""
    if array.dtype != object or not array.size or not isinstance(array.flat[0], Decimal):
        return array
    if set(map(type, array)) != {Decimal} or any(value % 1 for value in array):
        return array
    found = of_list(map(int, array))
    return array if found.dtype == object else found


def _check_exact(values: Any, found: NDArray, what: str) -> None:
    for at in np.flatnonzero(abs(found) >= 2**53).tolist():
        if isinstance(values[at], int | np.integer) and int(found[at]) != int(values[at]):
            raise InputError(
                f"{what}: {values[at]} in row {at} does not fit float64, the common dtype of the list; make "
                f"all of them 64-bit integers, or all of them floats"
            )


def as_array(values: list[Any] | tuple[Any, ...]) -> NDArray:
    """The array that NumPy makes of a list; of lists of different lengths, an array of objects."""
    try:
        found = np.asarray(values)
    except (ValueError, OverflowError):
        return of_list(values)
    if found.dtype == np.float64 and found.ndim == 1 and (found >= 2.0**63).any():
        exact = of_list(values)  # of integers from there on and others NumPy makes floats
        return exact if exact.dtype == np.uint64 else found
    return found


def of_list(values: Iterable[Any]) -> NDArray:
    """Values as a one-dimensional array that keeps each value and its type.

    The array is int64, uint64 or of strings if all values are, otherwise of objects.
    """
    values = list(values)
    kinds = set(map(type, values))
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        least, most = min(values), max(values)
        if least >= -(2**63) and most < 2**63:
            return np.array(values, np.int64)
        if least >= 0 and most < 2**64:
            return np.array(values, np.uint64)
    lengths = [*map(len, values)] if kinds and kinds <= {str, np.str_} else []
    if lengths and fits(max(lengths), sum(lengths), len(lengths)):
        text = "".join(values)
        # NumPy drops trailing NULs, and files cannot hold lone surrogates
        if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in set(text)):
            return np.array(values, np.str_)
    return objects(values)


def fits(longest: int, total: int, count: int) -> bool:
    """Whether an array of strings has room for some texts and does not waste much."""
    return longest <= min(LONGEST, LONGER + total // max(count, 1))


def objects(values: Sequence[Any]) -> NDArray:
    """Values as objects, also such as NumPy would make rows of."""
    return np.fromiter(values, object, len(values))


def is_array(values: Any) -> bool:
    """Whether values are in an array or a column of some library, not in a list or the like."""
    names = "__array__", "dtype", "dask"
    return any(hasattr(values, name) for name in names) or offers_arrow(values)


def offers_arrow(values: Any) -> bool:
    """Whether something hands over a table, or a column, by Arrow's streams or the dataframe protocol.

    Those of pandas and Dask, which need no Arrow, are none.
    """
    if hasattr(values, "iloc") or hasattr(values, "dask"):
        return False
    offers = "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"
    return any(hasattr(values, name) for name in offers)


def _arrow(values: Any) -> Any | None:
    """What a column has in Arrow, without a copy; None if it is elsewhere."""
    if type(values).__module__.startswith("pyarrow"):
        return values if hasattr(values, "type") and hasattr(values, "null_count") else None
    dtype = getattr(values, "dtype", None)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        array = getattr(values, "array", values)
        return array.__arrow_array__() if hasattr(array, "__arrow_array__") else None
    if isinstance(dtype, np.dtype) or not offers_arrow(values) or hasattr(values, "columns"):
        return None
    import pyarrow as pa

    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    return pa.array(values) if hasattr(values, "__arrow_c_array__") else None


def _decoded(values: Any) -> pa.ChunkedArray | None:
    """A column of Arrow without dictionaries and views; None if it is none of Arrow."""
    found = _arrow(values)
    if found is None:
        return None
    import pyarrow as pa

    if isinstance(found, pa.Array):
        found = pa.chunked_array([found])
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    kind = found.type
    if not pa.types.is_dictionary(kind):
        return found.cast(plain[kind]) if kind in plain else found
    kind = plain.get(kind.value_type, kind.value_type)
    parts = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in found.chunks]
    return pa.chunked_array(parts, kind)


def _of_arrow(values: Any, what: str, optional: bool) -> Any | None:
    """A column of Arrow: text as it is there, else an array of NumPy. None if it is none of Arrow."""
    found = _decoded(values)
    if found is None:
        return None
    import pyarrow as pa

    if found.null_count:
        if optional:
            return objects(found.to_pylist())
        _check(np.asarray(found.is_null()), what)
    kind = found.type
    if kind in (pa.string(), pa.large_string()):
        return found
    of_numpy = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_duration
    if any(each(kind) for each in of_numpy):
        array = np.asarray(found)
    elif pa.types.is_timestamp(kind):
        array = np.asarray(found if kind.tz is None else found.to_pandas())
    else:
        array = objects(found.to_pylist())
    if not optional:
        check_missing(array, what)
    return array


def _of_pandas(values: Any, what: str, optional: bool) -> NDArray:
    """A column of pandas, or what makes an array of NumPy of itself."""
    pandas = sys.modules.get("pandas")
    dtype = getattr(values, "dtype", None)
    if pandas is None or not isinstance(dtype, pandas.api.extensions.ExtensionDtype):
        return np.asarray(values)
    if isinstance(dtype, pandas.CategoricalDtype):
        array = getattr(values, "array", values)
        if optional and (array.codes < 0).any():
            return np.asarray(values, object)
        _check(array.codes < 0, what)
        return numpy_column(array.categories.take(array.codes), what)
    if (plain := getattr(dtype, "numpy_dtype", None)) is not None:  # one that has a mask
        missing = np.asarray(values.isna())
        if optional and missing.any():
            return np.asarray(values.astype(object))
        _check(missing, what)
        return np.asarray(values.to_numpy(plain))
    return np.asarray(values)


def missing_in(values: Any) -> NDArray[np.bool_]:
    """Which rows of a column have no value. The column is as `column` says."""
    import pandas as pd

    if hasattr(values, "dask"):
        values = values.compute()
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | pd.isna(values.data)
    found = _decoded(values)
    if found is not None:
        return np.asarray(found.is_null(nan_is_null=True))
    return np.asarray(pd.isna(values if is_array(values) else of_list(values)))


def without(values: Any, rows: NDArray[np.bool_]) -> Any:
    """A column without some of its rows."""
    found = _decoded(values)
    if found is not None:
        return found.filter(~rows)
    if is_array(values):
        return values[~rows]
    return [value for value, gone in zip(values, rows.tolist(), strict=True) if not gone]


def check_missing(array: NDArray, what: str) -> None:
    """See that no value of an array is NaN, NaT, None or NA.

    Raises
    ------
    InputError
        It says how many are, and which is the first.
    """
    kind = array.dtype.kind
    if kind == "f":
        # the least is NaN where one is, and takes no memory
        if array.size and np.isnan(array.min()):
            _check(np.isnan(array), what)
    elif kind in "Mm":
        _check(np.isnat(array), what)
    elif kind == "O":
        import pandas as pd

        _check(pd.isna(array), what)


def _check(missing: NDArray[np.bool_], what: str) -> None:
    """Raise `InputError` where values are missing."""
    if not missing.any():
        return
    count, size, first = int(missing.sum()), missing.size, int(np.argmax(missing))
    _, of_table, name = what.partition("column ")
    remedy = f'dropna(subset=[{name}]), or here by missing="drop"' if of_table else "dropna()"
    raise InputError(
        f"{what}: {count} of {size} rows have no value, the first of them is row {first}; leave such rows "
        f"out first, in pandas and Dask by {remedy}"
    )
