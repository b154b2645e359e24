"""Graph500 searches beside other libraries, taking turns on the same graph and roots.

python benchmarks/bfs_peers.py [--scales 16,18,20,22] [--roots 64]
python benchmarks/bfs_peers.py --turns 5      # scales, and one worker and two, in turns
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from common import ROOT, Options, record

BOUNDS = {18: {"scipy": 0.6}, 20: {"scipy": 0.25, "graphblas": 1.0, "networkit": 0.1}}
"""Our median over a peer's, at most."""

FORMS = {
    "1-D": ["--direction", "top-down"],
    "2-D, 2 x 1": ["--partition", "2d", "--grid", "2x1"],
    "2-D, 2 x 2": ["--partition", "2d"],
}
"""Top-down searches, and their options."""


def graph500(scale: int, roots: int, *more: str) -> dict[str, Any]:
    """Figures of a run of Graph500, in a process of its own."""
    command = [sys.executable, "-m", "dgsuite", "graph500", "--scale", str(scale), "--json"]
    command += ["--roots", str(roots), "--no-validate", *more]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(found.stdout)
    return figures


def in_turns(scales: list[int], roots: int, turns: int) -> None:
    """Ratios of runs that take turns, without peers: a processor's speed may change meanwhile."""
    shares, speedups = [], []
    times: dict[int, list[float]] = {scale: [] for scale in scales}
    middle = 20 if 20 in scales else scales[-1]
    for turn in range(turns):
        order = scales if turn % 2 else scales[::-1]
        found = {scale: graph500(scale, roots) for scale in order}
        for scale in scales:
            times[scale].append(1e3 * found[scale]["median_seconds"])
        teps = [found[scale]["teps"]["median"] for scale in scales]
        shares.append(min(teps) / max(teps))
        one = graph500(middle, roots, "--workers", "1")
        speedups.append(one["median_seconds"] / found[middle]["median_seconds"])
    for scale, some in times.items():
        record("median", some, "ms", scale=scale)
    least = 0.6 if len(scales) > 1 else None
    record("TEPS of the worst scale", shares, "x", least=least, peer="the best scale")
    record("one worker", speedups, "x", least=1.4, peer="two workers", scale=middle)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scales", "16,18,20,22", "8")
    options.size("--roots", 64, 4)
    options.size("--peers", "scipy,graphblas,networkit", "scipy")
    options.size("--forms", [*FORMS], ["2-D, 2 x 2"], nargs="*", choices=FORMS, help="top-down")
    options.add_argument("--turns", type=int, default=0)
    with options.recorded(arguments) as given:
        scales = [*map(int, given.scales.split(","))]
        if given.turns:
            in_turns(scales, given.roots, given.turns)
        else:
            beside_peers(scales, given.roots, given.peers, given.forms)


def beside_peers(scales: list[int], roots: int, peers: str, forms: list[str]) -> None:
    """Ours and peers in turns, on scales up to 20; on the largest of them, forms of top-down search."""
    for scale in scales:
        on = {"scale": scale}
        two = graph500(scale, roots, "--compare", peers if scale <= 20 else "")
        bound = 8 if scale == 20 else None
        record("median", 1e3 * two["median_seconds"], "ms", **on)
        record("harmonic mean", two["harmonic_mean_teps"] / 1e6, "MTEPS", **on)
        record("construction", two["construction_seconds"], "s", most=bound, **on)
        for name, peer in two["compare"].items():
            ratio = two["median_seconds"] / peer["median_seconds"]
            bound = BOUNDS.get(scale, {}).get(name)
            record(f"median of {name}", 1e3 * peer["median_seconds"], "ms", **on)
            record("median", ratio, "x", most=bound, peer=name, **on)
    scale = 20 if 20 in scales else scales[-1]
    for form in forms:
        down = graph500(scale, min(24, roots), *FORMS[form], "--compare", "scipy")
        ratio = down["median_seconds"] / down["compare"]["scipy"]["median_seconds"]
        record("median", ratio, "x", most=1.0, peer="scipy", scale=scale, form=f"top-down, {form}")


if __name__ == "__main__":
    main()
