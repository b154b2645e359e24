"""Core numbers and dense sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, ends
from dgsuite.genval.rules.triangles import adjacency
from dgsuite.partition.clusters.cluster import Cluster


def core_number(job: Job) -> list[Found]:
    """A node with core number k has at least k neighbours with core numbers of k or more, so k is not too
    large. No set of nodes with number k has, for each of them, more than k neighbours in the set or with
    larger numbers, so k is not too small: taking off nodes with no more such neighbours than k leaves none.
    """
    core = job.outputs["core"]
    found = job.each(_supported)
    left = np.ones(job.n, bool)
    while left.any():
        off = np.concatenate(job.each(_free, left=left.copy()))
        if not len(off):
            break
        left[off] = False
    told = "at most {} neighbours in any set of nodes that have more"
    more = "a set where it has {} or more"
    texts = (lambda i: told.format(core[i])), (lambda i: more.format(core[i] + 1))
    return [*found, job.found(("peeling", left, *texts))]


def densest(job: Job) -> list[Found]:
    """The set is the densest, of equals the largest, of those that are left when again and again all nodes
    are taken off that have at most 1 + epsilon times the mean degree.
    """
    edges, slack = adjacency(job), 1 + Fraction(job.fact("epsilon", 0.1))
    found, left = job.outputs["densest"], np.ones(job.n, np.int64)
    right, best = left > 0, Fraction(-1)
    while left.any():
        degree = edges @ left
        mean = Fraction(int(degree @ left), int(left.sum()))
        if mean > best:
            best, right = mean, left > 0
        left[degree <= int(slack * mean)] = 0
    told = np.where(right, "to be in the set", "to be out of the set")
    return [job.found(("densest", found != right, told, found))]


def _supported(c: Cluster, outputs: Outputs) -> Found:
    core = outputs["core"]
    mine = core[c.ids]
    row, other = ends(c)
    count = np.bincount(row[core[other] >= mine[row]], minlength=c.size)
    told = "{} neighbours of that core number or more"
    few = (mine < 0) | (count < mine)
    return collect(c.ids, ("support", few, lambda i: told.format(mine[i]), count))


def _free(c: Cluster, outputs: Outputs, left: NDArray) -> NDArray:
    """Nodes that are left and have no more neighbours than their number, of larger ones or left of it."""
    core = outputs["core"]
    mine = core[c.ids]
    row, other = ends(c)
    holds = (core[other] > mine[row]) | ((core[other] == mine[row]) & left[other])
    count = np.bincount(row[holds], minlength=c.size)
    return c.ids[left[c.ids] & (count <= mine)]
