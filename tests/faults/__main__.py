"""Make trials that are drawn from seeds, and print what came of them.

    python -m tests.faults --seed 35
    python -m tests.faults --seed 5 --step 10 --count 100

The first replays one seed. The second makes 100 seeds of block 5: those that are 5 modulo the number of
blocks, which have the same style, all or none with nannies. The status is 1 if a trial went wrong.
"""

import argparse
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.simulation import End, Simulation, Trial
from tests.support.warm import warm


def kind(trial: Trial, end: End) -> str:
    """What was done, how many processes were lost, and how the trial ended."""
    scenario = trial.scenario
    nannies = "nannies" if scenario.nannies else "no nannies"
    ended = next((stage for stage in end.stages if stage != "right"), "right")
    what = [scenario.style, scenario.source, nannies, f"{len(trial.lossy(end.struck))} lost"]
    return ", ".join([*what, "wrong" if end.wrong else ended])


def show(simulation: Simulation, ends: Counter[str], failures: int) -> None:
    """Print how trials have ended, and what has struck where."""
    for what, count in sorted(ends.items()):
        print(f"{what}: {count} trials")
    for kind, hook in sorted(+simulation.struck, key=lambda each: each[::-1]):
        print(f"{hook:19} {kind:6} {simulation.struck[kind, hook]:7d} struck")
    print(f"{ends.total()} trials, {failures} wrong", flush=True)


def main() -> int:
    """Run the command line; returns the exit status."""
    p = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--seed", type=int, required=True, help="the first one")
    p.add_argument("--count", type=int, default=1, help="how many seeds are made")
    p.add_argument("--step", type=int, default=1, help="from each seed to the next")
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end what has been started
    warm()
    ends, failures = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder, Simulation(Path(folder)) as simulation:
        try:
            for seed in range(options.seed, sys.maxsize, options.step)[: options.count]:
                for trial, end in simulation.make(seed):
                    failures += bool(end.wrong)
                    stages = ", ".join(end.stages)
                    print(f"{seed}: {stages} after {end.seconds:.1f} s: {trial}", flush=True)
                    if end.wrong:
                        print(f"{seed}: WRONG: {end.wrong}", flush=True)
                    ends[kind(trial, end)] += 1
        finally:
            show(simulation, ends, failures)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
