"""``dgsuite kernels``: what there is to run."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import click

from dgsuite.faces.cli import options


@click.command
@click.option(
    "--models",
    is_flag=True,
    help="Show which model each obeys, such as CONGEST: where messages go, how many, of how many bits.",
)
@click.option(
    "--claims",
    is_flag=True,
    help="Show what is known of each one's rounds, exchanges, messages and bits: exactly, at most, expected.",
)
@options.as_json
@options.general
def kernels(models: bool, claims: bool, as_json: bool) -> None:
    """List the kernels: what each answers, and its parameters with their defaults."""
    from dgsuite.core.running.catalogue import listing, summary
    from dgsuite.kernels import KERNELS, forms_of

    if models:
        _models(as_json)
        return
    if claims:
        _claims(as_json)
        return
    if not as_json:
        print(listing())
        return
    found: dict[str, dict[str, Any]] = {
        name: {
            "answers": summary(kernel),
            "parameters": {f.name: getattr(kernel, f.name, None) for f in fields(kernel) if f.init},
            "forms": forms_of(name),
            "directed": not kernel.undirected or kernel.both_ways,
        }
        for name, kernel in sorted(KERNELS.items())
    }
    print(json.dumps(found, default=str))


def _models(as_json: bool) -> None:
    """Print which model each kernel obeys."""
    from dgsuite.core.running.models import SIZES, models

    if as_json:
        print(json.dumps({one.kernel: one._asdict() for one in models()}))
        return
    sizes = ", ".join(f"{size:,}" for size in SIZES)
    rows = [["kernel", "model", "sends to", "messages", "reduces", f"bits at n = {sizes}"]]
    for kernel, model, sends, messages, reduces, bits in models():
        to = "neighbours" if sends == "edges" else sends
        in_bits = ", ".join(map(str, bits))
        rows.append([kernel, model or "-", to, str(messages or "any"), reduces, in_bits])
    _print(rows)


def _claims(as_json: bool) -> None:
    """Print what is known of the costs of each kernel."""
    from dgsuite.core.running.catalogue import claims
    from dgsuite.core.running.models import SIZES, models
    from dgsuite.kernels import KERNELS

    if as_json:
        print(json.dumps({name: claims(KERNELS[name]) for name in sorted(KERNELS)}))
        return
    sizes = ", ".join(f"{size:,}" for size in SIZES)
    rows = [["kernel", "model", "rounds", "exchanges", "messages", f"bits at n = {sizes}"]]
    for one in models():
        said = [f"{c.status} {c.bound}".rstrip() for c in claims(KERNELS[one.kernel]).values()]
        bits = "at most " + ", ".join(map(str, one.bits))
        rows.append([one.kernel, one.model or "-", *said, bits])
    _print(rows)


def _print(rows: list[list[str]]) -> None:
    """Print a table whose first row is its heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(map(str.ljust, row, widths)).rstrip())
