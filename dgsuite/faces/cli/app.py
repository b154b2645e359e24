"""The command `dgsuite` and its groups. A sub-command is imported when it is called, or when its help is."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

import click

from dgsuite.faces.cli import options

EPILOG = """\b
Data and paths go to standard output, all else to standard error.
Exit status: 0 all well; 1 a run failed or a result is wrong; 2 wrong usage, file or input;
130 interrupted."""


class Lazy(click.Group):
    """A group of commands that are imported when they are used.

    Parameters
    ----------
    commands
        For each name, ``module:attribute`` of the command, beside this module, and a line about it.
    """

    def __init__(self, *, commands: Mapping[str, tuple[str, str]], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._paths = commands
        options.version(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self._paths)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported."""
        if cmd_name not in self._paths:
            return None
        command: click.Command = resolve_name(f"{__package__}.{self._paths[cmd_name][0]}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._paths.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        from dgsuite.base.errors import unknown

        wrong = args and args[0] not in self._paths and not args[0].startswith("-")
        if wrong and not ctx.resilient_parsing:  # a shell that completes goes on
            ctx.fail(unknown("command", args[0], self._paths))
        return super().resolve_command(ctx, args)


INPUTS = {
    "generate": ("inputs:generate", "Write an input file as IMSuite's generators do."),
    "edges": ("inputs:edges", "Write the edge list of a graph of any size."),
}

VALIDATE = {"validate": ("validate:validate", "Check the result of a kernel against its graph.")}

inputs = Lazy(name="inputs", commands=INPUTS, help="Make inputs of IMSuite's, and edge lists.")

genval = Lazy(name="genval", commands=INPUTS | VALIDATE, help="Make inputs, validate outputs.")

transports = Lazy(
    name="transports",
    help="Message transports for Dask on one host.",
    commands={
        "bench": ("transports:bench", "Time transports, which take turns."),
        "mpi-worker": ("mpi_worker:mpi_worker", "Start a Dask worker from mpiexec."),
    },
)

app = Lazy(
    name="dgsuite",
    help="Graph algorithms as data-parallel programs on Dask, and their benchmark suites.",
    epilog=EPILOG,
    commands={
        "run": ("run:run", "Run the experiment that a TOML file describes."),
        "kernel": ("kernel:kernel", "Run one kernel on one graph."),
        "kernels": ("kernels:kernels", "List the kernels and what they answer."),
        "compile": ("compile:compile_ahead", "Compile the loops of common kernels ahead."),
        "graph500": ("graph500:graph500", "Run Graph500."),
        "gap": ("gap:gap", "Run the GAP Benchmark Suite."),
        "graphalytics": ("graphalytics:graphalytics", "Run LDBC Graphalytics."),
        "scaling": ("scaling:scaling", "Say at how many machines to stop."),
        "scc": ("scc:scc", 'Run the experiments of "X10 on the SCC".'),
        "study": ("study:study", "Run the experiments of the papers' figures."),
        "report": ("report:report", "Make a page of results; judge claims."),
        "statics": ("statics:statics", "Count lines, tasks, joins and locks in the code."),
        "transports": ("app:transports", "Time transports; start an MPI worker."),
        "inputs": ("app:inputs", "Generate inputs."),
        **VALIDATE,
        "config": ("config:config", "Files that ship, and the reference of files."),
    },
)
