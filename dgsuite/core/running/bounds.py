"""What kernels say of their rounds and messages, as numbers where the graph's sizes are enough for them."""

from __future__ import annotations

import dataclasses
import re
from math import ceil, log2
from typing import Any

from dgsuite.core.running.catalogue import costs
from dgsuite.kernels.bsp import Kernel

BOUND = re.compile(r"(at most|exactly) ``([^`]+)``(?![^:;,.])")
"""A sentence that says how many there are, in the letters of docs/kernels.md."""

NAMED = re.compile(r"at most `(\w+)`")
"""A sentence that names a parameter, which may be None."""

MOST = 1 << 63
"""From here on a number says nothing."""


def log_star(x: float) -> int:
    """How often the binary logarithm is taken until 1 or less is left."""
    return 0 if x <= 1 else 1 + log_star(log2(x))


def letters(kernel: Kernel, n: int, m: int, directed: bool) -> dict[str, Any]:
    """Values of the letters: those that follow from a kernel's parameters and the sizes of a graph."""
    known: dict[str, Any] = {"n": n, "m": m, "arcs": m if directed else 2 * m}
    known |= {"ceil": ceil, "max": max, "min": min, "log2": log2, "log_star": log_star}
    own = {field.name: getattr(kernel, field.name) for field in dataclasses.fields(kernel)}
    if {"sources", "samples"} & own.keys():
        own["sources"] = own["samples"] = len(kernel.chosen(n))  # type: ignore[attr-defined]
    if own.get("f", 0) is None:
        own["f"] = kernel.failing(n)  # type: ignore[attr-defined]
    if "pairs" in own:
        own["p"] = 0 if kernel.pairs is None else len(kernel.pairs)  # type: ignore[attr-defined]
    return known | own


def bounds(kernel: Kernel, n: int, m: int, directed: bool) -> dict[str, tuple[str, int | None]]:
    """By "Rounds" and "Messages", what a kernel says, and the number, where the letters are known.

    Bounds in which the diameter or the hops from a root occur have no number.
    """
    found: dict[str, tuple[str, int | None]] = {}
    known: dict[str, Any] = {}
    said_by = (costs(base) for base in type(kernel).__mro__)
    for what, sentence in next((said for said in said_by if "Rounds" in said), {}).items():
        number = None
        if said := BOUND.match(sentence):
            code = compile(said[2], f"{kernel.name}, {what}", "eval")
            known = letters(kernel, n, m, directed) | known
            if all(known.get(name) is not None for name in code.co_names):
                value = eval(code, {"__builtins__": {}}, known)  # of a docstring of our own
                number = ceil(value) if value < MOST else None
        elif said := NAMED.match(sentence):
            number = getattr(kernel, said[1], None)
        found[what] = sentence, number
        known[what.lower()] = number
    return found
