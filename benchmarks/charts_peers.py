"""Pictures of dgsuite beside other libraries, C++, networkx and pandas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drawing import COLORS, LIBRARIES, MARKERS, OURS, Documents, lined, middle, rows

from dgsuite.core.results.plots import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_library(results: Documents) -> dict[str, dict[str, float]]:
    """Milliseconds by kernel and graph, then by who computes it."""
    found: dict[str, dict[str, float]] = {}
    for row in rows(results, unit="ms"):
        kernel, graph = row["conditions"].get("kernel"), row["conditions"].get("graph")
        what = re.sub(", 2 workers$", "", row["what"])
        if kernel and what in ("rounds", "whole call", *LIBRARIES):
            on = "random" if graph.startswith("random") else graph
            found.setdefault(f"{kernel}, {on}", {})[what] = middle(row["value"])
    return {name: each for name, each in sorted(found.items()) if len(each) > 2}


def beside_libraries(results: Documents) -> str:
    found = by_library(results)
    wins = {
        what: sum(
            each[what] < min(each.get(name, each[what] + 1) for name in LIBRARIES)
            for each in found.values()
        )
        for what in ("rounds", "whole call")
    }
    return (
        f"In {wins['rounds']} of {len(found)} cases the rounds of dgsuite take less time than the "
        "fastest of the libraries; "
        f"in {wins['whole call']} the whole call does so, too."
    )


@styled
def draw_libraries(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    found = dict(reversed(by_library(results).items()))
    figure, panel = plt.subplots(figsize=(7, 1.2 + 0.27 * len(found)))
    names = {"rounds": f"{OURS}, rounds", "whole call": f"{OURS}, whole call", **LIBRARIES}
    for number, (what, name) in enumerate(names.items()):
        points = [(each[what], y) for y, each in enumerate(found.values()) if what in each]
        ours = what not in LIBRARIES
        panel.plot(
            *zip(*points, strict=True),
            "o" if ours else MARKERS[number - 2],
            color="C1" if ours else COLORS[what],
            markerfacecolor="none" if what == "whole call" else None,
            markersize=7 if ours else 5,
            linestyle="",
            label=name,
        )
    lined(panel, list(found), "milliseconds; left is faster")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def over_gap(results: Documents) -> list[tuple[str, str, str, float]]:
    """Kernel, graph, who, and the time over that of GAP's own program."""
    found = []
    for result in results.values():
        times: dict[tuple[str, str], dict[str, float]] = {}
        for row in rows({"": result}, unit="ms"):
            on = (row["conditions"].get("kernel", ""), row["conditions"]["graph"])
            times.setdefault(on, {})[row["what"]] = middle(row["value"])
        for (kernel, graph), each in times.items():
            found += [
                (kernel, graph, who, time / each["GAP"])
                for who, time in each.items()
                if who != "GAP" and "GAP" in each
            ]
    return found


def beside_gap(results: Documents) -> str:
    ours = [each for each in over_gap(results) if each[2] == "ours"]
    kernel, graph, _, most = max(ours, key=lambda each: each[3])
    least = min(each[3] for each in ours)
    return (
        f"dgsuite is faster than GAP's own C++ in {sum(each[3] < 1 for each in ours)} of {len(ours)} "
        f"measurements. It takes between {least:.2g} and {most:.3g} times as long; the worst is "
        f"`{kernel}` on `{graph}`."
    )


@styled
def draw_gap(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    found = over_gap(results)
    kernels, graphs = (list(dict.fromkeys(each[k] for each in found)) for k in (0, 1))
    figure, panels = plt.subplots(2, 3, figsize=(8, 4.4), sharex=True, sharey=True)
    for panel, kernel in zip(panels.flat, kernels, strict=True):
        for number, (who, name) in enumerate({"ours": OURS, **LIBRARIES}.items()):
            points = [
                (x, graphs.index(graph)) for k, graph, w, x in found if (k, w) == (kernel, who)
            ]
            panel.plot(
                *zip(*points, strict=True) if points else ([], []),
                "o" if who == "ours" else MARKERS[number - 1],
                color="C1" if who == "ours" else COLORS[who],
                markersize=7 if who == "ours" else 5,
                linestyle="",
                label=name,
            )
        panel.axvline(1, color="0.4")
        lined(panel, graphs, "")
        panel.set_title(kernel)
    panels[1][1].set_xlabel("time over that of GAP's C++ (line: the same); left is faster")
    handles, names = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def of_networkx(results: Documents) -> str:
    times = by_function(results)
    first = sum(each["first"] < each["networkx"] for each in times.values())
    again = [each["networkx"] / each["again"] for each in times.values()]
    return (
        f"The first call converts the graph, and is faster than networkx for {first} of {len(times)} "
        "functions. Later calls "
        f"are {min(again):.2g} to {max(again):.2g} times as fast as networkx."
    )


def by_function(results: Documents) -> dict[str, dict[str, float]]:
    """Milliseconds by function, then by way."""
    found: dict[str, dict[str, float]] = {}
    for row in rows(results, unit="ms"):
        found.setdefault(row["conditions"]["function"], {})[row["what"]] = middle(row["value"])
    return found


@styled
def draw_networkx(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    times = dict(sorted(by_function(results).items(), reverse=True))
    figure, panel = plt.subplots(figsize=(7, 1.2 + 0.27 * len(times)))
    ways = {"networkx": "networkx", "first": f"{OURS}, first call", "again": f"{OURS}, later calls"}
    for (way, name), color in zip(ways.items(), ("C0", "C1", "C1"), strict=True):
        panel.plot(
            [each[way] for each in times.values()],
            range(len(times)),
            "s" if way == "networkx" else "o",
            color=color,
            markerfacecolor="none" if way == "first" else None,
            markersize=6,
            linestyle="",
            label=name,
        )
    lined(panel, list(times), "milliseconds; left is faster")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


WAYS = {"two workers": OURS + ", two workers", "one process": "pandas and igraph, one process"}


def of_tables(results: Documents) -> str:
    time, peak = (whole(results, what) for what in ("time", "peak of all processes"))
    return (
        f"{WAYS['two workers']}: {time['two workers']:.3g} s and {peak['two workers'] / 1e3:.2g} GB. "
        f"{WAYS['one process']}: {time['one process']:.3g} s and {peak['one process'] / 1e3:.2g} GB."
    )


def whole(results: Documents, what: str) -> dict[str, float]:
    """A figure of the whole way, by who goes it."""
    return {
        row["conditions"]["who"]: middle(row["value"])
        for row in rows(results, what)
        if "step" not in row["conditions"]
    }


@styled
def draw_tables(results: Documents) -> Figure:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 1.9), sharey=True)
    steps: dict[str, dict[str, float]] = {}
    for row in rows(results, "time"):
        if "step" in row["conditions"]:
            on = row["conditions"]
            steps.setdefault(on["step"], {})[WAYS[on["who"]]] = middle(row["value"])
    left = dict.fromkeys(WAYS.values(), 0.0)
    for step, times in steps.items():
        panels[0].barh(
            list(times), list(times.values()), left=[left[who] for who in times], label=step
        )
        left = {who: left[who] + times[who] for who in left}
    peaks = {WAYS[who]: mb / 1e3 for who, mb in whole(results, "peak of all processes").items()}
    panels[1].barh(list(peaks), list(peaks.values()), color="0.6")
    panels[0].invert_yaxis()
    panels[0].set_xlabel("seconds, by step")
    panels[1].set_xlabel("GB, most at once, all processes")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure
