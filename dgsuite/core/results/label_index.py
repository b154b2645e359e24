"""The index of the coordinate ``node`` where the labels of nodes are on the workers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from xarray.core.indexing import IndexSelResult
from xarray.indexes import PandasIndex

from dgsuite.base.errors import InputError
from dgsuite.partition.labels.held_labels import HeldLabels


class LabelIndex(xr.Index):
    """Selection by label, and alignment of results of one graph, without the labels in this process.

    Everything else brings the labels here. ``ds.drop_indexes("node").set_xindex("node")`` makes the usual
    index of them.

    Parameters
    ----------
    labels
        Labels of the nodes.
    dim
        Dimension of the nodes.
    """

    def __init__(self, labels: HeldLabels, dim: Hashable) -> None:
        self.labels = labels
        self.dim = dim

    def sel(self, labels: dict[Any, Any], **options: Any) -> IndexSelResult:
        """Nodes with given labels: one, an array, or all from one label to another."""
        ((_, wanted),) = labels.items()
        if isinstance(wanted, slice) or any(options.values()):
            return self._here().sel(labels, **options)
        values = wanted.values if hasattr(wanted, "values") else np.asarray(wanted)
        try:
            if not values.ndim:
                return IndexSelResult({self.dim: self.labels.node(values.item())})
            nodes: Any = self.labels.nodes(values)
        except InputError as error:
            raise KeyError(str(error)) from None
        if isinstance(wanted, xr.DataArray | xr.Variable):
            nodes = wanted.copy(data=nodes)
        return IndexSelResult({self.dim: nodes})

    def isel(self, indexers: Mapping[Any, Any]) -> xr.Index | None:
        """The index of some nodes, whose labels come here."""
        chosen = indexers[self.dim]
        if isinstance(chosen, slice) and chosen == slice(None):
            return self
        if isinstance(chosen, xr.Variable):
            chosen = chosen.values if chosen.dims == (self.dim,) else 0
        if not isinstance(chosen, slice) and np.ndim(chosen) == 0:
            return None
        return PandasIndex(pd.Index(self.labels[chosen], name=self.dim), self.dim)

    def equals(self, other: xr.Index, **options: Any) -> bool:
        """Whether all labels are the same."""
        if not isinstance(other, LabelIndex):
            return False
        return self.labels is other.labels or np.array_equal(self.labels.array, other.labels.array)

    def join(self, other: Self, how: str = "inner") -> Any:
        """The labels of both, or of one of them."""
        return self._here().join(other._here(), how)  # type: ignore[arg-type]

    def reindex_like(self, other: Any) -> dict[Hashable, Any]:
        """Where the labels of another index are among these."""
        there = other._here() if isinstance(other, LabelIndex) else other
        return self._here().reindex_like(there)

    def rename(self, name_dict: Mapping[Any, Hashable], dims_dict: Mapping[Any, Hashable]) -> Self:
        return type(self)(self.labels, dims_dict.get(self.dim, self.dim))

    def to_pandas_index(self) -> pd.Index:
        """All labels, in this process."""
        return pd.Index(self.labels.array, name=self.dim)

    def _here(self) -> PandasIndex:
        return PandasIndex(self.to_pandas_index(), self.dim)

    def __repr__(self) -> str:
        return f"LabelIndex({self.labels!r})"
