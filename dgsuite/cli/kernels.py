"""``dgsuite kernels``: what there is to run."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from typing import Any

import click

from dgsuite.cli import options


@click.command
@options.as_json
@options.general
def kernels(as_json: bool) -> None:
    """List the kernels: what each answers, and its parameters with their defaults."""
    from kernels import KERNELS, RECURSIVE

    found: dict[str, dict[str, Any]] = {
        name: {
            "answers": (kernel.__doc__ or "").strip().partition("\n")[0],
            "parameters": {f.name: _default(f) for f in fields(kernel)},
            "forms": ["iterative", *["recursive"] * (name in RECURSIVE)],
            "directed": not kernel.undirected or kernel.both_ways,
        }
        for name, kernel in sorted(KERNELS.items())
    }
    if as_json:
        print(json.dumps(found, default=str))
        return
    lines = [
        (name, ", ".join(f for f in one["parameters"] if f != "seed"), one["answers"])
        for name, one in found.items()
    ]
    widths = [max(len(line[column]) for line in lines) for column in (0, 1)]
    for name, parameters, answers in lines:
        print(f"{name:{widths[0]}}  {parameters:{widths[1]}}  {answers}")


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return None if field.default_factory is MISSING else field.default_factory()
