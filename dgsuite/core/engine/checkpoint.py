"""A checkpoint: what a run goes on from, on sites of any number.

At the end of a phase it holds the log, and for each cluster the state, what the phase sent, and what the site
keeps of its nodes from phase to phase: what they broadcast last, and the least offers they got.

To go on, a site replays the program with the votes of the log, and sends the messages of the last phase once
more. So its inboxes are those of a run that nothing disturbed, however many sites there were before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine import forged
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.registry import BY_SENT
from dgsuite.core.engine.site import Site
from dgsuite.core.engine.values import Classes, Reader, Writer
from dgsuite.kernels.bsp import Broadcast, broadcast

AGAIN = Step(0, "resume", False, 0)
"""Stands for the phase whose messages are sent once more."""

WAYS = ("broadcasts", "backwards")
"""Where a mailbox keeps broadcasts, along edges and against them, once there were any."""


def held(site: Site, graph: Sequence[Sequence[int]]) -> dict[str, NDArray]:
    """What a checkpoint holds of a site's clusters, as arrays for a file.

    Parameters
    ----------
    graph
        Checksums of each cluster: `checks.digest`.

    Raises
    ------
    InputError
        A state, or a message, holds something that a file cannot hold.
    """
    found: dict[str, NDArray] = {}
    classes = Classes(site.kernel, site.states)
    for k, cluster in enumerate(site.clusters):
        content = {
            "graph": graph[k],
            "state": site.states[k],
            "sent": [_again(item) for item in _returned(site, k) if type(item) in BY_SENT],
            **{way: _kept(site, k, way) for way in WAYS},
        }
        try:
            arrays = Writer(classes, cluster).write(content)
        except InputError as error:
            raise InputError(
                f"kernel {site.kernel.name!r}, cluster {cluster.index}: no checkpoint can hold this: {error}"
            ) from None
        found.update((f"{cluster.index}.{name}", array) for name, array in arrays.items())
    return found


def restore(
    site: Site, arrays: Mapping[str, NDArray], graph: Sequence[Sequence[int]]
) -> list[list[Any]]:
    """Give a site's clusters what a checkpoint holds of them.

    Parameters
    ----------
    arrays
        Those of `held`, of all its clusters or more.
    graph
        As for `held`.

    Returns
    -------
    What the clusters send, one exchange after the other, as if phases had returned it. All sites send as
    often.

    Raises
    ------
    InputError
        The checkpoint is of another graph.
    """
    classes = Classes(site.kernel, site.states)
    by_cluster: dict[int, dict[str, NDArray]] = defaultdict(dict)
    for name, array in arrays.items():
        index, _, rest = name.partition(".")
        by_cluster[int(index)][rest] = array
    outputs = [name for name, output in site.kernel.outputs.items() if not output.tabular]
    contents = []
    for k, cluster in enumerate(site.clusters):
        content = Reader(classes, cluster).read(by_cluster[cluster.index])
        if content["graph"] != graph[k]:
            raise InputError(
                f"kernel {site.kernel.name!r}, cluster {cluster.index}: the checkpoint is of a graph with "
                f"other edges, weights or identifiers"
            )
        forged.state_of(content["state"], site.states[k], cluster, outputs)
        site.states[k] = content["state"]
        contents.append(content)
    sends = []
    for way in WAYS:
        for k, content in enumerate(contents):
            if content[way]["offers"] is not None:
                getattr(site.mailbox, way).offers.restore(_rows(site, k), *content[way]["offers"])
        sends.append(_last([content[way]["values"] for content in contents], site, way))
    return [*sends, [tuple(content["sent"]) for content in contents]]


def _returned(site: Site, k: int) -> Sequence[Any]:
    """What the last phase returned of the k-th cluster, one by one."""
    result = site.returned[k] if site.returned else None
    return result if type(result) is tuple else (result,)


def _again(item: Any) -> Any:
    """A message without what is needed to count it alone."""
    if type(item) is Broadcast:
        return item._replace(links=None, repeat=None, to=None, edges=None)
    return item


def _rows(site: Site, k: int) -> slice:
    """The rows of the site's k-th cluster."""
    return slice(site.mailbox.starts[k], site.mailbox.starts[k + 1])


def _kept(site: Site, k: int, way: str) -> dict[str, Any]:
    """What a site keeps between phases of a cluster's nodes: see `restore`."""
    if way not in vars(site.mailbox):
        return {"values": {}, "offers": None}
    store, rows = getattr(site.mailbox, way), _rows(site, k)
    first = store.halo.first
    slots = {name: v[first + rows.start : first + rows.stop] for name, v in store.slots.items()}
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
        fields: dict[str, Any] = {
            name: each.get(name, np.zeros(cluster.size, site.mailbox.dtypes[name]))
            for name in names
        }
        sends.append(broadcast(backwards=way == "backwards", **fields))
    return sends
