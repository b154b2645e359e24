"""Generate inputs and validate outputs from the command line.

python -m genval generate mst --n 64 --kind sp-max --seed 101 -o in.txt
python -m genval edges grid --n 10000 -o edges.txt
python -m genval validate mst in.txt result.nc
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from partition.command import Command
from partition.errors import DgsuiteError
from partition.files import atomic_write


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print one line, without the usage message."""
        self.exit(2, f"{self.prog}: {message}; --help says more\n")


def _main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, 1 if a result is not valid, or 2 if the input is wrong."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except DgsuiteError as error:
        print(f"genval: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"genval: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
    return 2


main = Command(_main, "genval: {}")


def _parser() -> argparse.ArgumentParser:
    from genval.families import FAMILIES
    from genval.imsuite import COLOURING_KINDS, KINDS
    from partition.imsuite import KERNELS

    parser = _Parser(prog="python -m genval", description="Generate inputs and validate outputs.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    one = commands.add_parser(
        "generate",
        help="write an input file as IMSuite's generators do, byte for byte",
        description="Write an input file as IMSuite's generators do, byte for byte.",
    )
    one.add_argument("kernel", help=f"the kernel it is for: {', '.join(KERNELS)}")
    one.add_argument(
        "--kind",
        help=f"{', '.join(KINDS)} (also written as sp-min, ...); for vc {', '.join(COLOURING_KINDS)};"
        " for lcr and hs ring; default: rn, ring for lcr and hs",
    )
    one.add_argument("--max", type=int, help="maximum children of a tree's node; default: random")
    one.add_argument("--k", type=int, help="committee size, for kc; default: random")
    one.add_argument("--weights", help="for dr: wrn (random, the default) or weq (all 1)")
    one.set_defaults(run=_generate)

    two = commands.add_parser(
        "edges",
        help="write the edge list of a graph of any size",
        description="Write the edge list of a graph of any size: an edge a line, nodes from 0.",
    )
    two.add_argument("kind", help=", ".join(FAMILIES))
    two.add_argument("--m", type=int, help="number of edges, for er, powerlaw, rmat and spmax")
    two.add_argument("--max", type=int, help="maximum children, for tree, spmin and spmax")
    two.add_argument("--columns", type=int, help="for grid; default: square root of n, rounded up")
    two.add_argument("--exponent", type=float, help="of the degrees, for powerlaw; default: 2.5")
    two.add_argument("--degree", type=float, help="average degree, for geometric; default: 10")
    two.set_defaults(run=_edges)

    for command in (one, two):
        command.add_argument("--n", type=int, required=True, help="number of nodes")
        command.add_argument("--seed", type=int, default=101, help="default: 101")
        command.add_argument(
            "-o", "--output", default="-", metavar="FILE", help="default: - for standard output"
        )

    three = commands.add_parser(
        "validate",
        help="check a kernel's output against its input",
        description="Check a kernel's output against its input. "
        "Exit code 0: it is valid, 1: it is not, 2: it cannot be checked.",
    )
    three.add_argument("kernel", help="such as mis")
    three.add_argument("input", help="input file of IMSuite's format for the kernel")
    three.add_argument("result", help="NetCDF file with the kernel's output, a value a node")
    three.set_defaults(run=_validate)
    return parser


def _generate(options: argparse.Namespace) -> int:
    from genval.imsuite import generate

    chosen = {"max": options.max, "k": options.k, "weights": options.weights}
    text = generate(options.kernel, options.n, options.kind, options.seed, **chosen)
    _write(options.output, [text])
    return 0


def _edges(options: argparse.Namespace) -> int:
    from genval.families import plan

    names = ("m", "max", "columns", "exponent", "degree")
    chosen: dict[str, Any] = {name: getattr(options, name) for name in names}
    made = plan(options.kind, options.n, seed=options.seed, **chosen)

    def text() -> Iterator[bytes]:
        yield f"# {options.kind}, {made.n} nodes, seed {options.seed}\n".encode()
        for lo, hi in pairwise(made.bounds()):
            src, dst, _ = made.edges(lo, hi)
            pairs = zip(src.tolist(), dst.tolist(), strict=True)
            yield "".join(f"{u} {v}\n" for u, v in pairs).encode()

    _write(options.output, text())
    return 0


def _write(path: str, parts: Iterable[bytes]) -> None:
    """Write a file atomically, or standard output for "-"."""
    if path == "-":
        sys.stdout.buffer.writelines(parts)
        sys.stdout.flush()
        return
    with atomic_write(path) as part, open(part, "wb") as file:
        file.writelines(parts)


def _validate(options: argparse.Namespace) -> int:
    from genval.validation import validate
    from partition import netcdf
    from partition.graph import Graph

    graph = Graph.read_imsuite(options.input, options.kernel)
    report = validate(options.kernel.lower(), graph, netcdf.read(options.result))
    print(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    main.run()
