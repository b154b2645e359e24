"""Labels of nodes in files: what a dataset holds as objects is written as numbers of a table.

A variable of objects becomes one of integers, entries of the table ``label_table``, -1 for None; an entry
of the table is a label as JSON (`partition.labels.to_json`). Nothing that is read is ever evaluated.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from partition.labels import from_json, to_json

TABLE = "label_table"
ENTRY = "label_table_entry"
"""Name of the table, and of its dimension."""

CODED = "label_coded"
"""Attribute of variables that are numbers of the table."""

ATTRIBUTES = "label_attributes"
"""Attribute with the dataset's attributes that are such labels, as one JSON object."""


def encoded(dataset: xr.Dataset) -> xr.Dataset:
    """A dataset that a file can hold.

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
    known: dict[int, int] = {}
    changed = {}
    for name in names:
        variable = dataset.variables[name]
        codes = [_code(value, table, known) for value in variable.values.ravel().tolist()]
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
    """The dataset that `encoded` was given.

    Raises
    ------
    ValueError
        What should be labels is something else.
    """
    if TABLE not in dataset.variables:
        return dataset
    texts = dataset.variables[TABLE].values.tolist()
    table = np.empty(len(texts) + 1, object)
    for i, text in enumerate(texts):
        table[i] = from_json(json.loads(text))
    attrs = json.loads(dataset.attrs.get(ATTRIBUTES, "{}"))
    found = dataset.drop_vars(TABLE)
    del found.attrs[ATTRIBUTES]
    found.attrs |= {name: from_json(value) for name, value in attrs.items()}
    for name, variable in dataset.variables.items():
        if CODED in variable.attrs:
            kept = {key: value for key, value in variable.attrs.items() if key != CODED}
            labels = xr.Variable(
                variable.dims, _entries(table, variable.values), kept, fastpath=True
            )
            found = (
                found.assign_coords({name: labels})
                if name in found.coords
                else found.assign({name: labels})
            )
    return found


def _entries(table: NDArray, codes: NDArray) -> NDArray:
    if codes.dtype.kind not in "iu" or (codes < -1).any() or (codes >= len(table) - 1).any():
        raise ValueError(f"a number is not one of the {len(table) - 1} entries of {TABLE!r}")
    return table[codes]


def _code(value: Any, table: dict[str, int], known: dict[int, int]) -> int:
    """Number of a label in the table, with a new entry where it has none; known by its identity."""
    if value is None:
        return -1
    code = known.get(id(value))
    if code is None:
        code = known[id(value)] = table.setdefault(json.dumps(to_json(value)), len(table))
    return code


def _plain(value: Any) -> bool:
    """Whether a file takes an attribute as it is."""
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, tuple | frozenset | bytes | uuid.UUID)
