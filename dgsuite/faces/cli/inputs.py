"""``dgsuite inputs generate|edges``; also ``python -m dgsuite.genval``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import click

from dgsuite.faces.cli import console, options

made: Callable[[options.F], options.F] = options.several(
    click.option("--n", type=int, required=True, help="Number of nodes."),
    click.option("--seed", type=int, default=101, show_default=True),
    click.option(
        "-o", "--output", metavar="FILE", default="-", help="Default: - for standard output."
    ),
)
"""What is made, and where it goes."""


@click.command(epilog="Example: dgsuite inputs generate mst --n 64 --kind sp-max -o in.txt")
@click.argument("kernel")
@click.option(
    "--kind",
    help="rn, cplt, spmin, spmax (also written as sp-min, ...); for vc star, chain, rn, which are all trees; "
    "for lcr and hs ring (default: rn, ring for lcr and hs).",
)
@click.option(
    "--max",
    type=int,
    help="Maximum children of a tree's node (default: random); for vc with rn, not for lcr and hs.",
)
@click.option("--k", type=int, help="Committee size, for kc (default: random).")
@click.option("--weights", help="For dr: wrn (random, the default) or weq (all 1).")
@made
@options.general
def generate(kernel: str, kind: str | None, n: int, seed: int, output: str, **chosen: Any) -> None:
    """Write an input file as IMSuite's generators do, byte for byte, for a KERNEL of bf, by, dp, dr, ds,
    dst, hs, kc, lcr, mis, mst or vc. `dgsuite kernel` runs on it.
    """
    from dgsuite.genval.imsuite import generate

    _write(output, [generate(kernel, n, kind, seed, **chosen)])


@click.command(epilog="Example: dgsuite inputs edges rmat --n 1048576 --m 16777216 -o edges.txt")
@click.argument("kind")
@click.option("--m", type=int, help="Number of edges, for er, powerlaw, rmat and spmax.")
@click.option("--max", type=int, help="Maximum children, for tree, spmin and spmax.")
@click.option("--columns", type=int, help="For grid (default: square root of n, rounded up).")
@click.option("--exponent", type=float, help="Of the degrees, for powerlaw (default: 2.5).")
@click.option("--degree", type=float, help="Average degree, for geometric (default: 10).")
@made
@options.general
def edges(kind: str, n: int, seed: int, output: str, **chosen: Any) -> None:
    """Write the edge list of a graph of any size: an edge a line, nodes from 0. KIND is a family of
    graphs, such as ring, grid, tree, er, powerlaw or rmat; an unknown one lists all.
    """
    from dgsuite.genval.families import plan

    planned = plan(kind, n, seed=seed, **chosen)

    def text() -> Iterator[bytes]:
        yield f"# {kind}, {planned.n} nodes, seed {seed}\n".encode()
        bounds = list(pairwise(planned.bounds()))
        shown = bounds if output == "-" else console.tracked(bounds, "writing", len(bounds))
        for lo, hi in shown:
            src, dst, _ = planned.edges(lo, hi)
            pairs = zip(src.tolist(), dst.tolist(), strict=True)
            yield "".join(f"{u} {v}\n" for u, v in pairs).encode()

    _write(output, text())


def _write(path: str, parts: Iterable[bytes]) -> None:
    """Write a file atomically, or standard output for "-"."""
    from dgsuite.base.files import atomic_write, check_output

    if path == "-":
        sys.stdout.buffer.writelines(parts)
        return
    check_output(path)
    with atomic_write(path) as part, open(part, "wb") as file:
        file.writelines(parts)
