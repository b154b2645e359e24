"""``dgsuite kernels``: what there is to run."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from typing import Any

import click

from dgsuite.faces.cli import options


@click.command
@options.as_json
@options.general
def kernels(as_json: bool) -> None:
    """List the kernels: what each answers, and its parameters with their defaults."""
    from dgsuite.core.running.catalogue import listing, summary
    from dgsuite.kernels import KERNELS, forms_of

    if not as_json:
        print(listing())
        return
    found: dict[str, dict[str, Any]] = {
        name: {
            "answers": summary(kernel),
            "parameters": {f.name: _default(f) for f in fields(kernel)},
            "forms": forms_of(name),
            "directed": not kernel.undirected or kernel.both_ways,
        }
        for name, kernel in sorted(KERNELS.items())
    }
    print(json.dumps(found, default=str))


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return None if field.default_factory is MISSING else field.default_factory()
