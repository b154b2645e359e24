"""Independent sets that dominate, and colourings."""

from __future__ import annotations

from genval.report import Found
from genval.rules.base import Job, Outputs, collect, ends, first, occurs
from partition.cluster import Cluster


def mis(job: Job) -> list[Found]:
    """Maximal independent set: no two members are neighbours; every other node has a member as neighbour."""
    return job.each(_independent_and_dominating, name="in_mis")


def ds(job: Job) -> list[Found]:
    """Independent dominating set, which is the same as a maximal independent set."""
    return job.each(_independent_and_dominating, name="in_ds")


def _independent_and_dominating(c: Cluster, outputs: Outputs, name: str) -> Found:
    value = outputs[name]
    member = value != 0
    mine = member[c.ids]
    row, other = ends(c)
    members = member[other]
    near = occurs(c, row[members])
    stated = value[c.ids]
    return collect(
        c.ids,
        ("flag", mine & (stated != 1), lambda i: "0 or 1", lambda i: str(stated[i])),
        (
            "independence",
            mine & near,
            lambda i: "no neighbour in the set",
            lambda i: f"node {other[first(row, i, members)]}",
        ),
        (
            "domination",
            ~mine & ~near,
            lambda i: "itself or a neighbour in the set",
            lambda i: "neither",
        ),
    )


def vc(job: Job) -> list[Found]:
    """Colouring with three colours: the ends of every edge differ."""
    return job.each(_colouring)


def _colouring(c: Cluster, outputs: Outputs) -> Found:
    colour = outputs["colour"]
    mine = colour[c.ids]
    row, other = ends(c)
    same = colour[other] == mine[row]
    return collect(
        c.ids,
        ("colour", (mine < 0) | (mine > 2), lambda i: "0, 1 or 2", lambda i: str(mine[i])),
        (
            "neighbours",
            occurs(c, row[same]),
            lambda i: f"no neighbour of colour {mine[i]}",
            lambda i: f"node {other[first(row, i, same)]}",
        ),
    )
