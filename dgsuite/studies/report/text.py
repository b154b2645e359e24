"""The text of IMSuite's programs beside ours: where a static count of Figure 7 differs, by method."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dgsuite.studies.report.claims.data import text_of
from dgsuite.studies.statics.counting import parts

Places = Sequence[Mapping[str, Any]]
"""Where the published program has some, and which of our methods stand for these; see `paper/text.toml`."""


@cache
def texts() -> dict[tuple[str, str, str, str], Places]:
    """What is known of the published programs, by kernel, form, style and count."""
    return {
        (entry["kernel"], entry["form"], style, entry["count"]): entry["places"]
        for entry in tomllib.loads(text_of("text.toml"))["text"]
        for style in entry["styles"]
    }


def reason(kernel: str, form: str, style: str, count: str, printed: int) -> str:
    """Why our static count differs from print's; "" where the methods do not add up to both."""
    places = texts().get((kernel, form, style, count), ())
    mine = sum((Counter(place["ours"]) for place in places), Counter[str]())
    theirs = sum(place.get("printed", place.get("has", 1)) for place in places)
    if not places or theirs != printed or mine != _ours(kernel, form, style)[count]:
        return ""
    return f"{kernel.upper()}: {'; '.join(_said(place) for place in places if _differs(place))}."


@cache
def _ours(kernel: str, form: str, style: str) -> dict[str, dict[str, int]]:
    from dgsuite.kernels import KERNELS, RECURSIVE

    return parts({"iterative": KERNELS, "recursive": RECURSIVE}[form][kernel], style)


def _differs(place: Mapping[str, Any]) -> bool:
    has = place.get("has", 1)
    return bool(has != sum(place["ours"].values()) or place.get("printed", has) != has)


def _said(place: Mapping[str, Any]) -> str:
    """What a place has there and here."""
    has = place.get("has", 1)
    ours = ", ".join(f"{n} in {name}" for name, n in place["ours"].items()) or "none"
    told = f"the published program has {has} in {place['in']}"
    if sum(place["ours"].values()) != has:
        told += f", ours has {ours}"
    return told + ", which print leaves out" * (place.get("printed", has) != has)
