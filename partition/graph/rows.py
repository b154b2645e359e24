"""Which rows of a table each edge of a graph came from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.graph.data import GraphData
from dgsuite.partition.labels.nodes import node_ids
from dgsuite.partition.sources import edges

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client


class Traced(GraphData):
    """The method of `dgsuite.partition.graph.graph.Graph` that finds the rows of edges."""

    def rows_of(
        self, frame: Any, source: Hashable = "source", target: Hashable = "target"
    ) -> pd.DataFrame:
        """The rows of the table that the graph was made of, for each edge of another table.

        Parameters
        ----------
        frame
            A dataframe of pandas or Dask with an edge in each row, such as ``ds.dgsuite.to_pandas()`` of
            "bridges", "edge_betweenness", "similarity" or "sample", or `dgsuite.pairs`.
        source, target
            Names of the columns with its ends.

        Returns
        -------
        pandas.DataFrame
            With a column ``row`` (Int64): from 0, in the order in which the graph's table was read. An edge
            that several rows name, of an undirected graph also the other way round, is there once for each;
            where no row names it, ``row`` is missing.

        Raises
        ------
        InputError
            The graph was made without ``rows="keep"``, or an end is no node.

        Examples
        --------
        >>> import dgsuite
        >>> import pandas as pd
        >>> paid = pd.DataFrame({"source": ["a", "b", "b"], "target": ["b", "c", "a"], "sum": [5, 7, 9]})
        >>> graph = dgsuite.Graph.from_dataframe(paid, weight="sum", duplicates="sum", rows="keep")
        >>> bridges = dgsuite.run("bridges", graph).dgsuite.to_pandas()
        >>> print(graph.rows_of(bridges).join(paid["sum"], on="row"))
          source target  row  sum
        0      a      b    0    5
        1      a      b    2    9
        2      b      c    1    7
        """
        if self.rows is None:
            raise InputError(
                "the graph does not know the rows of its table: make it with rows='keep'"
            )
        source, target = edges.settled(frame.columns, (source, target, None))
        frame = frame.compute() if hasattr(frame, "dask") else frame
        u, v = (node_ids(frame[end], self.n, self.labels, "ends") for end in (source, target))
        asked = _ends(u, v, self.directed).assign(at=np.arange(len(frame)))
        u, v = self.rows["source"].to_numpy(), self.rows["target"].to_numpy()
        known = _ends(u, v, self.directed).assign(row=self.rows.index)
        found = asked.merge(known, "left", ["source", "target"])
        rows = found["row"].astype("Int64").array
        return frame.iloc[found["at"]].reset_index(drop=True).assign(row=rows)


def ends_of_rows(pieces: Sequence[Any], client: Client | None) -> pd.DataFrame:
    """Node ids of the ends of each row of an edge list."""
    source, target, _ = edges.together(edges.here(pieces, client))
    return _ends(source, target, directed=True)


def kept(graph: GraphData, number: NDArray) -> pd.DataFrame | None:
    """The rows of a graph of some of its nodes, given the new number of each node, -1 for none."""
    if graph.rows is None:
        return None
    rows = graph.rows.apply(lambda ends: number[ends])
    return rows[(rows >= 0).all(axis=1)]


def _ends(source: NDArray, target: NDArray, directed: bool) -> pd.DataFrame:
    """Ends of edges, of an undirected graph the smaller node first."""
    import pandas as pd

    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    return pd.DataFrame({"source": source, "target": target})
