"""The check of what IMSuite says of counts as relations: a claim has these as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.studies.report.arithmetic import evaluate, names_in
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import INPUTS, SUITE, Evidence, N, clocked
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition
from dgsuite.studies.report.tables import STYLES, in_text

PROGRAMS = {short: style for style, short in STYLES.items()}
FORMS = {"iterative": KERNELS, "recursive": RECURSIVE}

TEXT, PRINTED = "text", "printed"
"""In place of an input: what is in the text of our kernels, and in that of the paper's."""

FIELDS = {"kernel": SUITE, "input": (*INPUTS, TEXT, PRINTED), "program": PROGRAMS, "form": FORMS}
WORDS = {name.lower(): (field, name) for field, names in FIELDS.items() for name in names}
"""What the words before a count in a relation are."""

SHOWN = 6
"""Cases whose numbers are told, at most."""


class Case(NamedTuple):
    """What counts are of; a relation may leave input and program open, and name them before its counts."""

    kernel: str
    input: str
    program: str
    form: str

    def __str__(self) -> str:
        return " ".join(filter(None, self[:3]))


class Outcome(NamedTuple):
    """A case, its relation with numbers in it, and whether that holds."""

    case: Case
    numbers: str
    holds: bool


@check
def relations(claim: Claim, evidence: Evidence) -> Verdict:
    """Whether relations of counts hold in each case: kernels, inputs and programs.

    A relation ``holds`` between counts of a case, such as ``finishes == fac_finishes + fac_barriers``. Words
    before a count name what is not the case's: ``mx_comm``, ``recursive_fa_comm``, ``ds_finishes``. Counts
    are sums, or with ``by_round`` those of each round. A claim whose relations are ``of = "runs"`` is judged
    by short runs alone, else the results must have these counts, too.
    """
    asked, replaced = (
        [one for given in claim.data.get(name, ()) for one in _outcomes(given, claim, evidence)]
        for name in ("relation", "instead")
    )
    odd = [one for one in asked if not one.holds]
    kernels = {one.case.kernel for one in odd}
    said = ", ".join(relation for given in claim.data["relation"] for relation in given["holds"])
    told = f"{len(asked) - len(odd)} of {len(asked)} cases of {said}"
    if odd:
        named = [f"{one.case} ({one.numbers})" for one in odd[:SHOWN]]
        told += f"; not {', '.join(named)}" + ", and more" * (len(odd) > SHOWN)
    elif len(asked) <= SHOWN:
        told += f": {'; '.join(one.numbers for one in asked)}"
    instead = {one.case.kernel for one in replaced} == kernels and all(
        one.holds for one in replaced
    )
    holds = len(kernels) <= claim.data.get("but", 0)
    return compared(claim, holds, told, claim.data.get("within", ""), instead)


@condition
def otherwise(instead: bool) -> bool:
    """Whether kernels of which a relation does not hold are those that a claim names, with others that do."""
    return instead


def _outcomes(given: Mapping[str, Any], claim: Claim, evidence: Evidence) -> Iterator[Outcome]:
    """A relation in each of its cases."""
    form = given.get("form", "iterative")
    for relation in given["holds"]:
        names = names_in(relation)
        for case in _cases(given, form, [name.split("_") for name in names if name != "n"]):
            values = {name: _value(name, case, given, claim, evidence) for name in names}
            holds = bool(np.all(evaluate(relation, values)))
            yield Outcome(case, _with_numbers(relation, values), holds)


def _cases(given: Mapping[str, Any], form: str, names: Sequence[Sequence[str]]) -> Iterator[Case]:
    """The cases of a relation; what each of its counts names is not one's own."""

    def own(field: str, values: Sequence[str]) -> Sequence[str]:
        every = all(any(WORDS[word][0] == field for word in words) for *words, _ in names)
        return [""] if every else given.get(f"{field}s", values)

    with_clocks = any("fac" in words for words in names)
    for kernel in given.get("kernels", [k for k in SUITE if k in FORMS[form]]):
        for program in own("program", [*PROGRAMS]):
            if clocked(kernel, form) or not (with_clocks or program == "FAC"):
                for given_input in own("input", INPUTS):
                    yield Case(kernel, given_input, program, form)


def _value(
    name: str, case: Case, given: Mapping[str, Any], claim: Claim, evidence: Evidence
) -> Any:
    """What a relation's name stands for in a case."""
    if name == "n":
        return N
    *words, count = name.split("_")
    kernel, about, program, form = case._replace(**dict(WORDS[word] for word in words))
    if about == TEXT:
        return getattr(in_text(kernel, form, PROGRAMS[program]), count)
    if about == PRINTED:
        table = claims()[f"imsuite.fig7{'c' if program == 'FAC' else 'a'}.table"].table()
        return table[kernel][f"static {program} {count}"]
    of = evidence.run if claim.data.get("of") == "runs" else evidence.counted
    ran = of(kernel, about, PROGRAMS[program], form)
    if count == "rounds":
        return ran.sizes["round"]
    return ran[count].values if given.get("by_round") else int(ran[count].sum())


def _with_numbers(relation: str, values: Mapping[str, Any]) -> str:
    """A relation with its names' values; of several the least and the most."""

    def shown(found: re.Match[str]) -> str:
        value = values[found[0]]
        return " to ".join(dict.fromkeys((str(np.min(value)), str(np.max(value)))))

    return re.sub("[a-z_]+", shown, relation)
