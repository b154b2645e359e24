"""Which kernels each rule judges: the rule says so in the line above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple

from dgsuite.genval import rules

if TYPE_CHECKING:
    from dgsuite.genval.report import Found
    from dgsuite.genval.rules.base import Job

type Rule = Callable[[Job], list[Found] | Iterator[list[Found]]]
"""A function that returns what it has found, or yields it in stages: if one has found violations, the next
are not looked at.
"""


class Validator(NamedTuple):
    """A rule and the outputs that it needs.

    Attributes
    ----------
    outputs
        How many dimensions of each output are the nodes, by name: 0 for a column of a table, which has any
        number of rows.
    rule
        Function that checks the outputs.
    real
        Names of the outputs that may hold floats.
    identifiers
        Name of the output that holds identifiers. They are nodes if the graph has no identifiers.
    sampled
        Whether the second dimension of outputs may have another length: some nodes only, or steps.
    columns
        Name of an array of the results, for each entry of which outputs may have a column of their own, or
        several.
    """

    outputs: dict[str, int]
    rule: Rule
    real: tuple[str, ...] = ()
    identifiers: str | None = None
    sampled: bool = False
    columns: str | None = None


_declared: dict[str, Validator] = {}


def judges(*kernels: str, outputs: dict[str, int], **how: Any) -> Callable[[Rule], Rule]:
    """Declare that the function below is the rule of some kernels.

    Parameters
    ----------
    kernels
        Their names.
    outputs
        Those that the rule needs, as in `Validator`.
    how
        What else a `Validator` says.
    """

    def declare(rule: Rule) -> Rule:
        _declared.update(dict.fromkeys(kernels, Validator(outputs, rule, **how)))
        return rule

    return declare


def validators() -> dict[str, Validator]:
    """What all rules of this folder declare, by kernel."""
    for module in iter_modules(rules.__path__, f"{rules.__name__}."):
        import_module(module.name)
    return dict(sorted(_declared.items()))
