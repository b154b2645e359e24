"""How often the interval of "stop at" contains the truth: made tables whose true end is known.

python benchmarks/stop_coverage.py

Times of a known curve get normal noise in proportion to themselves, three repeats each unless said
otherwise. Of each row, truth x design x noise, 200 tables are analysed as `dgsuite scaling fit` does. A
statement with a number, or with an interval beyond what was measured, counts as covered where its interval
has the number of machines from which one more saves less than 1 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from common import Options, record
from numpy.typing import NDArray

TRUTHS: dict[str, Callable[[NDArray], NDArray]] = {
    "2 + 60/p + 8/sqrt(p)": lambda p: 2 + 60 / p + 8 / np.sqrt(p),
    "Amdahl, 5 + 95/p": lambda p: 5 + 95 / p,
    "USL, 0.02 and 0.0005": lambda p: 100 * (1 + 0.02 * (p - 1) + 0.0005 * p * (p - 1)) / p,
    "power law, 100/p^0.8": lambda p: 100 / p**0.8,
    "tree, 2 + 60/p + 0.8 log2(p)": lambda p: 2 + 60 / p + 0.8 * np.log2(p),
    "2 + 60/p + 0.002 p^2": lambda p: 2 + 60 / p + 0.002 * p**2,
    "60/p, above 8 machines 4 more": lambda p: 60 / p + 4 * (p > 8),
}
"""Seconds. The forms contain all but the last two."""

PAPER, AMDAHL, USL, POWER, TREE, SQUARE, STEP = TRUTHS
TO_16, TO_32, TO_64 = ([2**k for k in range(last + 1)] for last in (4, 5, 6))
SQUARES = [4, 9, 16, 25]


class Design(NamedTuple):
    """Tables of a row."""

    truth: str
    p: Sequence[int]
    noise: float
    repeats: int = 3
    outlier: float = 1
    """Factor of one time of each table."""

    def end(self) -> int:
        """The true number of machines from which one more saves less than 1 %."""
        p = np.arange(1.0, 10_000)
        curve = TRUTHS[self.truth]
        return int(p[np.argmax(curve(p) - curve(p + 1) < 0.01 * curve(p))])

    def table(self, seed: int) -> tuple[NDArray, NDArray]:
        """Machines and seconds of one."""
        rng = np.random.default_rng(seed)
        p = np.repeat(np.array(self.p, float), self.repeats)
        seconds = TRUTHS[self.truth](p) * (1 + self.noise * rng.standard_normal(len(p)))
        seconds[rng.integers(len(p))] *= self.outlier
        return p, seconds


DESIGNS = [
    *(Design(PAPER, p, noise) for p in (TO_32, SQUARES) for noise in (0.02, 0.05)),
    Design(PAPER, TO_32, 0.02, repeats=1),
    Design(PAPER, TO_32, 0.02, outlier=3),
    *(Design(AMDAHL, p, 0.02) for p in (TO_16, TO_32, TO_64)),
    *(Design(USL, p, noise) for p in (TO_64, TO_16) for noise in (0.02, 0.05)),
    *(Design(POWER, p, 0.02) for p in (SQUARES, TO_32, TO_64)),
    *(Design(TREE, p, 0.02) for p in (TO_16, TO_32)),
    *(Design(truth, TO_64, 0.02) for truth in (SQUARE, STEP)),
]


KINDS = ("a number", "an interval beyond")
WHATS = [what for kind in KINDS for what in (f"tables with {kind}", f"of which cover, {kind}")]


class Coverage(NamedTuple):
    """Of some tables: how many have a number, or an interval beyond; of both, how many cover the truth."""

    numbers: int
    covered: int
    beyond: int
    covered_beyond: int
    named: int
    """In how many outliers are named where there are any, and only there."""


def state(p: NDArray, seconds: NDArray) -> tuple[Any, NDArray]:
    """What `dgsuite scaling fit` says of a table, and which of its rows are outliers."""
    from dgsuite.studies.scaling.conclusion import LEVEL, where_gain_ends
    from dgsuite.studies.scaling.ends import Curve, Rows, outliers
    from dgsuite.studies.scaling.terms import MIXTURE

    rows = Rows(p, seconds)
    out = outliers(MIXTURE, rows)
    curve = Curve(MIXTURE, rows.at(~out))
    end = curve.end(0.01, None, 1, LEVEL)
    return where_gain_ends(curve, end, 0.01, (int(p.min()), int(p.max()))), out


def measure(
    design: Design, tables: int, state: Callable[..., tuple[Any, NDArray]] = state
) -> Coverage:
    """Analyse tables with seeds from 0 on."""
    truth, counts = design.end(), np.zeros(5, int)
    for seed in range(tables):
        p, seconds = design.table(seed)
        at, out = state(p, seconds)
        covered = at.low <= truth <= at.high  # no interval is NaN
        number = not at.reason
        far = seconds > 2 * TRUTHS[design.truth](p)
        beyond = at.reason.startswith("beyond") and at.high < np.inf
        counts += [number, number and covered, beyond, beyond and covered, (out == far).all()]
    return Coverage(*counts.tolist())


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Of the figures of a result, as in docs/stopping.md."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        on = row["conditions"]
        repeats = ", once" if on["repeats"] == 1 else ""
        outlier = f", one time x {on['outlier']:g}" if on["outlier"] > 1 else ""
        key = f"| {on['truth']} | {on['p']}{repeats}{outlier} | {on['noise']:.0%} | {on['end']} |"
        cells = lines.setdefault(key, [""] * 4)
        if row["what"] in WHATS:
            cells[WHATS.index(row["what"])] = f"{row['value']:g} %"
    return "\n".join(f"{key} {' | '.join(cells)} |" for key, cells in lines.items())


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--tables", 200, 2, help="of each row")
    with options.recorded(arguments) as given:
        for design in DESIGNS:
            found = measure(design, given.tables)
            on = {"truth": design.truth, "p": " ".join(map(str, design.p)), "noise": design.noise}
            on |= {"repeats": design.repeats, "outlier": design.outlier, "end": design.end()}
            counts = (found.numbers, found.covered), (found.beyond, found.covered_beyond)
            for kind, (count, covered) in zip(KINDS, counts, strict=True):
                record(f"tables with {kind}", 100 * count / given.tables, "%", **on)
                if count:
                    record(f"of which cover, {kind}", 100 * covered / count, "%", least=90, **on)
            record("outliers named right", 100 * found.named / given.tables, "%", **on)


if __name__ == "__main__":
    main()
