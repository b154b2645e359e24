"""Reading TOML into models: values set from outside, and errors that say what would be right."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dgsuite.base.errors import InputError, hint
from dgsuite.base.formats import check_toml
from dgsuite.studies.experiment import shipped

COMMANDS = {"run": "run", "graph500": "graph500", "gap": "gap", "bc": "scc", "hf": "scc"}
"""The tables that tell which command a file is for."""

WORDS = {
    "nodes": "n",
    "size": "n",
    "nthreads": "threads",
    "threads_per_worker": "threads",
    "n_workers": "workers",
    "nworkers": "workers",
    "processes": "workers",
    "transport": "protocol",
    "transports": "protocols",
    "address": "scheduler",
    "algorithm": "kernel",
    "source": "root",
    "parameters": "params",
    "repetitions": "repeats",
}
"""Other words for keys, as people and other programs have them."""


def read(path: str | None, overrides: Iterable[str] = ()) -> dict[str, Any]:
    """What a TOML file says, or nothing, with some values in place of its own: see `override`.

    Raises
    ------
    InputError
        It cannot be read, or is not TOML.
    """
    data: dict[str, Any] = {}
    try:
        if path is not None:
            with open(path, "rb") as file:
                data = tomllib.load(file)
    except OSError as error:
        near = hint(os.path.basename(str(path)).removesuffix(".toml"), shipped.names())
        why = f"{error.strerror}; {near}".rstrip("; ")
        raise InputError(f"{path}: cannot be read: {why}") from None
    except (ValueError, RecursionError) as error:  # also of too many digits, and deep nesting
        raise InputError(f"{path}: not TOML: {error}{_mend(str(path), str(error))}") from None
    for given in overrides:
        override(data, given)
    return data


def _mend(path: str, error: str) -> str:
    """What to do about a file that is not TOML, if it can be told."""
    if path.endswith(".nc"):
        return "; it is a result: `dgsuite report` and `dgsuite scaling` read these"
    if error.startswith("Invalid value"):
        return "; text stands in quotes, true and false in small letters"
    return ""


def checked[M: BaseModel](
    model: type[M], data: Mapping[str, Any], path: str, flags: Container[str] = ()
) -> M:
    """Data in the shape of a model.

    Parameters
    ----------
    path
        The file, for errors.
    flags
        Keys of the model, or of its table, that are from the command line; errors name the option instead.

    Raises
    ------
    InputError
        It is a file for another command, or in the form of a later version. Else with every error in one
        message: key, value, what would be right.
    """
    data = check_toml(data, path)
    for table, command in COMMANDS.items():
        if table in data and table not in model.model_fields:
            ours = " and ".join(f"[{t}]" for t in COMMANDS if t in model.model_fields)
            raise InputError(
                f"{path}: has a table [{table}], so it is for `dgsuite {command} {path}`"
                f"{ours and f'; a file for this command has {ours}'}"
            )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_explain(problem, model, flags) for problem in error.errors()]
        said = (p if p.startswith("--") else located(p, path, data) for p in problems)
        raise InputError("\n".join(said)) from None


HEAD = re.compile(r"\s*(?:(\[\[?)\s*([\w.-]+)\s*\]|([\w.-]+)\s*=)")
"""How a line begins that has the name of a table, or a key."""


def located(problem: str, path: str, data: Mapping[str, Any]) -> str:
    """A problem after its file, and the line there, if the value is the file's.

    Parameters
    ----------
    problem
        It begins with the dotted key, in which items of lists are numbered, also that of a lone value.
    path
        The file.
    data
        What it says, with what was changed.
    """
    key = problem[: re.match(r"[\w.-]*", problem).end()]  # type: ignore[union-attr]
    parts = key.split(".")
    if parts[-1].isdecimal() and not isinstance(_at(data, parts[:-1]), list):
        parts.pop()
    named = ".".join(parts) + problem[len(key) :]
    text = Path(path).read_text("utf-8") if os.path.exists(path) else ""
    lines = [(len(at), -number) for at, number in _keys(text) if at == parts[: len(at)]]
    if not lines or _at(tomllib.loads(text), parts) != _at(data, parts):
        return f"{path}: {named}"
    return f"{path}, line {-max(lines)[1]}: {named}"


def _keys(text: str) -> Iterator[tuple[list[str], int]]:
    """The tables and keys that lines begin with, in parts, and the numbers of the lines."""
    table: list[str] = []
    begun: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if (found := HEAD.match(line)) is None:
            continue
        brackets, name, key = found.groups()
        if name:
            begun[name] += brackets == "[["
            first, *rest = name.split(".")
            table = [first, *[str(begun[first] - 1)] * (begun[first] > 0), *rest]
        yield [*table, *(key.split(".") if key else ())], number


def _at(data: Any, parts: Iterable[str]) -> Any:
    """The value of a key, or None."""
    for part in parts:
        if isinstance(data, list):
            data = data[int(part)] if part.isdecimal() and int(part) < len(data) else None
        else:
            data = data.get(part) if isinstance(data, dict) else None
    return data


def override(data: dict[str, Any], given: str) -> None:
    """Change a value as ``key.subkey=value`` says.

    Raises
    ------
    InputError
        It does not say so, or there is no such place.
    """
    key, equals, text = given.partition("=")
    if not equals or not key:
        raise InputError(f"--set {given}: must be key.subkey=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    put(data, key, value, f"--set {given}")


def put(data: dict[str, Any], key: str, value: Any, source: str) -> None:
    """Put a value where a dotted key says; a number is a place in a list.

    Parameters
    ----------
    source
        What sets the value, for the error.

    Raises
    ------
    InputError
        There is no such place.
    """
    at: Any = data
    *path, last = key.split(".")
    try:
        for part in path:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value
    except (ValueError, IndexError, AttributeError, TypeError):
        hint = "; runs are numbered, as in run.0.n" if key.startswith("run.") else ""
        raise InputError(f"{source}: there is no {key!r} to set{hint}") from None


def _section(model: Any, where: tuple[int | str, ...]) -> Any:
    """The model of a section; that around it, where a table may have any keys."""
    for part in where:
        if isinstance(part, int) or part not in model.model_fields:
            continue  # an item of a list, or of a table of tables
        model = next(inner(model.model_fields[part].annotation), model)
    return model


def inner(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation, such as that of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from inner(argument)


def keys(model: type[BaseModel]) -> list[str]:
    """The keys of a section."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _unknown(key: str, where: tuple[int | str, ...], model: type[BaseModel]) -> str:
    """What a key that does not exist may have meant: another word, another table, a kernel's parameter."""
    allowed = keys(_section(model, where))
    meant = hint(key, allowed)
    if not meant and (word := WORDS.get(key.lower())) in allowed:
        meant = f"did you mean {word!r}? "
    if not meant:
        names = {key, WORDS.get(key.lower(), key)}
        homes = [
            f"[{table}]"
            for table in model.model_fields
            if where and table != where[0] and names & set(keys(_section(model, (table,))))
        ]
        if homes:
            meant = f"it belongs into {' or '.join(homes)}. "
        elif where[:1] == ("run",) and len(where) == 2:
            meant = f"a parameter of the kernel is written params.{key} = ... "
    return f"unknown key; {meant}Allowed: {', '.join(allowed)}"


