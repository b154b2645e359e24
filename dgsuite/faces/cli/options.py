"""Options that commands share, and options made of the model of a table. No heavy imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import click

from dgsuite.base.command import DEBUG
from dgsuite.base.version import __version__

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

F = TypeVar("F", bound="Callable[..., Any] | click.Command")

QUIET, NO_PROGRESS = "dgsuite.quiet", "dgsuite.no-progress"
"""Keys of a click context's `meta`; see `dgsuite.faces.cli.console`."""


class Group(click.Group):
    """A group that calls its first command where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the command."""
        if args and args[0] not in (*self.commands, "--help", "--version"):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def several[F: "Callable[..., Any] | click.Command"](
    *options: Callable[[F], F],
) -> Callable[[F], F]:
    """A decorator that adds options in their order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _flag(*names: str, key: str, text: str) -> Callable[[F], F]:
    """A flag that is noted in the context rather than handed to the command."""

    def note(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.meta[key] = context.meta.get(key, False) or value

    return click.option(
        *names, is_flag=True, expose_value=False, callback=note, is_eager=True, help=text
    )


def version[F: "Callable[..., Any] | click.Command"](command: F) -> F:
    """Add ``--version``."""
    return click.version_option(__version__, prog_name="dgsuite", message="%(prog)s %(version)s")(
        command
    )


general: Callable[[F], F] = several(
    _flag("--debug", key=DEBUG, text="Show the traceback of an error."),
    _flag(
        "-q",
        "--quiet",
        key=QUIET,
        text="No summary and no progress, but paths of files and errors.",
    ),
    _flag("--no-progress", key=NO_PROGRESS, text="No progress bars."),
    version,
)
"""What every command has."""

as_json: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object."
)
"""Figures as JSON in place of text."""


def output(text: str, metavar: str = "FILE.nc") -> Callable[[F], F]:
    """``-o``, where the result goes."""
    return click.option("-o", "--output", metavar=metavar, help=text)


FOLDER = click.Path(exists=True, file_okay=False)
"""A folder that is there."""


overrides: Callable[[F], F] = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a value of the file, such as cluster.workers=2; may be repeated.",
)
"""Values in place of the file's."""

dry_run: Callable[[F], F] = click.option(
    "--dry-run", is_flag=True, help="Check the file, say what would run, and stop."
)
"""Nothing is run."""


def resolved(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """A file or several, some of which may be given by the name of one that ships: a callback of click's."""
    from dgsuite.studies.experiment.shipped import resolve

    return tuple(map(resolve, value)) if isinstance(value, tuple) else value and resolve(value)


def file(name: str = "file", required: bool = True) -> Callable[[F], F]:
    """``FILE``, which may be the name of one that ships, or another argument; ``--set``; ``--dry-run``."""
    argument: Callable[[F], F] = click.argument(
        name, required=required, type=click.Path(), callback=resolved
    )
    return several(argument, overrides, dry_run)


class Names(click.ParamType):
    """A list with commas, of names or of what another type takes."""

    name = "list"

    def __init__(self, each: click.ParamType = click.STRING) -> None:
        self.each = each

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The values."""
        if isinstance(value, list):
            return value
        return [self.each.convert(name, param, ctx) for name in value.split(",") if name]


def table(
    model: type[BaseModel], defaults: bool = True, without: Sequence[str] = ()
) -> Callable[[F], F]:
    """An option for each key of a table, of the same name; the table's own before those of its bases.

    What is not given is None: see `given`.

    Parameters
    ----------
    model
        Its fields' docstrings are the help; that of a truth value tells what to do, such as "Check it.".
    defaults
        Whether the help says the model's defaults; a file may have others.
    without
        Keys that are no options.
    """
    own = model.__annotations__
    fields = sorted(model.model_fields.items(), key=lambda field: field[0] not in own)
    return several(*(_option(name, info, defaults) for name, info in fields if name not in without))


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, by the keys of their table."""
    return {name: value for name, value in flags.items() if value is not None}


def asked[M: BaseModel](model: type[M], flags: Mapping[str, Any]) -> M:
    """The options of a command that a model has as keys, with its defaults for those that were not given.

    Raises
    ------
    InputError
        A value is not one that its key may have; the message names the option.
    """
    from dgsuite.studies.experiment.toml import checked, keys

    own = given({key: flags[key] for key in keys(model)})
    return checked(model, own, "command line", own)


def _option(name: str, info: FieldInfo, defaults: bool) -> Callable[[F], F]:
    key = info.alias or name
    flag = f"--{key.replace('_', '-')}"
    kind = _kind(info.annotation)
    text = " ".join((info.description or "").split())
    default = info.get_default() if defaults and not info.is_required() else None
    if isinstance(default, list):
        default = ",".join(map(str, default))
    if default not in (None, False, True, "") and "by default" not in text.lower():
        text = f"{text.rstrip('.')} (default: {default})."
    if kind is not bool:
        short = ("-o",) if key == "output" else ()
        return click.option(*short, flag, key, type=kind, default=None, help=text)
    if info.annotation is not bool:
        flag = f"{flag}/--no-{flag[2:]}"
    elif info.default:
        text = f"Do not {text[0].lower()}{text[1:]}"
        return click.option(
            f"--no-{flag[2:]}", key, flag_value=False, type=bool, default=None, help=text
        )
    return click.option(flag, key, is_flag=True, default=None, help=text)


def _kind(annotation: Any) -> Any:
    """What click makes of a type: a type of Python's or click's own."""
    inner = [a for a in get_args(annotation) if a is not NoneType]
    if get_origin(annotation) is list:
        return Names(click.INT if _kind(inner[0]) is int else click.STRING)
    if get_origin(annotation) is Literal:
        return click.Choice([str(a) for a in inner])
    return _kind(inner[0]) if inner else annotation
