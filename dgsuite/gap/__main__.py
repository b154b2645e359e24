"""The command line of GAP. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command

if TYPE_CHECKING:
    from dgsuite.gap.options import Options


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from dgsuite.gap.plan import BENCHMARKS
    from dgsuite.suites.options import add_config, add_json, add_place

    p = argparse.ArgumentParser(
        prog="python -m dgsuite.gap",
        description="The GAP Benchmark Suite on Dask: kernels on a Kronecker graph, a uniform random "
        "graph or any file, with GAP's trials and sources.",
        argument_default=argparse.SUPPRESS,
    )
    add_config(p, "gap")
    p.add_argument("--kernels", metavar="LIST", help=f"of {','.join(BENCHMARKS)} (default: all)")
    p.add_argument("--kron", type=int, metavar="SCALE", help="Kronecker graph with 2^SCALE nodes")
    p.add_argument(
        "--urand", type=int, metavar="SCALE", help="uniform random graph with 2^SCALE nodes"
    )
    p.add_argument(
        "--file", metavar="PATH", help="edge list (text, Parquet) or Matrix Market file (.mtx)"
    )
    p.add_argument("--degree", type=int, help="edges per node of a generated graph (default: 16)")
    p.add_argument("--directed", action="store_true", help="edges of the file have a direction")
    p.add_argument("--relabel", action="store_true", help="nodes of the file are any identifiers")
    p.add_argument("--trials", type=int, help="of each kernel (default: as many as GAP makes)")
    p.add_argument("--seed", type=int, help="of the graph, weights and sources (default: 101)")
    p.add_argument("--validate", action="store_true", help="check the output of every trial")
    p.add_argument("-o", "--output", metavar="FILE.nc", help="default: results/gap-GRAPH.nc")
    add_place(p)
    add_json(p)
    return p


@Command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = vars(parser().parse_args(arguments))
    as_json = given.pop("json")
    figures = _run(_options(given.pop("config"), given))
    if as_json:
        print(json.dumps(figures))
    else:
        from dgsuite.gap.report import report

        print(report(figures))
        print(figures["output"])
    return 0


def _options(path: str | None, flags: dict[str, Any]) -> Options:
    """The file's options under those of the command line."""
    from dgsuite.experiment import toml
    from dgsuite.gap.options import File, check
    from dgsuite.suites.options import check_counts, names, read

    check_counts(flags, "workers", "threads", "trials", "degree")
    if "kernels" in flags:
        flags["kernels"] = names(flags["kernels"])
    options = toml.checked(File, read("gap", path, flags), path or "command line").gap
    check(options)
    return options


def _run(options: Options) -> dict[str, Any]:
    import time

    from dgsuite.gap import graphs, report, trials
    from dgsuite.suites import results, running
    from partition.client.workers import worker_addresses
    from partition.files import output

    path = output(options.output, f"gap-{graphs.name(options)}")
    with running.cluster(options) as client:
        begin = time.perf_counter()
        graph = graphs.make(options, client)
        construction = time.perf_counter() - begin
        picked = trials.pick(graph, options)
        total = sum(len(each) for each in trials.plans(picked, options).values())
        runs = trials.run(graph, picked, options, client)
        found = dict(running.tracked(runs, "trials", total))
        figures = {
            "graph": graphs.name(options),
            **report.summary(graph, found),
            "workers": len(worker_addresses(client)),
            "construction_seconds": construction,
            "output": path,
        }
        results.save(report.dataset(figures, found), path, client)
    return figures


if __name__ == "__main__":
    main.run()
