"""Pictures of answers: nodes of a small graph, coloured by what a kernel has found of them.

`python docs/answer_pictures.py` draws docs/images/answer.png, the picture of the README.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import networkx as nx
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

import dgsuite
from dgsuite.core.results.plots import styled, write

DOCS = Path(__file__).parent


@styled
def communities() -> Figure:
    """A karate club: communities as colours, PageRank as sizes, and the names of the first five."""
    network = nx.karate_club_graph()
    graph = dgsuite.Graph.from_networkx(network)
    found = dgsuite.run("leiden", graph).community.values
    rank = dgsuite.run("pagerank", graph)["rank"].values
    figure = Figure(figsize=(5, 4))
    ax = figure.subplots()
    at = nx.kamada_kawai_layout(network)
    nx.draw_networkx_edges(network, at, ax=ax, edge_color="0.75")
    colours = coloured(found, groups=True)
    nx.draw_networkx_nodes(
        network, at, ax=ax, node_size=9000 * rank, node_color=colours
    )
    first = {node: str(node) for node in np.argsort(-rank)[:5].tolist()}
    bold = {"font_size": 15, "font_weight": "bold", "font_color": "w"}
    nx.draw_networkx_labels(network, at, first, ax=ax, **bold)
    ax.axis("off")
    return figure


def coloured(values: NDArray[Any], groups: bool = False) -> list[Any]:
    """A colour for each value: of a group, or of a number on a scale."""
    codes = {
        value: k for k, value in enumerate(dict.fromkeys(values.tolist()))
    }
    if groups:
        return [f"C{codes[value] % 10}" for value in values.tolist()]
    finite = np.where(np.isfinite(values), values, 0.0).astype(float)
    span = np.ptp(finite) or 1.0
    return list(
        matplotlib.colormaps["YlGnBu"](
            0.15 + 0.75 * (finite - finite.min()) / span
        )
    )


@styled
def answer(network: nx.Graph, values: NDArray[Any], groups: bool) -> Figure:
    """A small graph with what was found written into its nodes; truth values are colours alone."""
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    layout = (
        nx.circular_layout
        if nx.density(network) == 1
        else nx.kamada_kawai_layout
    )
    at = layout(network)
    truths = values.dtype == bool
    colours = (
        ["C1" if v else "0.8" for v in values]
        if truths
        else coloured(values, groups)
    )
    nx.draw_networkx_edges(network, at, ax=ax, edge_color="0.75")
    nx.draw_networkx_nodes(
        network, at, ax=ax, node_color=colours, node_size=350
    )
    words = [] if truths else map(shown, values.tolist())
    for v, (colour, word) in enumerate(zip(colours, words, strict=False)):
        brightness = np.dot(to_rgb(colour), (0.3, 0.6, 0.1))
        on = {"ha": "center", "va": "center", "fontsize": 8}
        ax.text(*at[v], word, color="w" if brightness < 0.6 else "k", **on)
    ax.axis("off")
    return figure


def shown(value: object) -> str:
    """A value as a node has it."""
    return f"{value:.2g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    write(communities(), DOCS / "images" / "answer.png")
