"""The result of a validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

LISTED = 20
"""Maximum number of violations that a report lists. It counts all of them."""


class Violation(NamedTuple):
    """A node that breaks a rule: its id and, if it has one, its label.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("bfs", graph)
    >>> ds.level[3] = 7
    >>> first = genval.validate("bfs", graph, ds).violations[0]
    >>> first.node, first.what, first.expected, first.found
    (2, 'edge', 'neighbours no farther than over this node', 'node 3 at distance 7')
    """

    what: str
    node: int
    expected: str
    found: str
    label: Any = None

    @property
    def name(self) -> str:
        """The node's id and, if it has one, its label."""
        return str(self.node) if self.label is None else f"{self.node} ({self.label!r})"

    def __str__(self) -> str:
        return f"node {self.name}: {self.what}: expected {self.expected}, found {self.found}"


@dataclass
class Report:
    """The outcome of a validation.

    Attributes
    ----------
    kernel
        The kernel whose output was checked.
    count
        Number of violations.
    violations
        The first violations, at most 20.
    labels
        Labels of the graph's nodes, or None.
    level
        "complete" if all was looked at that makes a result right. "necessary" if the graph is too large for
        that: then conditions that any right result meets were looked at, and values of some nodes.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> report = genval.validate("bfs", graph, dgsuite.run("bfs", graph))
    >>> report.ok, report.count, report.level, str(report)
    (True, 0, 'complete', 'bfs: valid')
    """

    kernel: str
    count: int = 0
    violations: list[Violation] = field(default_factory=list)
    labels: Sequence[Any] | None = field(default=None, repr=False)
    level: Literal["complete", "necessary"] = "complete"

    @property
    def ok(self) -> bool:
        """Whether nothing wrong was found; see `level` for how much was looked at."""
        return self.count == 0

    @property
    def verdict(self) -> str:
        """What was found, in a few words."""
        if self.ok:
            return "valid" if self.level == "complete" else "valid as far as was looked at"
        return f"{self.count:,} violations"

    def add(self, found: Found) -> None:
        """Add the violations found in a cluster."""
        self.count += found.total
        room = LISTED - len(self.violations)
        listed = found.first[:room]
        if self.labels is not None:
            listed = [v._replace(label=self.labels[v.node]) for v in listed]
        self.violations += listed

    def _repr_html_(self) -> str:
        from dgsuite.base import markup

        rows = [(v.name, v.what, v.expected, v.found) for v in self.violations]
        heads = ("node", "rule", "expected", "found") if rows else ()
        return markup.table(f"{self.kernel}: {self.verdict}", rows, heads)

    def __str__(self) -> str:
        if self.ok:
            return f"{self.kernel}: {self.verdict}"
        listed = "; ".join(map(str, self.violations[:3]))
        return f"{self.kernel}: {self.count} violations: {listed}"


class Found(NamedTuple):
    """Violations found in a cluster: their number, and the first of them."""

    total: int
    first: list[Violation]
