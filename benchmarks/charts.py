"""The pictures of the page of benchmarks: one for each question, with its answer in a sentence.

`page.py` draws them of the results that are committed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import charts_peers as peers
from drawing import PROCESSORS, Documents, counted, curves, drawn, middle, rows
from metg import draw as draw_metg

from dgsuite.core.results.plots import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Question:
    """What people ask, the picture that answers it, and the results that it shows.

    Parameters
    ----------
    name
        Of the picture's file.
    title, text
        The question, and how to read the picture.
    results
        Names of results; a later one is taken where two have the same figure.
    answer
        A function of the results that returns the answer in a sentence or two.
    draw
        A function of the results that returns the picture.
    """

    name: str
    title: str
    text: str
    results: tuple[str, ...]
    answer: Callable[[Documents], str]
    draw: Callable[[Documents], Figure]

    def own(self, results: Documents) -> Documents:
        """The results that it shows."""
        return {name: results[name] for name in self.results}

    def digest(self, results: Documents) -> str:
        """A digest of what the picture shows, which its file has as ``Source``."""
        rows = [result["rows"] for result in self.own(results).values()]
        return hashlib.blake2b(json.dumps(rows).encode(), digest_size=16).hexdigest()

    @styled
    def save(self, results: Documents, file: Any) -> None:
        """Draw the picture into a file."""
        import matplotlib.pyplot as plt

        figure = self.draw(self.own(results))
        figure.savefig(file, format="png", metadata={"Source": self.digest(results)})
        plt.close(figure)


EMPTY, SMALL = "empty clocked round", "small call, bf on a star of 400 nodes"


def of_rounds(results: Documents) -> str:
    times = dict(curves(rows(results, EMPTY), "protocol", "workers")["default"])
    calls = dict(curves(rows(results, SMALL), "protocol", "workers")["default"])
    return (
        f"A round in which nothing happens takes {times[2]:.2g} ms on 2 workers and {times[16]:.2g} ms "
        "on 16; "
        f"a whole small call takes {calls[2]:.2g} and {calls[16]:.2g} ms."
    )


@styled
def draw_rounds(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2))
    names = {"tcp": "TCP", "mpb": "mpb", "default": "default: shared memory"}
    for panel, what in zip(panels, (EMPTY, SMALL), strict=True):
        lines = curves(rows(results, what), "protocol", "workers")
        drawn(panel, lines, "workers", **names)
        counted(panel, (x for line in lines.values() for x, _ in line))
        panel.set_title(what, loc="left")
    panels[0].set_ylabel("milliseconds")
    return figure


def of_workers(results: Documents) -> str:
    gains = [
        dict(line)[1] / dict(line)[PROCESSORS]
        for line in curves(rows(results, "rounds"), "kernel", "workers").values()
    ]
    return (
        f"Two workers on two processors are {min(gains):.2g} to {max(gains):.2g} times as fast as one. "
        "More workers than "
        "processors only share these and take longer; figures of larger machines are missing."
    )


@styled
def draw_workers(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(5, 3.4))
    lines = curves(rows(results, "rounds"), "kernel", "workers")
    drawn(panel, lines, "workers, one thread each")
    counted(panel, (x for line in lines.values() for x, _ in line))
    panel.set_ylabel("milliseconds, all rounds")
    return figure


def powers(results: Documents, what: str) -> dict[str, float]:
    """The power of the number of nodes with which time or messages grow, by kernel."""
    return {
        row["conditions"]["kernel"]: middle(row["value"])
        for row in rows(results, f"{what}, power of n")
    }


def of_sizes(results: Documents) -> str:
    time = powers(results, "time")
    least, most = min(time, key=time.__getitem__), max(time, key=time.__getitem__)
    near = sum(power <= 1.25 for power in time.values())
    return (
        f"Of {len(time)} kernels {near} take time that grows about as the number of nodes n: by n^1.25 "
        "at most. "
        f"The others go up to n^{time[most]:.2g} (`{most}`); the least is n^{time[least]:.2g} (`{least}`)."
    )


@styled
def draw_sizes(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    time, sent = powers(results, "time"), powers(results, "messages")
    names = sorted(time, key=time.__getitem__)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 1 + 0.2 * len(names)))
    left.axvline(1, color="0.4")
    left.plot([time[name] for name in names], names, "o", color="C1", label="time")
    counts = [name for name in names if name in sent]
    left.plot(
        *([sent[name] for name in counts], counts),
        "D",
        color="C0",
        fillstyle="none",
        label="messages",
    )
    left.set(
        xlabel="power of n (line: in proportion to n)", title="growth with the number of nodes n"
    )
    left.tick_params(axis="y", length=0)
    left.grid(alpha=0.3)
    left.legend()
    searches = [
        (16 * 2 ** row["conditions"]["scale"], middle(row["value"]) / 1e3)
        for row in rows({"": results["bfs_peers"]}, "median", "ms")
    ]
    built = [
        (row["conditions"]["edges"], middle(row["value"]))
        for row in rows({"": results["construction"]}, "time", "s")
    ]
    drawn(
        right, {"make a graph of an edge array": built, "breadth-first search": searches}, "edges"
    )
    right.set(title="a graph and a search", ylabel="seconds")
    return figure


def of_tasks(results: Documents) -> str:
    found = {
        row["conditions"]["system"]: middle(row["value"])
        for row in rows(results, "METG")
        if row["conditions"]["workers"] == PROCESSORS and row["conditions"]["pattern"] == "stencil"
    }
    shown = ", ".join(f"{system} {time:.2g} ms" for system, time in found.items())
    return (
        "The least time of a task with which half of the processors' time is useful, on two workers "
        f"(stencil): {shown}."
    )


@styled
def draw_tasks(results: Documents) -> Figure:
    return draw_metg(results["metg"]["rows"], processors=PROCESSORS)


QUESTIONS = (
    Question(
        "libraries",
        "How fast is it beside other libraries?",
        "All have the same two processors and the same graph, and take turns; dgsuite has two "
        "workers. The random "
        "graph has 1,000,000 nodes and 10,000,000 edges, the Kronecker graph is that of Graph500. "
        "Rounds are what the "
        "algorithm takes; the whole call also starts the run and returns the result.",
        (
            *("questions-similarity", "analytics", "analytics-more", "analytics-core"),
            *("analytics-workers", "analytics-pagerank"),
        ),
        peers.beside_libraries,
        peers.draw_libraries,
    ),
    Question(
        "gap",
        "How fast is it beside C++ written by hand?",
        "The six kernels of the GAP benchmark suite on five kinds of graphs. A circle is a "
        "measurement of dgsuite: "
        "breadth-first search, shortest paths, PageRank, components, betweenness, and triangles.",
        ("gap", "gap-random", "gap-peers", "gap-peers-random"),
        peers.beside_gap,
        peers.draw_gap,
    ),
    Question(
        "networkx",
        "When does the networkx backend pay?",
        "Functions of networkx on 100,000 nodes and 500,000 edges, in one process, with and without "
        '`backend="dgsuite"`.',
        ("networkx_backend",),
        peers.of_networkx,
        peers.draw_networkx,
    ),
    Question(
        "tables",
        "How long does it take from a table to a table?",
        "20,000,000 edges between names are read from Parquet; PageRank and components go back to Parquet.",
        ("parquet",),
        peers.of_tables,
        peers.draw_tables,
    ),
    Question(
        "rounds",
        "What does a round cost, and what does a call?",
        "On the grey ground there are more workers than processors.",
        ("overhead-workers",),
        of_rounds,
        draw_rounds,
    ),
    Question(
        "workers",
        "What do more workers bring?",
        "A Kronecker graph of scale 20 with 16 edges a node, style `clocked`.",
        ("threads-workers",),
        of_workers,
        draw_workers,
    ),
    Question(
        "sizes",
        "How does time grow with the graph?",
        "Left: time and messages grow as n^p, with the p shown, when graphs of n nodes get larger and "
        "keep their mean degree. "
        "Right: the time of making a graph, and of a search on Graph500's graphs.",
        ("scale", "analytics-growth", "construction", "bfs_peers"),
        of_sizes,
        draw_sizes,
    ),
    Question(
        "metg",
        "How short may tasks be?",
        "METG, the measure of Task Bench: the shortest tasks with which a system still gets half of what the "
        "processors can do, for five patterns of who depends on whom. Lower is better.",
        ("metg",),
        of_tasks,
        draw_tasks,
    ),
)
"""In the order of the page."""
