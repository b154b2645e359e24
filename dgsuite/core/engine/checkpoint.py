"""A run at one site with checkpoints: when they are due, what they hold, and going on from one.

At the end of a phase a checkpoint holds the log, and for each cluster the state, what the phase sent, and
what the site keeps of its nodes from phase to phase: what they broadcast last, and the least offers they
got. The votes of a phase tell all sites to write, so all write at the end of the same phase.

To go on, a site replays the program with the votes of the log, and sends the messages of the last phase once
more. So its inboxes are those of a run that nothing disturbed, however many sites there were before.

What is read must be that of as many phases and clusters, and what a state declares must have the dtype and
the length that it has at first. What a kernel makes of other values is its own: a checkpoint from a stranger
may still give wrong results.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from time import monotonic
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.checkpoint_files import DUE, KIND, Checkpoints, Found, write_log
from dgsuite.core.engine.message_type import MessageBatch
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.registry import BY_SENT
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.values import Classes, Reader, Writer
from dgsuite.kernels.bsp import Broadcast, Vote, broadcast
from dgsuite.kernels.bsp.state import INITIAL, LIST
from dgsuite.partition.clusters.cluster import Cluster, Links
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.store import archives, checking
from dgsuite.partition.store.checking import refuse

AGAIN = Step(0, "resume", False, 0)
"""Stands for the phase whose messages are sent once more."""

WAYS = {"broadcasts": False, "backwards": True}
"""Broadcasts along edges and against them: their names in the file, and their directions."""


def marked(vote: Vote) -> Vote:
    """A vote that tells all sites to write a checkpoint after this phase."""
    return vote._replace(given=vote.given | DUE)


def is_marked(vote: Vote) -> bool:
    """Whether a site told the others to."""
    return bool(vote.given & DUE)


class Kept:
    """A run at one site that writes checkpoints, and goes on from one if there is one.

    Parameters
    ----------
    plan
        The folder.
    site
        Its clusters get their state from the checkpoint.

    Attributes
    ----------
    votes
        Of the phases that were over before: with them the program is replayed.
    sends
        What the site sends once more before it goes on, one exchange after the other, as if phases had
        returned it. All sites send as often.

    Raises
    ------
    InputError
        The folder is not that of the run, or the checkpoint is of another graph.
    """

    def __init__(self, plan: Checkpoints, site: Site) -> None:
        plan.check_owner()
        site.keeps = True
        self.plan = plan
        self.site = site
        self.votes: list[Vote] = []
        self.sends: list[list[Any]] = []
        self._offers: dict[str, list[Any]] = {}
        self._written: deque[list[str]] = deque()
        if plan.found is not None:
            self._go_on(plan.found)
        self._restart()

    def _restart(self) -> None:
        """The time to the next checkpoint begins."""
        self._since = self.site.log.rounds if type(self.plan.every) is int else monotonic()

    @cached_property
    def _graph(self) -> list[list[int]]:
        """Checksums of the clusters: of their adjacency and node ids."""
        arrays = ((*c.edge_arrays, c.ids) for c in self.site.clusters)
        return [[crc32(np.ascontiguousarray(a).data) for a in some if a.size] for some in arrays]

    def _go_on(self, found: Found) -> None:
        """Read what the site goes on from."""
        site, folder, first = self.site, self.plan.folder, self.site.clusters[0].index
        last = first + len(site.clusters)
        by_cluster: dict[int, dict[str, NDArray]] = defaultdict(dict)
        with checking.sound(folder):
            for begin, end, states, _ in found.sites:
                if begin < last and first < end:
                    for name, array in archives.read(folder, states).items():
                        index, _, rest = name.partition(".")
                        by_cluster[int(index)][rest] = array
            contents = [self._content(k, by_cluster) for k in range(len(site.clusters))]
            for way in WAYS:
                self._offers[way] = [content[way]["offers"] for content in contents]
                values = [content[way]["values"] for content in contents]
                self.sends.append(_last(values, site, way))
            self.sends.append([tuple(content["sent"]) for content in contents])
            whole = self.plan.past()
            self.votes = whole.votes
            site.log = whole.part(slice(first, last))

    def _content(self, k: int, by_cluster: Mapping[int, Mapping[str, NDArray]]) -> dict[str, Any]:
        """What a checkpoint holds of the site's k-th cluster, which gets its state."""
        site, cluster = self.site, self.site.clusters[k]
        content: dict[str, Any] = Reader(self._classes).read(by_cluster[cluster.index])
        if content["graph"] != self._graph[k]:
            raise InputError(
                f"kernel {site.kernel.name!r}, cluster {cluster.index}: the checkpoint is of a graph with "
                f"other edges, weights or identifiers"
            )
        outputs = [name for name, output in site.kernel.outputs.items() if not output.tabular]
        site.states[k] = state_of(content["state"], site.states[k], cluster, outputs)
        return content

    @property
    def _classes(self) -> Classes:
        """Those of objects in the files."""
        return Classes(self.site.kernel, self.site.states)

    def resent(self, number: int) -> dict[int, MessageBatch]:
        """Send once more what the site sends in one of the exchanges before it goes on."""
        site = self.site
        with checking.sound(self.plan.folder):
            while self._offers:  # not before it is known where broadcasts are stored
                way, each = self._offers.popitem()
                for k, offers in enumerate(each):
                    if offers is not None:
                        site.mailbox.along(WAYS[way]).offers.restore(_rows(site, k), *offers)
            return site.send(AGAIN, self.sends[number])

    def due(self, step: Step) -> bool:
        """Whether the other sites are to be told to write a checkpoint after a phase."""
        every = self.plan.every
        if self.site.me:  # one decides for all
            return False
        if type(every) is int:
            return step.last and step.round + 1 - self._since >= every
        return monotonic() - self._since >= every

    def write(self) -> None:
        """Write a checkpoint of the site after the last phase of its log."""
        plan, me = self.plan, self.site.me
        plan.check_owner()
        head = f"phase-{len(self.site.log):08}-{plan.attempt}"
        entries = {
            "states": archives.write(plan.folder, f"{head}-states-{me:04}.npz", self._held()),
            "log": write_log(plan.folder, f"{head}-log-{me:04}.npz", self.site.log),
        }
        indices = [cluster.index for cluster in self.site.clusters]
        facts = {
            "run": plan.facts,
            "offsets": plan.offsets,
            "clusters": (indices[0], indices[-1] + 1),
            **entries,
        }
        name = f"{head}-site-{me:04}-of-{len(self.site.bounds) - 1:04}.json"
        archives.write_list(plan.folder, name, KIND, facts)
        self._written.append([name, *(entry["file"] for entry in entries.values())])
        self._clear()
        self._restart()

    def _held(self) -> dict[str, NDArray]:
        """What a checkpoint holds of the site's clusters, as arrays for a file.

        Raises
        ------
        InputError
            A state, or a message, holds something that a file cannot hold.
        """
        site, found = self.site, dict[str, NDArray]()
        for k, cluster in enumerate(site.clusters):
            returned = site.returned[k] if site.returned else None
            items = returned if type(returned) is tuple else (returned,)
            content = {
                "graph": self._graph[k],
                "state": site.states[k],
                "sent": [_again(item) for item in items if type(item) in BY_SENT],
                **{way: _kept(site, k, way) for way in WAYS},
            }
            try:
                arrays = Writer(self._classes).write(content)
            except InputError as error:
                raise InputError(
                    f"kernel {site.kernel.name!r}, cluster {cluster.index}: no checkpoint can hold this: "
                    f"{error}"
                ) from None
            found.update((f"{cluster.index}.{name}", array) for name, array in arrays.items())
        return found

    def _clear(self) -> None:
        """Remove what is older than the last two.

        All sites have written a checkpoint when one writes the next, as they exchange messages between.
        """
        if len(self._written) < 2:
            return
        self.plan.check_owner()  # what is older may be what another try goes on from
        if len(self._written) == 2 and self.site.me == 0:
            self.plan.remove(besides=self.plan.attempt)
        if len(self._written) > 2:
            files, inner = archives.opened(self.plan.folder)
            for name in self._written.popleft():
                files.rm_file(f"{inner}/{name}")


