"""Plots of a run, or of many, as methods: ``ds.dgsuite.plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr
from numpy.typing import ArrayLike

from dgsuite.base.errors import InputError
from dgsuite.base.extras import needed_by
from dgsuite.core.results.checking import check
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def of_one_run(ds: xr.Dataset) -> xr.Dataset:
    """A dataset, which must be that of one run."""
    if "kernel" not in ds.attrs or not {"round", "depth"} & {*ds.dims}:
        raise InputError(
            "the dataset is not the result of one run: dgsuite.run returns such datasets"
        )
    check(ds)
    return ds


class Plots:
    """Plots of a run, or of many.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> plot = dgsuite.run("bfs", graph).dgsuite.plot
    >>> plot.communication().get_ylabel()
    'messages and communication'
    """

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def __call__(self, graph: Graph | None = None) -> Axes:
        """Plot what suits: `top` of a run and its graph, else `communication`; of many runs `probability`.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> dgsuite.run("bfs", graph).dgsuite.plot().get_xlabel()
        'round'
        """
        if not {"round", "depth"} & {*self._dataset.dims}:
            return self.probability()
        return self.communication() if graph is None else self.top(graph)

    def top(
        self,
        graph: Graph,
        size: ArrayLike | None = None,
        colour: ArrayLike | None = None,
        most: int = 40,
        ax: Axes | None = None,
    ) -> Axes:
        """Plot the nodes that have the greatest values, with their labels and the edges between them.

        Parameters
        ----------
        graph
            The graph that the run was on.
        size
            A value for each node: the greatest are drawn, the greater the larger. By default the first
            output that is a real number, else the degree.
        colour
            A value for each node, such as its community in another run: equal ones have the same colour. By
            default the first output that is none.
        most
            How many nodes are drawn, at most.
        ax
            Axes to draw on; by default those of a new figure.

        Raises
        ------
        InputError
            There is not one value for each node.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
        >>> ranks = dgsuite.run("pagerank", graph)
        >>> ax = dgsuite.run("leiden", graph).dgsuite.plot.top(graph, ranks["rank"], most=2)
        >>> sorted(text.get_text() for text in ax.texts)
        ['2', '3']
        """
        from dgsuite.core.results import plots

        return plots.top(of_one_run(self._dataset), graph, size, colour, most, _axes(ax))

    def communication(self, ax: Axes | None = None, *, messages: bool = True) -> Axes:
        """Plot the messages of each round, and the communication as IMSuite counts it.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.
        messages
            Whether to draw the messages.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ds = dgsuite.run("bfs", graph)
        >>> ax = ds.dgsuite.plot.communication()
        >>> [float(bar.get_height()) for bar in ax.patches], ds.messages.values.tolist()
        ([3.0, 2.0, 1.0], [3, 2, 1])
        """
        from dgsuite.core.results import plots

        return plots.communication(of_one_run(self._dataset), _axes(ax), messages=messages)

    def rounds(self, ax: Axes | None = None) -> Axes:
        """Plot the time of each round, computing and exchange, and its active nodes.

        Parameters
        ----------
        ax
            Axes to draw on; by default those of a new figure.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ax = dgsuite.run("bfs", graph).dgsuite.plot.rounds()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('round', 'seconds, mean of the workers')
        """
        from dgsuite.core.results import plots

        return plots.rounds(of_one_run(self._dataset), _axes(ax))

    def network(self, graph: Graph) -> Figure:
        """Plot a small graph once for each round, and below it the messages and active nodes of all rounds.

        Nodes that sent in the round are red, and so are lines from them to those that they sent to. Of
        many rounds eight are drawn, from the first to the last.

        Parameters
        ----------
        graph
            The graph of the run, which was traced with a cluster for each node.

        Raises
        ------
        InputError
            The dataset has no messages by node.

        Examples
        --------
        >>> import dgsuite
        >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ds = dgsuite.run("bfs", graph, clusters=graph.n, trace=True)
        >>> figure = ds.dgsuite.plot.network(graph)
        >>> [ax.get_title() for ax in figure.axes if ax.get_title()]
        ['round 0', 'round 1', 'round 2']
        """
        from dgsuite.core.results import plots

        return plots.network(of_one_run(self._dataset), graph)

    def probability(
        self,
        name: str = "valid",
        by: str | None = None,
        ax: Axes | None = None,
        *,
        lines: str | None = None,
        level: float = 0.95,
    ) -> Axes:
        """Plot how often something holds in many runs, with Wilson's interval of its probability.

        Parameters
        ----------
        name
            A variable of truth values, or of 1 and 0; -1 stands for not known.
        by
            The dimension or coordinate to the right: what was swept over. By default the only one, apart from
            "run", "seed" and "repeat", that has several values.
        ax
            Axes to draw on; by default those of a new figure.
        lines
            A dimension or coordinate: a line for each of its values. The runs are the entries along all
            other dimensions.
        level
            How sure the intervals are.

        Raises
        ------
        InputError
            The dataset has no such variable, dimension or coordinate, or values are other numbers.

        Examples
        --------
        How often Luby's algorithm survives the loss of messages:

        >>> import dgsuite
        >>> import xarray as xr
        >>> from dgsuite import genval
        >>> graph = genval.graph("er", 20, seed=1)
        >>> losses = [0.001, 0.01, 0.1]
        >>> many = [
        ...     dgsuite.lab.repeat("mis", graph, 500, network=dgsuite.Network(loss=loss)) for loss in losses
        ... ]
        >>> ds = xr.concat(many, xr.Variable("loss", losses), combine_attrs="drop_conflicts")
        >>> ax = ds.dgsuite.plot.probability()
        >>> ax.get_xlabel(), ax.lines[0].get_ydata().round(2).tolist()
        ('loss', [0.99, 0.93, 0.4])
        """
        from dgsuite.core.results import plots

        return plots.probability(self._dataset, name, by, _axes(ax), lines, level)


def _axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, which notebooks then show."""
    if ax is not None:
        return ax
    with needed_by("a picture"):
        from matplotlib import pyplot

    return pyplot.subplots(figsize=(6, 4), layout="constrained")[1]
