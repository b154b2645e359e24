"""Labels as NumPy arrays without pickled objects, and back."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import exact_array, from_json, to_json
from dgsuite.partition.store import checking


def packed(labels: Values) -> dict[str, NDArray]:
    """Labels as arrays: text of Arrow as UTF-8 with the ends of each, objects as lines of JSON."""
    if identifiers.is_text(labels):
        return dict(zip(("labels_utf8", "labels_ends"), identifiers.utf8(labels), strict=True))
    if labels.dtype == object:
        text = "\n".join(json.dumps(to_json(label)) for label in labels)
        return {"labels_json": np.frombuffer(text.encode(), np.uint8)}
    return {"labels": labels}


def unpacked(arrays: Mapping[str, NDArray], path: str, ascending: bool = False) -> Values | None:
    """The labels that `packed` made arrays of; None if there are none.

    Parameters
    ----------
    path
        The file of the arrays.
    ascending
        Whether they must ascend.

    Raises
    ------
    InputError
        They are no labels.
    """
    with checking.sound(path):
        found = _unpacked(arrays)
        if ascending and found is not None:
            checking.ascending(found)
        return found


def _unpacked(arrays: Mapping[str, NDArray]) -> Values | None:
    if "labels_utf8" in arrays:
        content = checking.needed(arrays, "labels_utf8", ["u1"])
        ends = checking.needed(arrays, "labels_ends", ["i8"])
        checking.pointer(np.append(0, ends), len(content), "labels_ends")
        text = identifiers.of_utf8(content, ends)
        text.validate(full=True)
        return text
    if "labels_json" in arrays:
        lines = checking.needed(arrays, "labels_json", ["u1"]).tobytes().decode().split("\n")
        return exact_array([from_json(json.loads(line)) for line in lines])
    labels = arrays.get("labels")
    if labels is not None:
        kinds = [f"U{labels.dtype.itemsize}"] if labels.dtype.kind == "U" else ["i8", "u8"]
        checking.needed(arrays, "labels", kinds)
        points = labels.view(np.uint32) if labels.dtype.kind == "U" else np.empty(0, np.uint32)
        checking.refuse(
            points.max(initial=0) > sys.maxunicode or ((points >> 11) == 0x1B).any(),
            "labels have characters that there are not",
        )
    return labels
