"""Labels as NumPy arrays without pickled objects, and back."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import exact_array, from_json, to_json


def packed(labels: Values) -> dict[str, NDArray]:
    """Labels as arrays: text of Arrow as UTF-8 with the ends of each, objects as lines of JSON."""
    if identifiers.is_text(labels):
        return dict(zip(("labels_utf8", "labels_ends"), identifiers.utf8(labels), strict=True))
    if labels.dtype == object:
        text = "\n".join(json.dumps(to_json(label)) for label in labels)
        return {"labels_json": np.frombuffer(text.encode(), np.uint8)}
    return {"labels": labels}


def unpacked(arrays: dict[str, NDArray]) -> Values | None:
    """The labels that `packed` made arrays of; None if there are none."""
    if "labels_utf8" in arrays:
        return identifiers.of_utf8(arrays["labels_utf8"], arrays["labels_ends"])
    if "labels_json" in arrays:
        lines = arrays["labels_json"].tobytes().decode().split("\n")
        return exact_array([from_json(json.loads(line)) for line in lines])
    return arrays.get("labels")
