"""Graphs in files: a file for each cluster, one for the nodes, and a list of them with their checksums.

A graph is a folder, or a URL of fsspec. ``graph.json`` says what the graph is, and holds the size and the
SHA-256 of every other file: see `dgsuite.partition.store.archives`. Labels that the workers hold are in
files of their own, one for each part of them.

Files get names of their own with each save, and the list is written last. So a save that replaces another one
leaves either the old graph or the new one, whenever it is interrupted.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import pinned
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses, worker_of
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction.distribute import shared
from dgsuite.partition.graph.checks import of_clusters
from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.held_labels import HeldLabels, held, joined
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import Labels, exact_array, from_json, to_json
from dgsuite.partition.sources.duplicates import Built
from dgsuite.partition.store import archives, checking
from dgsuite.partition.store.archives import Entry
from dgsuite.partition.store.checking import Form

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.partition.graph.data import GraphData

LIST = "graph.json"
"""Name of the list of files."""

NAME = re.compile(r"(nodes|(cluster|labels)-\d{4,})-[0-9a-f]{8}\.npz")
"""Names of the other files."""

KIND = "graph"
"""The kind of archive that a list of files describes."""

EDGES = ("indptr", "indices", "weights", "directions", "weights_in", "loops", "loop_weights")
"""Arrays of a cluster that are stored, where it has them; and its identifiers as ``uid``."""

PLAIN = ("entries", "directed", "identified", "chosen", "keeps_loops")
"""Attributes of a graph that its list has as they are."""


NEEDED: dict[str, checking.Kind] = {
    **dict.fromkeys(("directed", "identified", "chosen", "ascending", "keeps_loops"), bool),
    **dict.fromkeys(("offsets", "entries"), checking.is_counts),
    **dict.fromkeys(("attrs", "nodes"), dict),
    **dict.fromkeys(("clusters", "labels"), list),
    "weight_dtype": checking.is_weight_dtype,
    "built": checking.is_built,
    "identity": str,
}
"""What a list says, and of what kind that is."""


class Saved(NamedTuple):
    """A graph in files.

    Attributes
    ----------
    folder
        Absolute path or URL.
    clusters
        Entries of the clusters' files in the list.
    form
        What the files must have.
    disk
        Whether clusters have their edges in mapped files.
    """

    folder: str
    clusters: Sequence[Entry]
    form: Form
    disk: bool = False

    def of(self, k: int) -> tuple[str, Entry, Form, int, bool]:
        """What reading a cluster takes."""
        return self.folder, self.clusters[k], self.form, k, self.disk


def _form(facts: dict[str, Any]) -> Form:
    """What the list says of all clusters."""
    return Form(*(facts[name] for name in Form._fields))


def _listed(folder: str) -> dict[str, Any]:
    """The list of a graph's files.

    Raises
    ------
    InputError
        There is none, or it is damaged.
    """
    path = archives.join(folder, LIST)
    facts = archives.read_list(folder, LIST, KIND, NEEDED)
    with checking.sound(path):
        count = len(facts["clusters"])
        checking.refuse(
            len(facts["entries"]) != count or len(facts["offsets"]) != count + 1,
            f"entries and offsets must be those of {count} clusters",
        )
        checking.refuse(
            not facts["directed"] and sum(facts["entries"]) % 2,
            "an undirected graph must have an even number of entries",
        )
    for entry in (facts["nodes"], *facts["clusters"], *facts["labels"]):
        archives.place(folder, entry)
    return facts


def save(graph: GraphData, path: str | os.PathLike[str], identity: str) -> Saved:
    """Write a graph; see `dgsuite.partition.graph.graph.Graph.save`."""
    folder = archives.absolute(path)
    files, inner = archives.opened(folder)
    before = _files_of(folder)
    with archives.explained(folder):
        files.makedirs(inner, exist_ok=True)
    save_id = token_hex(4)
    facts: dict[str, Any] = {
        **{name: getattr(graph, name) for name in PLAIN},
        "weight_dtype": None if graph.weight_dtype is None else graph.weight_dtype.str,
        "ascending": graph.labels is not None and graph.labels.ascending,
        "offsets": graph.partition.offsets.tolist(),
        "built": graph.built,
        "identity": identity,
        "attrs": {name: _to_json(value, name) for name, value in graph.attrs.items()},
    }
    facts["nodes"] = archives.write(folder, f"nodes-{save_id}.npz", _nodes(graph))
    write = partial(_save_cluster, folder=folder, save_id=save_id)
    facts["labels"] = []
    if isinstance(graph.labels, HeldLabels):
        write_labels = partial(_save_labels, folder=folder, save_id=save_id)
        facts["labels"] = graph.labels.each(write_labels, "saving the graph")
    facts["clusters"] = of_clusters(graph, write, "saving the graph")
    archives.write_list(folder, LIST, KIND, facts)
    for name in before:
        files.rm(f"{inner}/{name}")
    return Saved(folder, facts["clusters"], _form(facts), graph.edges == "disk")


def load(
    path: str | os.PathLike[str], client: Client | None, disk: bool = False
) -> tuple[list[Any], Partition, dict[str, Any], str]:
    """Read a graph; see `dgsuite.partition.graph.graph.Graph.load`.

    Returns
    -------
    parts
        Clusters, or futures of them.
    partition
        Which cluster owns which node.
    options
        Of the constructor of a graph.
    identity, later
        Of the graph that was saved, and what it got since.
    """
    folder = archives.absolute(path)
    facts = _listed(folder)
    nodes = archives.read(folder, facts["nodes"])
    with checking.sound(archives.place(folder, facts["nodes"])):
        partition = checking.partition(facts["offsets"], nodes.get("order"))
    with checking.sound(archives.join(folder, LIST)):
        attrs = {name: _from_json(value) for name, value in facts["attrs"].items()}
    saved = Saved(folder, facts["clusters"], _form(facts), disk)
    numbers = range(partition.clusters)
    parts: list[Any]
    if client is None:
        parts = [_load_cluster(partition, *saved.of(k)) for k in numbers]
    else:
        workers = worker_addresses(client)
        homes = [worker_of(k, len(numbers), workers) for k in numbers]
        parts = read_again(saved, partition, numbers, client, homes)
    built = facts["built"]
    options = {
        **{name: facts[name] for name in (*PLAIN, "weight_dtype")},
        "attrs": attrs,
        "labels": _labels(nodes, facts, folder, client),
        "saved": saved,
        "edges": "disk" if disk else "memory",
        "built": None if built is None else Built(*built[:7], *map(tuple, built[7:])),
    }
    return parts, partition, options, facts["identity"]


def read_again(
    saved: Saved, partition: Partition, numbers: Sequence[int], client: Client, homes: Sequence[str]
) -> list[Any]:
    """Futures of some clusters of a graph in files.

    Parameters
    ----------
    numbers
        Which clusters.
    homes
        The address of the worker that reads each.
    """
    watch = Watch(client, "loading the graph", homes)
    with client.as_current(), watch.explain_errors():
        everywhere = shared(partition, watch)
        parts = [
            pinned(client, home, _load_cluster, everywhere, *saved.of(k))
            for k, home in zip(numbers, homes, strict=True)
        ]
        watch.wait(parts)
    return parts


def _save_cluster(cluster: Cluster, folder: str, save_id: str) -> Entry:
    """Write the file of a cluster; returns its entry in the list."""
    arrays = {field: array for field in EDGES if (array := getattr(cluster, field)) is not None}
    if cluster.identifiers is not None:
        arrays["uid"] = cluster.uid
    return archives.write(folder, f"cluster-{cluster.index:04}-{save_id}.npz", arrays)


def _load_cluster(
    partition: Partition, folder: str, entry: Entry, form: Form, index: int, disk: bool
) -> Cluster:
    arrays = archives.mapped(folder, entry) if disk else archives.read(folder, entry)
    with checking.sound(archives.place(folder, entry)):
        checking.cluster(arrays, partition, index, form)
    edges: dict[str, Any] = {field: arrays.get(field) for field in EDGES}
    uid = arrays.get("uid")
    return Cluster(index, partition, **edges, identifiers=uid, directed=form.directed, disk=disk)


def _nodes(graph: GraphData) -> dict[str, NDArray]:
    """What is known of all nodes: their order, and their labels, unless the workers hold these."""
    arrays = {}
    if graph.partition.order is not None:
        arrays["order"] = graph.partition.order
    if graph.labels is not None and not isinstance(graph.labels, HeldLabels):
        arrays |= packed(graph.labels.array)
    return arrays


def packed(labels: Values) -> dict[str, NDArray]:
    """Labels as arrays: text of Arrow as UTF-8 with the ends of each, objects as lines of JSON."""
    if identifiers.is_text(labels):
        return dict(zip(("labels_utf8", "labels_ends"), identifiers.utf8(labels), strict=True))
    if labels.dtype == object:
        text = "\n".join(json.dumps(to_json(label)) for label in labels)
        return {"labels_json": np.frombuffer(text.encode(), np.uint8)}
    return {"labels": labels}


def unpacked(arrays: Mapping[str, NDArray], path: str, ascending: bool = False) -> Values | None:
    """The labels that `packed` made arrays of; None if there are none.

    Parameters
    ----------
    path
        The file of the arrays.
    ascending
        Whether they must ascend.

    Raises
    ------
    InputError
        They are no labels.
    """
    with checking.sound(path):
        found = _held_in(arrays)
        if ascending and found is not None:
            checking.ascending(found)
        return found


def _held_in(arrays: Mapping[str, NDArray]) -> Values | None:
    if "labels_utf8" in arrays:
        content = checking.needed(arrays, "labels_utf8", ["u1"])
        ends = checking.needed(arrays, "labels_ends", ["i8"])
        checking.pointer(np.append(0, ends), len(content), "labels_ends")
        text = identifiers.of_utf8(content, ends)
        text.validate(full=True)
        return text
    if "labels_json" in arrays:
        lines = checking.needed(arrays, "labels_json", ["u1"]).tobytes().decode().split("\n")
        return exact_array([from_json(json.loads(line)) for line in lines])
    labels = arrays.get("labels")
    if labels is not None:
        kinds = [f"U{labels.dtype.itemsize}"] if labels.dtype.kind == "U" else ["i8", "u8"]
        checking.needed(arrays, "labels", kinds)
        points = labels.view(np.uint32) if labels.dtype.kind == "U" else np.empty(0, np.uint32)
        checking.refuse(
            points.max(initial=0) > sys.maxunicode or ((points >> 11) == 0x1B).any(),
            "labels have characters that there are not",
        )
    return labels


def _save_labels(labels: Values, number: int, folder: str, save_id: str) -> Entry:
    """Write the file of a part of the labels; returns its entry in the list."""
    return archives.write(folder, f"labels-{number:04}-{save_id}.npz", packed(labels))


def _load_labels(folder: str, entry: Entry) -> Values:
    """A part of the labels; those of each part ascend."""
    found = unpacked(archives.read(folder, entry), archives.place(folder, entry), ascending=True)
    if found is None:
        raise InputError(f"{archives.place(folder, entry)}: has no labels")
    return found


def _labels(
    nodes: dict[str, NDArray], facts: dict[str, Any], folder: str, client: Client | None
) -> Labels | None:
    """Labels of nodes: those of files of their own stay on the workers, if there are some.

    Raises
    ------
    InputError
        They are not one for each node.
    """
    entries, n = facts["labels"], facts["offsets"][-1]
    path = archives.place(folder, facts["nodes"])
    if not entries:
        found = unpacked(nodes, path, facts["ascending"])
        with checking.sound(path):
            return None if found is None else Labels(found, n, ascending=facts["ascending"])
    if client is None:
        labels = joined([_load_labels(folder, entry) for entry in entries])
    else:
        workers = worker_addresses(client)
        watch = Watch(client, "loading the graph", workers)
        with client.as_current(), watch.explain_errors():
            parts = [
                pinned(client, worker_of(i, len(entries), workers), _load_labels, folder, entry)
                for i, entry in enumerate(entries)
            ]
            labels = held(parts, watch).settled()
    if len(labels) != n:
        raise InputError(f"{folder}: its files have {len(labels)} labels for {n} nodes")
    return labels


def _to_json(value: Any, name: str) -> Any:
    """A default of a kernel's parameter as JSON: a label, or a list of labels."""
    if isinstance(value, list):
        return [_to_json(item, name) for item in value]
    try:
        return to_json(value)
    except InputError:
        raise InputError(
            f"attrs[{name!r}] is of type {type(value).__name__}, which a file cannot hold; it can hold "
            f"labels, and lists of these"
        ) from None


def _from_json(value: Any) -> Any:
    return list(map(_from_json, value)) if isinstance(value, list) else from_json(value)


def _files_of(folder: str) -> list[str]:
    """Names of the files of the graph that is in a folder, to be removed once it is replaced."""
    files, inner = archives.opened(folder)
    if not files.exists(f"{inner}/{LIST}"):
        return []
    facts = _listed(folder)
    return [
        name
        for entry in (facts["nodes"], *facts["clusters"], *facts["labels"])
        if NAME.fullmatch(name := entry["file"])
    ]
