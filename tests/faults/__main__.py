"""Make trials that are drawn from seeds, each twice, and print what came of them.

    python -m tests.faults --seed 35
    python -m tests.faults --block 5 --count 100

The first replays one seed. The second makes seeds of a block: those that are 5 modulo the number of blocks,
which have the same style, all or none with nannies. The status is 1 if a trial went wrong, or ended in
another way when the same faults had struck again.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.simulation import BLOCKS, Simulation
from tests.support.warm import warm


def main() -> int:
    """Run the command line; returns the exit status."""
    p = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--seed", type=int, help="the one to make")
    what.add_argument("--block", type=int, choices=range(BLOCKS), help="whose seeds are made")
    p.add_argument("--count", type=int, default=20, help="how many seeds of the block")
    p.add_argument("--first", type=int, default=0, help="number of the first of them in the block")
    p.add_argument("--once", action="store_true", help="make each trial once")
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end what has been started
    warm()
    seeds = [options.seed]
    if options.seed is None:
        seeds = [options.block + BLOCKS * (options.first + i) for i in range(options.count)]
    ends: Counter[tuple[str, ...]] = Counter()
    slowest: dict[tuple[str, ...], float] = {}
    failures = 0
    with tempfile.TemporaryDirectory() as folder, Simulation(Path(folder)) as simulation:
        for seed in seeds:
            for trial, end in simulation.make(seed):
                failure = end.wrong if options.once else simulation.fault_of(trial, end)
                failures += bool(failure)
                print(
                    f"{seed}: {', '.join(end.stages)} after {end.seconds:.1f} s: {trial}",
                    flush=True,
                )
                if failure:
                    print(f"{seed}: WRONG: {failure}", flush=True)
                losses = len(trial.lossy(list(end.struck)))
                nannies = "nannies" if trial.scenario.nannies else "no nannies"
                last = "wrong" if failure else end.stages[-1]
                key = trial.scenario.style, trial.scenario.source, nannies, f"{losses} lost", last
                ends[key] += 1
                slowest[key] = max(slowest.get(key, 0.0), end.seconds)
        print(f"{'style':13} {'graph':7} {'':11} {'':7} {'end':12} trials  slowest (s)")
        for key in sorted(ends):
            print(
                "{:13} {:7} {:11} {:7} {:12}".format(*key), f"{ends[key]:6d}  {slowest[key]:11.1f}"
            )
        print("hook                kind    struck  did not strike")
        for kind, hook in sorted({*simulation.struck, *simulation.missed}, key=lambda k: k[::-1]):
            counts = simulation.struck[kind, hook], simulation.missed[kind, hook]
            print("{:19} {:6} {:7d} {:15d}".format(hook, kind, *counts))
        said = ", ".join(f"{count} {what}" for what, count in simulation.again.items())
        print(
            f"{sum(ends.values())} trials, {failures} wrong; struck again: {said or 'none tried'}"
        )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
