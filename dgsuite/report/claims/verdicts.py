"""Verdicts on claims, and the functions that come to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dgsuite.report.claims.data import Claim, claims

if TYPE_CHECKING:
    from dgsuite.report.claims.evidence import Evidence

EQUAL, AGREES, DIFFERS, UNCHECKED = "equal", "agrees", "differs", "not checked"


class Verdict(NamedTuple):
    """What a check came to."""

    verdict: str
    """"equal", "agrees" (within what `why` says), "differs" or "not checked"."""
    ours: str = ""
    why: str = ""
    silent: str = ""
    """What departs from the paper without a reason given, if anything."""


class Row(NamedTuple):
    """A claim and the verdict on it."""

    claim: Claim
    verdict: Verdict

    def record(self) -> dict[str, Any]:
        """For JSON."""
        claim, verdict = self
        return {
            "id": claim.id, "place": claim.place, "kind": claim.kind, "paper": claim.says,
            "check": claim.check, **verdict._asdict(),
        }  # fmt: skip


Check = Callable[[Claim, "Evidence"], Verdict]

CHECKS: dict[str, Check] = {}
"""Checks by name."""


def check(function: Check) -> Check:
    """Enter a function among the checks."""
    CHECKS[function.__name__] = function
    return function


@check
def none(claim: Claim, evidence: Evidence) -> Verdict:
    """A claim that nothing here can be compared with."""
    return Verdict(UNCHECKED, why=claim.why, silent="" if claim.why else "no reason is given")


def unknown(why: str) -> Verdict:
    """Of a claim whose evidence is missing."""
    return Verdict(UNCHECKED, why=why)


def compared(claim: Claim, holds: bool, ours: Any, within: str = "") -> Verdict:
    """Equal, or where `within` says within what, agrees; else differs, for the claim's reason."""
    text = said(ours)
    if holds:
        return Verdict(AGREES if within else EQUAL, text, within)
    return Verdict(DIFFERS, text, claim.why, "" if claim.why else "differs, and nothing says why")


def said(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {said(v)}" for name, v in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple | set):
        return ", ".join(map(said, value))
    return str(value)


def judge(evidence: Evidence, chosen: Iterable[Claim] | None = None) -> list[Row]:
    """A verdict on every claim.

    Parameters
    ----------
    chosen
        By default all claims.
    """
    from dgsuite.report.claims import (
        counts,
        kernels,
        scalability,
        scc,
        scc_findings,
        setups,
        times,
    )

    for module in (counts, kernels, scalability, scc, scc_findings, setups, times):
        assert module  # each enters its checks
    given = claims().values() if chosen is None else chosen
    return [Row(claim, _verdict(claim, evidence)) for claim in given]


def _verdict(claim: Claim, evidence: Evidence) -> Verdict:
    """The verdict on a claim; results of others may lack anything."""
    try:
        return CHECKS[claim.check](claim, evidence)
    except Exception as error:
        if not evidence.results:
            raise
        return unknown(f"the results cannot be compared: {type(error).__name__}: {error}")
