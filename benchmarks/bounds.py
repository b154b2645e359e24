"""Phases and messages beside IMSuite's Figure 2 and the bounds of what runs here, as exponents of n.

python benchmarks/bounds.py

Each kernel runs serially on sparse random graphs (IMSuite's SP-Max; trees, rings) of 64 to 65,536
nodes, to 1,024 where it sends n^2 messages or more. An exponent is the slope of the line through
log(value) over log(n); a bound's is that of its formula on the same graphs, where D is the root's
eccentricity, d the largest degree and m the number of edges. Those of Figure 2 are claims
(`imsuite.fig2.complexity`); what runs here is in part another algorithm, with a bound of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from typing import Any, NamedTuple

import numpy as np
from common import Options, record


class Facts(NamedTuple):
    """Of a graph."""

    n: int
    m: int
    D: int
    d: int


Formula = Callable[[Facts], float]


class Bound(NamedTuple):
    """How a kernel's phases and messages may grow."""

    kernel: str
    kind: str
    phases: str
    messages: str
    options: dict[str, Any] = {}
    largest: int = 1 << 16


BOUNDS = [
    Bound("bf", "spmax", "D", "m"),
    Bound("dst", "spmax", "D * D", "m + n * D"),
    Bound("by", "spmax", "n * D", "n * n * m", {"faithful": True}, 1 << 10),
    Bound("dr", "spmax", "1", "n * n", {}, 1 << 10),
    Bound("ds", "spmax", "log(n) * log(d)", "m * log(n) * log(d)"),
    Bound("kc", "spmax", "1", "m", {"k": 3}),
    Bound("dp", "spmax", "D", "D * m"),
    Bound("hs", "ring", "n", "n * log(n)", {"faithful": True}),
    Bound("lcr", "ring", "n", "n * n", {"faithful": True}, 1 << 10),
    Bound("mis", "spmax", "log(n)", "m * log(n)"),
    Bound("mst", "spmax", "n * log(n)", "(n + m) * log(n)"),
    Bound("vc", "tree", "1", "n"),
]


def slope(sizes: list[int], values: list[float]) -> float:
    """Exponent of n."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1)), 1)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--largest", 1 << 16, 256, help="nodes")
    with options.recorded(arguments) as given:
        from dgsuite.studies.report.claims.data import claims

        figure_2 = claims()["imsuite.fig2.complexity"].table()
        for bound in BOUNDS:
            measure(bound, min(bound.largest, given.largest), figure_2[bound.kernel])


def measure(bound: Bound, largest: int, printed: dict[str, str]) -> None:
    """Run a kernel on growing graphs, and note how it and its bounds grow.

    Parameters
    ----------
    printed
        Formulas of Figure 2.
    """
    import dgsuite
    from dgsuite import genval
    from dgsuite.studies.report.claims import formulas

    phases, messages, facts = [], [], []
    n = 64
    while n <= largest:
        weights = {"mst": True, "dr": 20 * n}.get(bound.kernel, False)
        graph = genval.graph(bound.kind, n, weights=weights)
        ds = dgsuite.run(
            bound.kernel, graph, style="serial", count_as="finish_async", **bound.options
        )
        report = genval.validate(bound.kernel, graph, ds)
        assert report.ok, report
        far = int(dgsuite.run("bf", graph, style="serial").distance.max())
        degree = int(np.diff(graph.to_scipy().indptr).max())
        phases.append(int(ds.finishes.sum()))
        messages.append(int(ds.messages.sum()))
        facts.append(Facts(graph.n, graph.m, far, degree))
        n *= 2 if bound.largest <= 1 << 10 else 4
    sizes = [f.n for f in facts]
    for what, values, formula, paper in (
        ("phases", phases, bound.phases, printed["time"]),
        ("messages", messages, bound.messages, printed["messages"]),
    ):
        on = {"kernel": bound.kernel, "of": what, "bound": formula}
        record("at 64", values[0], "", **on)
        record("at the largest", values[-1], "", **on)
        record("power of n", slope(sizes, values), "", **on)
        expected = [eval(formula, {"log": log2, **f._asdict()}) for f in facts]
        record("bound's power", slope(sizes, expected), "", **on)
        letters = [formulas.Letters(*f, K=3) for f in facts]
        figure_2 = [formulas.value(paper, some) for some in letters]
        record("Figure 2's power", slope(sizes, figure_2), "", **on)


if __name__ == "__main__":
    main()
