"""What a validator found."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

LISTED = 20
"""Violations that a report lists; it counts all."""


class Violation(NamedTuple):
    """One node that breaks a rule."""

    what: str
    node: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"node {self.node}: {self.what}: expected {self.expected}, found {self.found}"


@dataclass
class Report:
    """The outcome of a validation.

    Attributes
    ----------
    kernel
        Which rules were checked.
    count
        How many violations there are.
    violations
        The first of them.
    """

    kernel: str
    count: int = 0
    violations: list[Violation] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the output is right."""
        return self.count == 0

    def add(self, found: Found) -> None:
        """Take in what was found in a cluster."""
        self.count += found.total
        room = LISTED - len(self.violations)
        self.violations += found.first[:room]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{v.node}</td><td>{escape(v.what)}</td><td>{escape(v.expected)}</td>"
            f"<td>{escape(v.found)}</td></tr>"
            for v in self.violations
        )
        heads = "<tr><th>node</th><th>rule</th><th>expected</th><th>found</th></tr>" if rows else ""
        what = "valid" if self.ok else f"{self.count:,} violations"
        return f"<table><caption>{escape(self.kernel)}: {what}</caption>{heads}{rows}</table>"

    def __str__(self) -> str:
        if self.ok:
            return f"{self.kernel}: valid"
        listed = "; ".join(map(str, self.violations[:3]))
        return f"{self.kernel}: {self.count} violations: {listed}"


class Found(NamedTuple):
    """Violations of some nodes: how many, and the first."""

    total: int
    first: list[Violation]
