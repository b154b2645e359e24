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
    found, said = (_models if models else _claims if claims else _answers)()
    print(json.dumps(found, default=str) if as_json else said)


def _answers() -> tuple[dict[str, Any], str]:
    """What each kernel answers, and its parameters: for programs, and as text."""
    from dgsuite.core.running.catalogue import listing, summary
    from dgsuite.kernels import KERNELS, forms_of

    found: dict[str, Any] = {
        name: {
            "answers": summary(kernel),
            "parameters": {f.name: getattr(kernel, f.name, None) for f in fields(kernel) if f.init},
            "forms": forms_of(name),
            "directed": not kernel.undirected or kernel.both_ways,
        }
        for name, kernel in sorted(KERNELS.items())
    }
    return found, listing()


def _models() -> tuple[dict[str, Any], str]:
    """Which model each kernel obeys."""
    from dgsuite.core.running.models import SIZES, models

    sizes = ", ".join(f"{size:,}" for size in SIZES)
    rows = [["kernel", "model", "sends to", "messages", "reduces", f"bits at n = {sizes}"]]
    for kernel, model, sends, messages, reduces, bits in models():
        to = "neighbours" if sends == "edges" else sends
        in_bits = ", ".join(map(str, bits))
        rows.append([kernel, model or "-", to, str(messages or "any"), reduces, in_bits])
    return {one.kernel: one._asdict() for one in models()}, _aligned(rows)


def _claims() -> tuple[dict[str, Any], str]:
    """What is known of the costs of each kernel."""
    from dgsuite.core.running.catalogue import claims
    from dgsuite.core.running.models import SIZES, models
    from dgsuite.kernels import KERNELS

    sizes = ", ".join(f"{size:,}" for size in SIZES)
    found = {name: claims(KERNELS[name]) for name in sorted(KERNELS)}
    rows = [["kernel", "model", "rounds", "exchanges", "messages", f"bits at n = {sizes}"]]
    for one in models():
        said = [f"{c.status} {c.bound}".rstrip() for c in found[one.kernel].values()]
        bits = "at most " + ", ".join(map(str, one.bits))
        rows.append([one.kernel, one.model or "-", *said, bits])
    return found, _aligned(rows)


def _aligned(rows: list[list[str]]) -> str:
    """A table whose first row is its heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
