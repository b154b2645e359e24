"""An adversary at a site: what it sees of the nodes there, and what it would strike of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.broadcasts import Broadcasts
from dgsuite.core.engine.program import Step
from dgsuite.kernels.bsp import Broadcast, Kernel, Known, Unicast, Vote
from dgsuite.partition.arrays.segments import expand, lend_all
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.studies.network.adversary import STATES, Attack, Reached, View


class Watch:
    """What an adversary sees at one site.

    After each turn of the program each cluster votes its best targets; `dgsuite.core.engine.program.steps`
    picks among those of all clusters, and the steps of the next turn say what is struck.

    Parameters
    ----------
    attack
        The adversary.
    kernel, clusters
        Those of the site.
    """

    def __init__(self, attack: Attack, kernel: Kernel, clusters: Sequence[Cluster]) -> None:
        self.attack = attack
        self.kernel = kernel
        self.clusters = clusters
        watched = clusters if attack.adversary.watches else ()
        self._sent = [c.zeros() for c in watched]  # messages of the round
        self._when = [c.zeros() for c in watched]  # phase of a node's last message, 0 if before
        self._phase = 0
        self._heard = np.zeros(clusters[0].n, bool)  # has sent before, of the nodes seen here
        self._one_by_one = [False] * len(clusters)  # whether nodes send otherwise than along edges
        self._mixed = False  # whether nodes of any cluster have, in phases that are over
        self._left = attack.adversary.budget
        self._round = -1

    def begin(self, step: Step) -> NDArray[np.int64]:
        """What is struck in the round of a phase: nodes, and neighbours or -1; shape (2, struck)."""
        self._phase += 1
        self._mixed = any(self._one_by_one)
        if step.round > self._round:
            self._round = step.round
            self._left -= len(step.strikes)
            for counts in (*self._sent, *self._when):
                counts[:] = 0
        return np.array(step.strikes, np.int64).reshape(-1, 2).T

    def after(
        self, step: Step, k: int, state: Any, sent: Sequence[Any], dead: NDArray[np.bool_]
    ) -> Vote:
        """The best targets of the site's k-th cluster, which has sent this in a phase, as a vote."""
        if self._left <= 0:
            return Vote()
        cluster, counts = self.clusters[k], self._sent[k]
        before = counts.copy()
        for item in sent:
            _count(cluster, item, counts)
            self._one_by_one[k] |= isinstance(item, Unicast) or (
                isinstance(item, Broadcast) and (item.backwards or not cluster.pulls)
            )
        self._when[k][counts > before] = self._phase
        if not step.last:
            return Vote()
        strong = self.attack.adversary.sees == STATES
        seen = copy(state) if strong else None
        if strong:
            lend_all(seen)
        kernel = self.kernel if strong else replace(self.kernel, seed=0)  # no coins to work out
        reach = partial(self._reached, k)
        view = View(cluster, step.round, counts.copy(), seen, kernel, reach)
        return Vote(targets=self.attack.targets(view, self.attack.adversary.each, dead))

    def hear(self, arriving: Broadcasts) -> None:
        """Note which nodes have sent what arrives at the site."""
        slots = np.flatnonzero(arriving.sent[: arriving.halo.slots])
        self._heard[arriving.halo.named(slots)] = True

    def _reached(self, k: int) -> Reached:
        """See `dgsuite.studies.network.adversary.View.reached`."""
        if self._mixed or self._one_by_one[k]:
            raise InputError(
                f"nodes that are reached are seen where nodes broadcast along edges, and those of kernel "
                f"{self.kernel.name!r} send otherwise, too"
            )
        cluster, rows = self.clusters[k], np.flatnonzero(self._when[k])
        at, entry = expand(cluster.indptr, rows)
        when = self._when[k][rows[at]]
        nodes, of = np.unique(cluster.indices[entry].astype(np.int64), return_inverse=True)
        latest = np.zeros(len(nodes), np.int64)
        np.maximum.at(latest, of, when)
        silent = ~self._heard[nodes]
        return nodes[silent], latest[silent]


def _count(cluster: Cluster, item: Any, counts: NDArray[np.int64]) -> None:
    """Count the messages of each node of a cluster."""
    if isinstance(item, Known) and item.node is not None:
        row = int(cluster.partition.position(np.array([item.node]))[0]) - cluster.first
        if 0 <= row < cluster.size:
            counts[row] += cluster.degree[row]
    elif isinstance(item, Broadcast):
        nodes = np.arange(cluster.size) if item.nodes is None else np.asarray(item.nodes)
        degree = cluster.degree if item.links is None else item.links.degree
        each = degree[nodes] if item.to is None else item.to[0]
        counts[nodes] += each if item.repeat is None else each * np.asarray(item.repeat)
    elif isinstance(item, Unicast):
        src = np.arange(cluster.size) if item.src is None else np.asarray(item.src)
        counts += np.bincount(src, minlength=cluster.size)