SAYS = {
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
    "bool_type": "must be true or false",
    "string_type": "must be text, in quotes",
    "list_type": "must be a list, in [brackets]",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be a table"),
    "too_short": "must have at least {min_length} value",
}
"""What is wrong with a value, by pydantic's type of error."""


def _explain(problem: Mapping[str, Any], model: type[BaseModel], flags: Container[str]) -> str:
    """One line: where, what, and what would be right."""
    where, kind, value = problem["loc"], problem["type"], problem["input"]
    key = ".".join(map(str, where))
    said = _says(problem, model)
    if option := next((part for part in where[:2] if part in flags), None):
        return f"--{option.replace('_', '-')} {value}: {said}"
    shown = "" if kind in ("extra_forbidden", "missing") else f" = {value!r}"
    return f"{key}{shown}: {said}"


def _says(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    where, kind, value = problem["loc"], problem["type"], problem["input"]
    if kind == "extra_forbidden":
        return _unknown(str(where[-1]), where[:-1], model)
    if kind == "missing":
        return "missing"
    if kind == "list_type" and where == ("run",):
        return "must be a list of tables: write [[run]], in double brackets"
    if kind in ("model_type", "model_attributes_type") and len(where) == 1:
        return f"must be a table: write [{where[0]}], in single brackets"
    if kind == "literal_error":
        expected = problem["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
        allowed = expected.split(", ")
        return f"unknown; {hint(value, allowed)}one of {expected}"
    said = SAYS.get(kind)
    if said is None:
        return problem["msg"][0].lower() + problem["msg"][1:]
    return said.format(**problem.get("ctx", {}))
