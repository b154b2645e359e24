"""Claims of the papers: `paper/claims/*.toml`. No heavy imports."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

PAPERS = {"imsuite": "IMSuite", "scalability": "Scalability", "scc": "X10 on the SCC"}
"""The papers, by the first part of a claim's id."""

FIELDS = ("id", "place", "kind", "check", "why")


@dataclass(frozen=True)
class Claim:
    """What a paper says in one place.

    Attributes
    ----------
    kind
        "setup", "number", "table", "formula", "finding" or "definition".
    check
        Name of the function that compares it with ours.
    why
        Why ours differs, where it does; of a claim that is not checked, why not. That of a claim on times
        is one only where the condition ``when`` among its data holds of the results.
    data
        All else that the file has, by name.
    """

    id: str
    place: str
    kind: str
    check: str
    why: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        return self.id.split(".")[0]

    @property
    def says(self) -> str:
        """The claim in a line."""
        data = self.data
        for name in ("says", "what", "formula", "title"):
            if name in data:
                return str(data[name])
        given = data.get("values") or data.get("fixed") or {"repeats": data.get("repeats")}
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in given.items())

    def table(self) -> dict[Any, dict[str, Any]]:
        """The rows of a table, by their first cell; a row's cells by column."""
        first, *rest = self.data["columns"]
        return {row[0]: dict(zip(rest, row[1:], strict=True)) for row in self.data["rows"] if first}


@cache
def claims() -> dict[str, Claim]:
    """All claims, by id, in the order of the papers."""
    found: dict[str, Claim] = {}
    for paper in PAPERS:
        for entry in read(text_of("claims", f"{paper}.toml")):
            if entry.id in found:
                raise ValueError(f"two claims have the id {entry.id!r}")
            found[entry.id] = entry
    return found


def text_of(*path: str) -> str:
    """The text of a file of `paper/`."""
    return files("dgsuite.studies.report").joinpath("paper", *path).read_text("utf-8")


def read(text: str) -> list[Claim]:
    """The claims of a file's text."""
    found = []
    for entry in tomllib.loads(text)["claim"]:
        fields = {name: entry.pop(name) for name in FIELDS if name in entry}
        found.append(Claim(**fields, data=entry))
    return found


def processor_of(claim: Claim) -> str:
    """Model of the processors of a paper's machine, such as "E5-2670", from the claim on that machine."""
    words = str(claim.data["fixed"]["processor"]).split()
    return next(word for word in words if any(map(str.isdigit, word)))


def setup_of(figure: int, study: str = "") -> Claim | None:
    """The claim that says what a figure of IMSuite, or a study beside it, is made with."""
    for claim in claims().values():
        if (claim.data.get("figure"), claim.data.get("study", "")) == (figure, study):
            return claim
    return None


def figure_of(claim: Claim) -> int:
    """The figure that a claim is about."""
    digits = claim.id.split(".fig")[1].split(".")[0]
    return int("".join(c for c in digits if c.isdigit()))
