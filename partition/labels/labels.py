"""Labels: names of a graph's nodes besides their ids, and their conversion to JSON."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, hint, shown
from dgsuite.partition.labels.columns import check_missing, is_array, numpy_column, objects, of_list

if TYPE_CHECKING:
    import pandas as pd

HINTED = 10_000
"""With more labels, errors do not suggest one that is similar to a wrong one."""


class Labels(Sequence[Any]):
    """Names of a graph's nodes, in the order of node ids: distinct values of any hashable type.

    Parameters
    ----------
    values
        One label per node.
    n
        Number of nodes.
    ascending
        Whether the labels are known to be distinct and ascending.

    Attributes
    ----------
    array
        Shape (n,): 64-bit integers or strings if all labels are, else objects.
    none
        The value that means "no node" among labels: -1 if all labels are integers from 0 to 2^63 - 1, "" if
        all are text and none is empty, otherwise None.
    ascending
        Whether they are known to be ascending.

    Raises
    ------
    InputError
        The number of labels is not `n`; a label is None, is not hashable, or occurs twice.
    """

    def __init__(self, values: Iterable[Hashable], n: int, *, ascending: bool = False) -> None:
        self.array = exact_array(values)
        self.ascending = ascending
        if len(self.array) != n:
            raise InputError(f"{len(self.array)} labels for {n} nodes")
        if not ascending:
            self._check()
        self.none: int | str | None = self._none()

    @property
    def example(self) -> Any:
        """The label of node 0."""
        return self[0]

    def here(self) -> Labels:
        """The labels in this process; `dgsuite.partition.labels.held_labels` has those that are elsewhere."""
        return self

    def among(self, nodes: NDArray) -> Labels:
        """The labels of some nodes, which ascend, as labels of a graph of these nodes alone."""
        return Labels(self.array[nodes], len(nodes), ascending=self.ascending)

    def extended(self, more: NDArray) -> Labels:
        """These labels, and after them others, distinct and ascending, none of which is among them."""
        return Labels(np.concatenate([self.array, more]), len(self) + len(more))

    def _none(self) -> int | str | None:
        kind = self.array.dtype.kind
        if kind == "U":
            return None if (self.array == "").any() else ""
        return -1 if kind in "iu" and self.array.min() >= 0 and self.array.max() < 2**63 else None

    def _check(self) -> None:
        if self.array.dtype == object:
            check_missing(self.array, "labels")
            seen: set[Hashable] = set()
            for label in self.array:
                try:
                    known = label in seen
                except TypeError:
                    raise InputError(f"label {label!r} is not hashable") from None
                if known:
                    raise InputError(f"two nodes have the same label {label!r}")
                seen.add(label)
        elif not self._index.is_unique:
            twice = np.sort(self.array[self._index.duplicated()])
            raise InputError(f"two nodes have the same label {twice[0].item()!r}")

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, node: Any) -> Any:
        found = self.array[node]
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.tolist())

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Sequence | np.ndarray)
            and len(other) == len(self)
            and list(self) == list(other)
        )

    def __repr__(self) -> str:
        return f"Labels({self.array!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Without the index, which would be a second copy of the labels."""
        return {name: value for name, value in vars(self).items() if name != "_index"}

    @cached_property
    def _index(self) -> pd.Index:
        """The labels by hash."""
        import pandas as pd

        return pd.Index(self.array)

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {label: i for i, label in enumerate(self.array.tolist())}

    def _number(self, label: Any) -> int:
        """Id of the node with a label, or -1. True is not the label 1 where all labels are integers."""
        if isinstance(label, bool) and self.array.dtype != object:
            return -1
        try:
            return self._numbers.get(label, -1)
        except TypeError:
            return -1

    def node(self, label: Any) -> int:
        """Id of the node with a label.

        Raises
        ------
        InputError
            No node has this label.
        """
        if getattr(label, "ndim", None) == 0 and hasattr(label, "item"):
            label = label.item()  # a scalar of NumPy or xarray
        found = int(self._search(exact_array([label]))[0])
        if found < 0:
            raise InputError(f"{shown(label)} is not a node; {self._near(label)}")
        return found

    def _near(self, label: Any) -> str:
        close = ""
        if isinstance(label, str) and len(self) <= HINTED:
            close = hint(label, [text for text in self if isinstance(text, str)])
        some = ", ".join(map(repr, self[:3].tolist()))
        return f"{close}Nodes have labels, such as {some}"

    def nodes(self, labels: Any, *, missing: bool = False) -> NDArray[np.int64]:
        """Ids of the nodes with the given labels.

        Parameters
        ----------
        labels
            An array of any shape, or a list, a tuple, a set.
        missing
            Return -1 for values that are not labels, instead of raising an error.

        Raises
        ------
        InputError
            A value is not a label.
        """
        if not isinstance(labels, np.ndarray):
            labels = exact_array(labels)
        found = self._search(labels)
        if not missing and (found < 0).any():
            self.node(labels.flat[int(np.argmin(found))])
        return found

    def _search(self, labels: NDArray) -> NDArray[np.int64]:
        kind = self.array.dtype.kind
        if kind == "O" or labels.dtype.kind not in "iuU":
            each = [self._number(label) for label in labels.ravel().tolist()]
            return np.array(each, np.int64).reshape(labels.shape)
        if (kind == "U") != (labels.dtype.kind == "U"):
            return np.full(labels.shape, -1)
        wanted = labels
        if kind == "u" and labels.dtype.kind == "i":
            wanted = np.maximum(labels, 0).astype(np.uint64)
        elif kind == "i" and labels.dtype == np.uint64:
            wanted = np.minimum(labels, 2**63 - 1).astype(np.int64)
        if self.ascending:
            found = np.minimum(np.searchsorted(self.array, wanted), len(self) - 1)
        else:
            found = self._index.get_indexer(wanted.ravel()).reshape(labels.shape)
        return np.where((found >= 0) & (self.array[found] == labels), found, -1)

    @cached_property
    def _table(self) -> NDArray:
        """Labels followed by `none`, so that index -1 gives "no node"."""
        if self.none is not None:
            return np.append(self.array, np.array([self.none]))
        return objects([*self, None])

    @property
    def dtype(self) -> np.dtype:
        """Dtype of labels and `none` together."""
        return self._table.dtype

    def of(self, nodes: NDArray) -> NDArray:
        """Labels of the given nodes, an array of any shape; -1 becomes `none`."""
        return self._table[nodes]


