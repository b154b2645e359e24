"""One experiment by two means of throttling: dgsuite's own, and Linux's tc on links of namespaces.

python benchmarks/throttle_means.py [--workers 2 3 4 5 6] [--percent 20 30 40 60 80 100]

Times are as elapsed: also where there are more workers than processors, since transfer is most of them. The
kernel's means need root and iproute2, and are left out where they are not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from common import ROOT, Options, record, skip

if TYPE_CHECKING:
    from dgsuite.studies.scaling.analysis import Analysis

CONFIG = ROOT / "configs" / "scalability-means.toml"


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--workers", (2, 3, 4, 5, 6), (2, 3), type=int, nargs="+")
    options.size("--percent", (20, 30, 40, 60, 80, 100), (50, 100), type=float, nargs="+")
    options.size("--nodes", 1 << 18, 1 << 12)
    options.size("--repeats", 3, 1)
    with options.recorded(arguments) as given, tempfile.TemporaryDirectory() as folder:
        both(given, Path(folder))


def both(given: argparse.Namespace, folder: Path) -> None:
    """The experiment by each of the means, and one beside the other."""
    from dgsuite.studies.experiment import namespaces
    from dgsuite.studies.transports.throttle import make

    found: dict[str, Analysis] = {}
    for means in ("protocol", "tc"):
        if means == "tc" and (why := namespaces.missing(make("1 MB"))):
            skip("tc", why)
            continue
        found[means] = analysed(given, means, folder / f"{means}.nc")
        told(found[means], means)
    if "tc" in found:
        ours, kernel = (one.runs.seconds.median("repeat") for one in found.values())
        for p in ours.p.values:
            ratios = (kernel / ours).sel(p=p).values.tolist()
            record("tc over protocol, all bandwidths", ratios, "x", workers=int(p))


def analysed(given: argparse.Namespace, means: str, path: Path) -> Analysis:
    """What the experiment finds."""
    import dgsuite
    from dgsuite.__main__ import main as command
    from dgsuite.studies.experiment.load import load
    from dgsuite.studies.scaling.analysis import analyse, split

    values = {
        "throttle.means": means,
        "cluster.workers": [*given.workers],
        "throttle.percent": [float(x) for x in given.percent],
        "run.0.n": given.nodes,
        "experiment.repeats": given.repeats,
    }
    given_values = [word for name, v in values.items() for word in ("--set", f"{name}={v}")]
    if command(["run", str(CONFIG), *given_values, "--output", str(path), "-q"]):
        sys.exit(f"the experiment failed by {means}")
    settings = load(str(CONFIG), [])[0].scaling
    return analyse(split(dgsuite.open(path)), processors=max(given.workers), settings=settings)


def told(found: Analysis, means: str) -> None:
    """Times, the fit and the demand."""
    for p in found.runs.p.values:
        for percent in found.runs.bandwidth.values:
            seconds = found.runs.seconds.sel(p=p, bandwidth=percent).values.tolist()
            on = {"workers": int(p), "per cent": float(percent)}
            record(f"completion time, {means}", seconds, "s", **on)
    if (model := found.chosen) is not None:
        record(f"R^2, {means}", model.r2_, "")
        for term, (low, high) in model.coef_interval().items():
            between = {"95 % from": low, "to": high}
            record(
                f"coefficient, {means}", float(model.coef_[term]), "s", term=term, detail=between
            )
    if found.demand is not None:
        record(f"demand constant, {means}", float(found.demand.demand_constant_), "")


if __name__ == "__main__":
    main()
