"""Labels that stay on the workers, a part of them on each; `dgsuite.partition.labels.labels` has fewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.client.settings import limit
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.labels import identifiers
from dgsuite.partition.labels.identifiers import Values
from dgsuite.partition.labels.labels import Labels

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client, Future


class About(NamedTuple):
    """What this process knows of a part of the labels.

    Attributes
    ----------
    size, nbytes
        Number of labels, and bytes that they take where they are.
    dtype
        A dtype of NumPy that holds them.
    first, last
        The least and the greatest of them; None if there are none.
    """

    size: int
    nbytes: int
    dtype: np.dtype
    first: Any
    last: Any

    @classmethod
    def of(cls, part: Values) -> About:
        ends = identifiers.take(part, np.array([0, -1]) % max(len(part), 1)) if len(part) else None
        first, last = (None, None) if ends is None else identifiers.as_list(ends)
        dtype = identifiers.dtype_of(part)
        return cls(len(part), identifiers.nbytes(part), dtype, first, last)


class HeldLabels(Labels):
    """Labels on the workers of a Dask client, in the order of node ids. Those of each part ascend.

    They have the methods of `dgsuite.partition.labels.labels.Labels`, which read from the workers. `array`,
    ``list`` and comparisons bring all labels into this process.

    Parameters
    ----------
    parts
        Futures of consecutive, ascending labels (`dgsuite.partition.labels.identifiers.Values`).
    about
        What is known of each part.

    Attributes
    ----------
    none
        The value that means "no node": see `Labels`.
    """

    def __init__(self, parts: Sequence[Future], about: Sequence[About]) -> None:
        self.parts, self.about = list(parts), list(about)
        self.offsets = np.cumsum([0, *(each.size for each in about)])
        some = [each for each in about if each.size]
        self._dtype = np.result_type(*(each.dtype for each in some))
        least, most = min(each.first for each in some), max(each.last for each in some)
        self.ascending = all(one.last < other.first for one, other in pairwise(some))
        self.none = None
        if self._dtype.kind == "U" and least != "":
            self.none = ""
        elif self._dtype.kind in "iu" and least >= 0 and most < 2**63:
            self.none = -1

    @property
    def client(self) -> Client:
        """The client whose workers hold the labels."""
        return self.parts[0].client

    @property
    def dtype(self) -> np.dtype:
        """Dtype of labels and `none` together."""
        return np.dtype(object) if self.none is None else self._dtype

    @property
    def example(self) -> Any:
        """The label of node 0, without asking a worker."""
        return next(each.first for each in self.about if each.size)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, node: Any) -> Any:
        if isinstance(node, int | np.integer):
            if not -len(self) <= node < len(self):
                raise IndexError(f"there are {len(self)} labels")
            return self.of(np.array([node % len(self)])).tolist()[0]
        return self.of(np.arange(len(self))[node]).astype(self._dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        for part in self.parts:
            yield from self._ask(identifiers.as_list, [(part,)])[0]

    def __repr__(self) -> str:
        return f"<{len(self)} labels on workers, {self._dtype}>"

    def each(self, function: Callable[[Values, int], Any], doing: str) -> list[Any]:
        """Results of a function of each part and its number, computed where the part is."""
        asked = [submitted(self.client, function, part, i) for i, part in enumerate(self.parts)]
        return Watch(self.client, doing, inputs=self.parts).gather(asked)

    def _ask(self, function: Callable[..., Any], each: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Results of a function with each of some arguments, the first of which is a part."""
        asked = [submitted(self.client, function, *arguments) for arguments in each]
        return Watch(self.client, "reading labels", inputs=self.parts).gather(asked)

    @property
    def array(self) -> NDArray:  # type: ignore[override]
        """All labels, shape (n,), in this process."""
        return np.concatenate(
            self._ask(identifiers.to_numpy, [(part, self._dtype) for part in self.parts])
        )

    def here(self) -> Labels:
        """The same labels in this process."""
        return Labels(self.array, len(self), ascending=self.ascending)

    def extended(self, more: NDArray) -> Labels:
        """See `Labels.extended`; new labels are a part of their own."""
        part = identifiers.of(more)
        there = Watch(self.client, "sending labels").scatter(part)
        return HeldLabels([*self.parts, there], [*self.about, About.of(part)])

    def settled(self) -> Labels:
        """These labels, or the same in this process if they take at most `settings.limit` bytes."""
        return self.here() if sum(each.nbytes for each in self.about) <= limit() else self

    def among(self, nodes: NDArray) -> Labels:
        """The labels of some nodes; see `Labels.among`. They stay on the workers, if they are many."""
        wanted = Wanted.of(nodes, self.offsets)
        parts = [
            submitted(self.client, identifiers.take, part, at)
            for part, at in zip(self.parts, wanted.at, strict=True)
        ]
        return held(parts, Watch(self.client, "reading labels", inputs=self.parts)).settled()

    def _search(self, labels: NDArray) -> NDArray[np.int64]:
        found = np.full(labels.size, -1)
        answers = self._ask(identifiers.find, [(part, labels.ravel()) for part in self.parts])
        for first, at in zip(self.offsets, answers, strict=False):
            found[at >= 0] = first + at[at >= 0]
        return found.reshape(labels.shape)

    def of(self, nodes: NDArray) -> NDArray:
        """Labels of the given nodes, an array of any shape; -1 becomes `none`."""
        wanted = Wanted.of(np.asarray(nodes), self.offsets)
        asked = [(part, at, self.dtype) for part, at in zip(self.parts, wanted.at, strict=True)]
        return _answered(wanted, self.none, *self._ask(_take, asked))

    def labelled(self, nodes: da.Array) -> da.Array:
        """Labels of nodes, made where the nodes are; each part sends those that a chunk names."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        name, asked, given = (f"{what}-{nodes.name}" for what in ("labelled", "wanted", "labels"))
        rest = (0,) * (nodes.ndim - 1)
        tasks: dict[Any, Any] = {}
        for k in range(nodes.numblocks[0]):
            tasks[asked, k] = (Wanted.of, (nodes.name, k, *rest), self.offsets)
            for i in range(len(self.parts)):
                tasks[given, k, i] = (_take_wanted, (given, i), (asked, k), i, self.dtype)
            answers = [(given, k, i) for i in range(len(self.parts))]
            tasks[name, k, *rest] = (_answered, (asked, k), self.none, *answers)
        held = {(given, i): part for i, part in enumerate(self.parts)}
        layers = {**nodes.dask.layers, given: held, name: tasks}
        needs = {**nodes.dask.dependencies, given: set(), name: {given, nodes.name}}
        return da.Array(HighLevelGraph(layers, needs), name, nodes.chunks, dtype=self.dtype)

    def lazy(self, offsets: Sequence[int] | NDArray) -> da.Array:
        """All labels as a Dask array with given chunks, such as the clusters of a graph."""
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        name, given = (f"{what}-{self.parts[0].key}" for what in ("node", "labels"))
        held = {(given, i): part for i, part in enumerate(self.parts)}
        tasks = {(name, i): (identifiers.to_numpy, key, self._dtype) for i, key in enumerate(held)}
        layers = HighLevelGraph({given: held, name: tasks}, {given: set(), name: {given}})
        sizes = tuple(np.diff(self.offsets).tolist())
        whole = da.Array(layers, name, (sizes,), dtype=self._dtype)
        return whole.rechunk((tuple(int(b - a) for a, b in pairwise(offsets)),))


def held(parts: Sequence[Future], watch: Watch) -> HeldLabels:
    """Labels whose parts are on workers."""
    return HeldLabels(parts, watch.gather([submitted(watch.client, About.of, p) for p in parts]))


def joined(parts: Sequence[Values]) -> Labels:
    """Consecutive ascending labels in this process."""
    dtype = np.result_type(*(identifiers.dtype_of(part) for part in parts if len(part)))
    array = np.concatenate([identifiers.to_numpy(part, dtype) for part in parts])
    return Labels(array, len(array), ascending=True)


class Wanted(NamedTuple):
    """Nodes whose labels are wanted.

    Attributes
    ----------
    codes
        Of each node, its index among the distinct ones; -1 for no node.
    at
        Of each part of the labels, which of them are wanted.
    """

    codes: NDArray
    at: list[NDArray]

    @classmethod
    def of(cls, nodes: NDArray, offsets: NDArray) -> Wanted:
        distinct, codes = np.unique(nodes, return_inverse=True)
        none = int(np.searchsorted(distinct, 0))
        distinct = distinct[none:]
        cuts = np.searchsorted(distinct, offsets)
        at = [distinct[a:b] - first for (a, b), first in zip(pairwise(cuts), offsets, strict=False)]
        return cls(codes.reshape(nodes.shape) - none, at)


def _take(part: Values, at: NDArray, dtype: np.dtype) -> NDArray:
    return identifiers.to_numpy(identifiers.take(part, at), dtype)


def _take_wanted(part: Values, wanted: Wanted, number: int, dtype: np.dtype) -> NDArray:
    return _take(part, wanted.at[number], dtype)


def _answered(wanted: Wanted, none: Any, *answers: NDArray) -> NDArray:
    """Labels of the nodes that are wanted, given those of each part; `none` follows as number -1."""
    dtype = np.result_type(*answers)
    return np.concatenate([*answers, np.array([none], dtype)])[wanted.codes]