def alike(labels: Labels, more: NDArray) -> NDArray:
    """New labels as an array of the kind that a graph's labels have.

    Raises
    ------
    InputError
        They are of another kind.
    """
    kind = labels[:1].dtype.kind
    if kind == more.dtype.kind:
        return more
    if kind == "U" and more.dtype == object and set(map(type, more.tolist())) == {str}:
        return more  # text that NumPy does not hold as it is
    if {kind, more.dtype.kind} == {"i", "u"}:
        dtype = np.int64 if kind == "i" else np.uint64
        if (more.astype(dtype) == more).all() and not (more < 0).any():
            return more.astype(dtype)
    if kind == "O":
        return more.astype(object)
    names = {"i": "integers", "u": "integers from 0 to 2^64 - 1", "U": "text", "O": "objects"}
    raise InputError(
        f"the graph's labels are {names[kind]}, such as {labels[0]!r}, so {shown(more[0])} cannot be one"
    )


def exact_array(values: Iterable[Any], what: str = "labels") -> NDArray:
    """Values as a one-dimensional array that keeps each value and its type.

    The array is int64, uint64 or of strings if all values are, otherwise of objects.

    Parameters
    ----------
    values
        See `dgsuite.partition.labels.columns.column`. None is kept.

    Raises
    ------
    InputError
        They are no column.
    """
    if hasattr(values, "__len__") and not is_array(values) and not isinstance(values, str | bytes):
        return of_list(values)
    given = numpy_column(values, what, optional=True)
    if given.ndim == 1 and given.dtype.kind in "iuU":
        return given.astype(np.int64) if given.dtype.kind == "i" else given
    return of_list(list(given) if given.dtype.kind == "M" else given.tolist())


def to_json(label: Any) -> Any:
    """Convert a label to a JSON value.

    Text, integers, finite floats, booleans and None stay as they are. Other types become an object whose
    key is the type: "tuple", "frozenset", "float", "bytes" or "uuid".

    Raises
    ------
    InputError
        The label has another type.
    """
    value = label.item() if isinstance(label, np.generic) else label
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    for name, (of, encoded, _) in _FORMS.items():
        if kind is of:
            return {name: encoded(value)}
    raise InputError(
        f"label {label!r} is of type {kind.__name__}, which a file cannot hold; it can hold text, numbers, "
        f"bytes, UUIDs, and tuples and frozensets of these: relabel the nodes, or remove the labels with "
        f'ds.drop_vars("node")'
    )


def _sorted(items: frozenset[Any]) -> list[Any]:
    return sorted(map(to_json, items), key=json.dumps)


_FORMS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, repr, float),
    "tuple": (
        tuple,
        lambda items: [*map(to_json, items)],
        lambda some: tuple(map(from_json, some)),
    ),
    "frozenset": (frozenset, _sorted, lambda some: frozenset(map(from_json, some))),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "uuid": (uuid.UUID, str, uuid.UUID),
}
"""Labels that JSON does not have, by name: their type, what is written, and what is read of that."""


def from_json(value: Any) -> Any:
    """The label that `to_json` converted to a JSON value.

    Raises
    ------
    ValueError
        The value is not a result of `to_json`.
    """
    if isinstance(value, list):
        raise ValueError(f"a list is not a label: {value}")
    if not isinstance(value, dict):
        return value
    try:
        ((kind, content),) = value.items()
        return _FORMS[kind][2](content)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a label: {value}") from error
