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
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared
from dgsuite.studies.report.tables import STYLES, in_text

PROGRAMS = {short: style for style, short in STYLES.items()}
FORMS = {"iterative": KERNELS, "recursive": RECURSIVE}

TEXT, PRINTED = "text", "printed"
"""In place of an input: what is in the text of our kernels, and in that of the paper's."""

FIELDS = {"kernel": SUITE, "input": (*INPUTS, TEXT, PRINTED), "program": PROGRAMS, "form": FORMS}
WORDS = {name.lower(): (field, name) for field, names in FIELDS.items() for name in names}
"""What the words before a count in a relation are."""

SIGNS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "//": "div", "%": "mod"}
"""Those of print, for signs of relations."""

SHOWN = {True: 2, False: 6}
"""Cases whose numbers are told, at most: in which a relation holds, and in which it does not."""


class Case(NamedTuple):
    """What counts are of; a relation may leave input and program open, and name them before its counts."""

    kernel: str
    input: str
    program: str
    form: str

    def __str__(self) -> str:
        return " ".join(filter(None, self[:3]))


class Outcome(NamedTuple):
    """A relation in a case: in words, with numbers, and whether it holds."""

    relation: str
    case: Case
    numbers: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.case} {self.numbers}"


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
    told = [f"{len(asked) - len(odd)} of {len(asked)} cases"]
    for relation in dict.fromkeys(one.relation for one in asked):
        mine = [one for one in asked if one.relation == relation]
        told.append(f"{relation}: {_listed(mine, True) or 'no case'}")
        told[-1] += f"; not {fails}" if (fails := _listed(mine, False)) else ""
    # the kernels of which one does not hold must be those that a claim names, with relations that do
    instead = {one.case.kernel for one in replaced} == kernels and all(
        one.holds for one in replaced
    )
    holds = len(kernels) <= claim.data.get("but", 0)
    return compared(claim, holds, ". ".join(told), results=instead)


def _outcomes(given: Mapping[str, Any], claim: Claim, evidence: Evidence) -> Iterator[Outcome]:
    """A relation in each of its cases."""
    form = given.get("form", "iterative")
    for relation in given["holds"]:
        names = names_in(relation)
        for case in _cases(given, form, [name.split("_") for name in names if name != "n"]):
            values = {name: _value(name, case, given, claim, evidence) for name in names}
            holds = bool(np.all(evaluate(relation, values)))
            words = {name: _words(name) for name in names}
            numbers = {name: _span(value) for name, value in values.items()}
            yield Outcome(_read(relation, words), case, _read(relation, numbers), holds)


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


def _read(relation: str, stands: Mapping[str, str]) -> str:
    """A relation with signs of print, and what its names stand for."""
    return re.sub("[a-z_]+|[=!<>]=|//|%", lambda at: {**SIGNS, **stands}[at[0]], relation)


def _words(name: str) -> str:
    """What a relation's name stands for, in words, such as "finishes of ds FAC on Mx"."""
    *words, count = name.split("_")
    about = dict(WORDS[word] for word in words)
    said = count.replace("comm", "communication")
    if who := [about[field] for field in ("kernel", "program") if field in about]:
        said += f" of {' '.join(who)}"
    if "input" in about:
        said += f" on {about['input']}"
    return f"{about['form']} {said}" if "form" in about else said


def _span(value: Any) -> str:
    """A number; of several the least and the most."""
    return " to ".join(dict.fromkeys((str(np.min(value)), str(np.max(value)))))


def _listed(outcomes: Sequence[Outcome], holds: bool) -> str:
    """Cases in which a relation holds, or does not, with their numbers."""
    mine = [str(one) for one in outcomes if one.holds == holds]
    more = len(mine) - SHOWN[holds]
    return ", ".join(mine[: SHOWN[holds]]) + (f" and {more} more" if more > 0 else "")