def begun(plan: Checkpoints | None, site: Site) -> Kept | None:
    """The checkpoints of a run at one site, if there is a plan."""
    return None if plan is None else Kept(plan, site)


def _again(item: Any) -> Any:
    """A message without what is needed to count it alone."""
    if type(item) is Broadcast:
        return item._replace(links=None, repeat=None, to=None, edges=None)
    return item


def _rows(site: Site, k: int) -> slice:
    """The rows of the site's k-th cluster."""
    return slice(site.mailbox.starts[k], site.mailbox.starts[k + 1])


def _kept(site: Site, k: int, way: str) -> dict[str, Any]:
    """What a site keeps between phases of a cluster's nodes: their last broadcasts, and the least offers."""
    store, rows = site.mailbox.stores.get(WAYS[way]), _rows(site, k)
    if store is None:
        return {"values": {}, "offers": None}
    first = store.halo.first
    latest = store.window.latest.slots.items()
    slots = {name: v[first + rows.start : first + rows.stop] for name, v in latest}
    offers = vars(store).get("offers")
    return {
        "values": {name: values for name, values in slots.items() if values.any()},
        "offers": None if offers is None else (offers.least(rows), offers.source[rows]),
    }


def _last(values: Sequence[Mapping[str, NDArray]], site: Site, way: str) -> list[Any]:
    """Broadcasts of what each node of a site's clusters broadcast last; 0 where it sent none."""
    names = dict.fromkeys(name for each in values for name in each)
    if not names:
        return [None] * len(values)
    sends = []
    for each, cluster in zip(values, site.clusters, strict=True):
        held: dict[str, Any] = {
            name: each.get(name, np.zeros(cluster.size, site.mailbox.dtypes[name]))
            for name in names
        }
        sends.append(broadcast(backwards=WAYS[way], **held))
    return sends


