"""Graph500 searches beside other libraries, taking turns on the same graph and roots.

python benchmarks/bfs_peers.py [--scales 16,18,20,22] [--roots 64]
python benchmarks/bfs_peers.py --turns 5      # scales, and one worker and two, in turns
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

from common import ROOT, line

BOUNDS = {18: {"scipy": 0.6}, 20: {"scipy": 0.25, "graphblas": 1.0, "networkit": 0.1}}
"""Our median over a peer's, at most."""


def graph500(scale: int, roots: int, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "dgsuite.graph500", "--scale", str(scale), "--json"]
    command += ["--roots", str(roots), "--no-validate", *more]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(found.stdout)
    return figures


def in_turns(scales: list[int], roots: int, turns: int) -> None:
    """Print ratios of runs that take turns, without peers: a processor's speed may change meanwhile."""
    worst, speedup = [], []
    for turn in range(turns):
        order = scales if turn % 2 else scales[::-1]
        found = {scale: graph500(scale, roots) for scale in order}
        teps = [found[scale]["teps"]["median"] for scale in scales]
        one = graph500(20, roots, "--workers", "1")
        two = found[20] if 20 in found else graph500(20, roots)
        worst.append(max(teps) / min(teps))
        speedup.append(one["median_seconds"] / two["median_seconds"])
        print(
            *(f"{n}: {1e3 * found[n]['median_seconds']:.2f} ms" for n in scales),
            f"worst scale's TEPS over the best's {1 / worst[-1]:.2f}",
            f"1 worker over 2 {speedup[-1]:.2f}",
            sep="   ",
            flush=True,
        )
    line("best scale's TEPS over the worst's, median", statistics.median(worst), "x", 1 / 0.6)
    line("1 worker over 2 at scale 20, median (1.4 or more)", statistics.median(speedup), "x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scales", default="16,18,20,22")
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--turns", type=int, default=0)
    given = parser.parse_args()
    if given.turns:
        in_turns([*map(int, given.scales.split(","))], given.roots, given.turns)
        return
    for scale in map(int, given.scales.split(",")):
        peers = "scipy,graphblas,networkit" if scale <= 20 else ""
        two = graph500(scale, given.roots, "--compare", peers)
        line(f"scale {scale}: median", 1e3 * two["median_seconds"], "ms")
        line(f"scale {scale}: harmonic mean", two["harmonic_mean_teps"] / 1e6, "MTEPS")
        line(f"scale {scale}: construction", two["construction_seconds"], "s")
        for name, peer in two["compare"].items():
            ratio = two["median_seconds"] / peer["median_seconds"]
            median = 1e3 * peer["median_seconds"]
            line(f"  over {name}'s {median:.1f} ms", ratio, "x", BOUNDS.get(scale, {}).get(name))
        if scale == 20:
            for what in (
                ["--direction", "top-down"],
                ["--partition", "2d", "--grid", "2x1"],
                ["--partition", "2d"],
            ):
                down = graph500(scale, 24, *what, "--compare", "scipy")
                ratio = down["median_seconds"] / down["compare"]["scipy"]["median_seconds"]
                line(f"  top-down, {' '.join(what[1:])}, over scipy", ratio, "x", 1.0)


if __name__ == "__main__":
    main()
