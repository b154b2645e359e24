"""The command line of Graph500. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError

if TYPE_CHECKING:
    from dgsuite.graph500.options import Options


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from dgsuite.graph500.options import COMPARED
    from dgsuite.suites.options import add_config, add_json, add_place

    p = argparse.ArgumentParser(
        prog="python -m dgsuite.graph500",
        description="Graph500 on Dask: build a Kronecker graph of 2^SCALE nodes, search it from "
        "random roots, validate every tree, and report as the specification asks.",
        argument_default=argparse.SUPPRESS,
    )
    add_config(p, "graph500")
    p.add_argument("--scale", type=int, help="logarithm of the number of nodes")
    p.add_argument("--kernel", choices=["bfs", "sssp"], help="default: bfs")
    add_place(p)
    p.add_argument(
        "--partition", choices=["1d", "2d"], help="how edges are dealt to clusters (default: 1d)"
    )
    p.add_argument(
        "--grid",
        metavar="RxC",
        help="shape of the grid (2d; default: two by two or more, near-square)",
    )
    p.add_argument(
        "--direction",
        choices=["optimising", "top-down"],
        help="default: optimising with 1d, top-down with 2d, which has no other",
    )
    p.add_argument("--roots", type=int, help="searches (default: 64)")
    p.add_argument("--root", type=int, help="search from this node alone")
    p.add_argument("--seed", type=int, help="of the graph and the roots (default: 101)")
    p.add_argument("--compare", metavar="PEERS", help=f"of {', '.join(COMPARED)}")
    p.add_argument(
        "--no-validate", dest="validate", action="store_false", help="do not check the trees"
    )
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
        from dgsuite.graph500.report import report

        print(report(figures))
    return 0


def _options(path: str | None, flags: dict[str, Any]) -> Options:
    """The file's options under those of the command line."""
    from dgsuite.experiment import toml
    from dgsuite.graph500.options import COMPARED, File
    from dgsuite.suites.options import check_counts, check_names, names, read

    check_counts(flags, "workers", "threads", "roots")
    if "compare" in flags:
        flags["compare"] = names(flags["compare"])
        check_names("--compare", flags["compare"], COMPARED)
    data = read("graph500", path, flags)
    if path is None and "scale" not in flags:
        raise InputError("--scale is missing, and so is a file that has it")
    return toml.checked(File, data, path or "command line").graph500


def _run(asked: Options) -> dict[str, Any]:
    from dgsuite.graph500.options import grid, resolve

    options = resolve(asked)

    from dgsuite.graph500 import problem, report, search
    from dgsuite.suites import running
    from partition.client.workers import worker_addresses

    with running.cluster(options) as client:
        workers = len(worker_addresses(client))
        shape = grid(options, workers)
        weighted = options.kernel == "sssp"
        made = problem.build(options.scale, client, options.seed, shape, weighted)
        if options.root is None:
            roots = problem.choose_roots(made, options.roots, options.seed)
        else:
            roots = [options.root]
        peers = search.make_peers(options.compare, made.graph)
        bar = iter(running.tracked(roots, "searching", len(roots)))
        found = search.search(
            made,
            roots,
            client,
            kernel=options.kernel,
            direction=options.direction,
            check=options.validate_trees,
            peers=peers,
            on_root=lambda done: next(bar, None),
        )
    return report.summary(made, found, options, workers)


if __name__ == "__main__":
    main.run()