def state_of(found: Any, first: Any, cluster: Cluster, outputs: Collection[str] = ()) -> Any:
    """The state of a cluster, once it is like that with which a run begins.

    Parameters
    ----------
    outputs
        Fields that have a value for each node.

    Raises
    ------
    ValueError
        It is of another class, or a field that it declares has another dtype or length, or names nodes that
        the cluster does not have.
    """
    refuse(type(found) is not type(first), f"a state must be a {type(first).__name__}")
    held, before = vars(found), vars(first)
    for name in before:
        refuse(name not in held, f"the state has no {name!r}")
    declared: Mapping[str, Any] = (
        {f.name: f.metadata for f in fields(first)} if is_dataclass(first) else {}
    )
    for name, value in held.items():
        begins, how = before.get(name), declared.get(name, {})
        if how.get(LIST):
            right = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"
            right = right and bool(((value >= 0) & (value < cluster.size)).all())
            refuse(not right, f"{name} must be nodes from 0 to {cluster.size - 1}")
        elif LIST in how:
            right = isinstance(value, np.ndarray) and value.ndim == begins.ndim
            right = right and value.dtype.kind == begins.dtype.kind
            refuse(
                not right,
                f"{name} must have {begins.ndim} dimensions and a dtype like {begins.dtype}",
            )
        elif isinstance(begins, np.ndarray) and (INITIAL in how or name in outputs):
            refuse(
                not _is_array(value, begins.dtype, begins.shape),
                f"{name} must have dtype {begins.dtype} and shape {begins.shape}",
            )
        elif isinstance(begins, Subset):
            right = isinstance(value, Subset) and value.size == begins.size
            refuse(not right, f"{name} must be a mask of {begins.size} nodes")
        if isinstance(value, Links):
            _check_links(value, cluster, name)
    return found


def _check_links(found: Links, cluster: Cluster, what: str) -> None:
    """See that live links are of this cluster."""
    size, entries = cluster.size, len(cluster.indices)
    for values in (found.degree, found.remote):
        right = _is_array(values, np.int32, (size,))
        refuse(not right, f"{what} must count {size} nodes in int32")
    right = found.gone is None or _is_array(found.gone, bool, (entries,))
    refuse(found._entries != entries or not right, f"{what} must be of {entries} edges")


def _is_array(value: Any, dtype: DTypeLike, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and (value.dtype, value.shape) == (dtype, shape)
