"""Labels of nodes in files: a variable of objects is written as codes of a table.

The codes are indices of the table ``label_table``, -1 for None. An entry of the table is a label as JSON
(`dgsuite.partition.labels.labels.to_json`). Reading never evaluates the content of a file.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.partition.labels.columns import objects
from dgsuite.partition.labels.labels import from_json, to_json

TABLE = "label_table"
ENTRY = "label_table_entry"
"""Name of the table, and of its dimension."""

CODED = "label_coded"
"""Attribute of variables that hold codes."""

ATTRIBUTES = "label_attributes"
"""Attribute with those attributes of the dataset that are labels of such types, as one JSON object."""


def encoded(dataset: xr.Dataset) -> xr.Dataset:
    """Convert a dataset to one that a file can hold.

    Raises
    ------
    InputError
        A label is of a type that a file cannot hold.
    """
    odd = {name: value for name, value in dataset.attrs.items() if not _plain(value)}
    names = [name for name, variable in dataset.variables.items() if variable.dtype == object]
    if not names and not odd:
        return dataset
    table: dict[str, int] = {}
    changed = {}
    for name in names:
        variable = dataset.variables[name]
        texts = (None if v is None else json.dumps(to_json(v)) for v in variable.values.flat)
        codes = [-1 if text is None else table.setdefault(text, len(table)) for text in texts]
        shaped = np.array(codes, np.int64).reshape(variable.shape)
        changed[name] = xr.Variable(variable.dims, shaped, {**variable.attrs, CODED: 1})
    coords = {name: changed.pop(name) for name in names if name in dataset.coords}
    stored = dataset.drop_vars(names).assign_coords(coords).assign(changed)
    stored[TABLE] = xr.Variable(
        ENTRY, np.array(list(table), object), {"long_name": "labels, as JSON"}
    )
    for name in odd:
        del stored.attrs[name]
    stored.attrs[ATTRIBUTES] = json.dumps({name: to_json(value) for name, value in odd.items()})
    return stored


def decoded(dataset: xr.Dataset) -> xr.Dataset:
    """The inverse of `encoded`.

    Raises
    ------
    ValueError
        The table of labels, or a code, is invalid.
    """
    if TABLE not in dataset.variables:
        return dataset
    texts = dataset.variables[TABLE].values.tolist()
    table = objects([*(from_json(json.loads(text)) for text in texts), None])
    attrs = json.loads(dataset.attrs.get(ATTRIBUTES, "{}"))
    found = dataset.drop_vars(TABLE)
    del found.attrs[ATTRIBUTES]
    found.attrs |= {name: from_json(value) for name, value in attrs.items()}
    for name, variable in dataset.variables.items():
        if CODED in variable.attrs:
            kept = {key: value for key, value in variable.attrs.items() if key != CODED}
            entries = _entries(table, variable.values)
            labels = xr.Variable(variable.dims, entries, kept, fastpath=True)
            assign = found.assign_coords if name in found.coords else found.assign
            found = assign({name: labels})
    return found


def _entries(table: NDArray, codes: NDArray) -> NDArray:
    if codes.dtype.kind not in "iu" or (codes < -1).any() or (codes >= len(table) - 1).any():
        raise ValueError(f"a code is not one of the {len(table) - 1} entries of {TABLE!r}")
    return table[codes]


def _plain(value: Any) -> bool:
    """Whether a file can hold an attribute as it is."""
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, tuple | frozenset | bytes | uuid.UUID)
