"""Strike amid runs of Dask's commands, and print what came of it; the status is 1 if a trial went wrong.

    python -m tests.faults.commands --trials 300 --seed 1

Where there may be network namespaces, each process is on a host of its own, so that links can be cut. With
--one-host all are on this host, and workers share memory.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from contextlib import ExitStack

from tests.faults.cluster import WORKERS, Cluster
from tests.faults.trials import HOWS, STYLES, TIMEOUT, field
from tests.support.hosts import Hosts, missing


def main() -> int:
    """Run the command line; returns the exit status."""
    p = argparse.ArgumentParser(prog="python -m tests.faults.commands", description=__doc__)
    p.add_argument("--trials", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--style", choices=STYLES)
    p.add_argument("--how", choices=HOWS, help="what is struck; by default all")
    p.add_argument("--tries", type=int, default=3, help="how often a run is begun again; 0: never")
    p.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds of dgsuite.timeout")
    p.add_argument("--one-host", action="store_true", help="workers share memory; no link is cut")
    options = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and end what has been started
    rng = random.Random(options.seed)
    outcomes: Counter[tuple[str, str, str, str]] = Counter()
    longest: Counter[tuple[str, str, str, str]] = Counter()
    wrong = 0
    with ExitStack() as stack:
        cluster = None
        if why := "--one-host" if options.one_host else missing():
            print(f"no links are cut: {why}")
        else:
            network = stack.enter_context(Hosts(WORKERS + 1))
            stack.enter_context(network.entered(0))
            hosts = range(WORKERS + 1)
            cluster = Cluster(
                [network.space(k) for k in hosts], [f"10.77.0.{k + 1}" for k in hosts]
            )
        there = stack.enter_context(field(options.tries, cluster, options.timeout))
        for number in range(options.trials):
            trial = there.draw(rng, options.how, options.style)
            outcome, seconds = there.attempt(trial)
            short = outcome if outcome in ("same", "error") else "wrong"
            key = (trial.form, trial.style, trial.how, short)
            outcomes[key] += 1
            longest[key] = max(longest[key], seconds)
            wrong += short == "wrong"
            print(f"{number}: {outcome} after {seconds:.1f} s: {trial}", flush=True)
    print(f"{'form':10} {'style':13} {'fault':10} {'outcome':8} trials  longest (s)")
    for key in sorted(outcomes):
        print("{:10} {:13} {:10} {:8}".format(*key), f"{outcomes[key]:6d}  {longest[key]:11.1f}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
