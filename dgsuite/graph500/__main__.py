"""The command line of Graph500. Heavy imports come late, so that ``--help`` takes no time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from partition.command import Command
from partition.errors import InputError

if TYPE_CHECKING:
    from dgsuite.graph500.options import Options


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from dgsuite.graph500.options import COMPARED

    p = argparse.ArgumentParser(
        prog="python -m dgsuite.graph500",
        description="Graph500 on Dask: build a Kronecker graph of 2^SCALE nodes, search it from "
        "random roots, validate every tree, and report as the specification asks.",
        argument_default=argparse.SUPPRESS,
    )
    p.add_argument(
        "config",
        nargs="?",
        metavar="CONFIG.toml",
        default=None,
        help="a file whose table [graph500] has the options below; what is given here overrides it",
    )
    p.add_argument("--scale", type=int, help="logarithm of the number of nodes")
    p.add_argument("--kernel", choices=["bfs", "sssp"], help="default: bfs")
    p.add_argument("--workers", type=int, help="worker processes (default: 2)")
    p.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster at this address")
    p.add_argument(
        "--protocol",
        metavar="SCHEME",
        help="transport between workers (default: mpb, shared memory, on Linux; else tcp)",
    )
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
    p.add_argument("--json", action="store_true", default=False, help="print one JSON object")
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

    for name in ("workers", "roots"):
        if flags.get(name, 1) < 1:
            raise InputError(f"--{name} must be at least 1, got {flags[name]}")
    if "compare" in flags:
        flags["compare"] = [name for name in flags["compare"].split(",") if name]
        for name in flags["compare"]:
            if name not in COMPARED:
                raise InputError(f"--compare {name}: unknown peer; one of {', '.join(COMPARED)}")
    data = {} if path is None else toml.read(path)
    table = data.setdefault("graph500", {})
    if isinstance(table, dict):
        table.update(flags)
        if path is None and "scale" not in table:
            raise InputError("--scale is missing, and so is a file that has it")
    return toml.checked(File, data, path or "command line").graph500


def _run(asked: Options) -> dict[str, Any]:
    from dgsuite.graph500.options import grid, resolve

    options = resolve(asked)

    from rich.console import Console
    from rich.progress import track

    from dgsuite import transports
    from dgsuite.experiment import clusters as schedulers
    from dgsuite.graph500 import problem, report, search
    from dgsuite.workers import plugin as worker
    from partition.client.workers import worker_addresses

    worker.keep_no_memory()
    console = Console(stderr=True)
    with ExitStack() as stack:
        client = stack.enter_context(
            schedulers.connect(options.scheduler)
            if options.scheduler is not None
            else schedulers.local(options.workers, 1, "0", options.protocol or transports.fastest())
        )
        workers = len(worker_addresses(client))
        shape = grid(options, workers)
        weighted = options.kernel == "sssp"
        made = problem.build(options.scale, client, options.seed, shape, weighted)
        if options.root is None:
            roots = problem.choose_roots(made, options.roots, options.seed)
        else:
            roots = [options.root]
        peers = search.make_peers(options.compare, made.graph)
        bar = iter(
            track(
                roots, "searching", console=console, transient=True, disable=not console.is_terminal
            )
        )
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
