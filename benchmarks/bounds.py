"""Phases and messages beside IMSuite's Figure 2 and the bounds of what runs here, as exponents of n.

python benchmarks/bounds.py

Each kernel runs serially on sparse random graphs (IMSuite's SP-Max; trees, rings) of 64 to 65,536
nodes, to 1,024 where it sends n^2 messages or more. An exponent is the slope of the line through
log(value) over log(n); a bound's is that of its formula on the same graphs, where D is the root's
eccentricity, d the largest degree and m the number of edges. Those of Figure 2 are claims
(`imsuite.fig2.complexity`); what runs here is in part another algorithm, with a bound of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any, NamedTuple

import common  # noqa: F401
import numpy as np


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
    Bound("hs", "ring", "n", "n * log(n)"),
    Bound("lcr", "ring", "n", "n * n", {}, 1 << 10),
    Bound("mis", "spmax", "log(n)", "m * log(n)"),
    Bound("mst", "spmax", "n * log(n)", "(n + m) * log(n)"),
    Bound("vc", "tree", "1", "n"),
]


def slope(sizes: list[int], values: list[float]) -> float:
    """Exponent of n."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1)), 1)[0])


def main() -> None:
    import dgsuite
    import genval
    from dgsuite.report.claims import formulas
    from dgsuite.report.claims.data import claims

    figure_2 = claims()["imsuite.fig2.complexity"].table()
    print(f"{'':6}{'phases':>44}{'':4}{'messages':>48}")
    print(f"{'':6}{'at 64':>9}{'largest':>9}{'n^':>6}{'bound n^':>10}{'Figure 2':>10}", end="    ")
    print(f"{'at 64':>11}{'largest':>11}{'n^':>6}{'bound n^':>10}{'Figure 2':>10}   bounds")
    for bound in BOUNDS:
        sizes, phases, messages, facts = [], [], [], []
        n = 64
        while n <= bound.largest:
            weights = {"mst": True, "dr": 20 * n}.get(bound.kernel, False)
            graph = genval.graph(bound.kind, n, weights=weights)
            ds = dgsuite.run(
                bound.kernel, graph, style="serial", count_as="finish_async", **bound.options
            )
            report = genval.validate(bound.kernel, graph, ds)
            assert report.ok, report
            far = int(dgsuite.run("bf", graph, style="serial").distance.max())
            degree = int(np.diff(graph.to_scipy().indptr).max())
            sizes.append(n)
            phases.append(float(ds.finishes.sum()))
            messages.append(float(ds.messages.sum()))
            facts.append(Facts(graph.n, graph.m, far, degree))
            n *= 2 if bound.largest <= 1 << 10 else 4
        expected = [
            slope(sizes, [eval(text, {"log": log2, **f._asdict()}) for f in facts])
            for text in (bound.phases, bound.messages)
        ]
        printed = [
            slope(sizes, [formulas.value(text, formulas.Letters(*f, K=3)) for f in facts])
            for text in (figure_2[bound.kernel]["time"], figure_2[bound.kernel]["messages"])
        ]
        print(
            f"{bound.kernel:6}{phases[0]:9.0f}{phases[-1]:9.0f}{slope(sizes, phases):6.2f}"
            f"{expected[0]:10.2f}{printed[0]:10.2f}    {messages[0]:11.4g}{messages[-1]:11.4g}"
            f"{slope(sizes, messages):6.2f}{expected[1]:10.2f}{printed[1]:10.2f}"
            f"   {bound.phases}; {bound.messages}",
            flush=True,
        )


if __name__ == "__main__":
    main()
