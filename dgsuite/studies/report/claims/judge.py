"""A verdict on every claim."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.verdicts import CHECKS, Row, Verdict, unknown

if TYPE_CHECKING:
    from dgsuite.studies.report.claims.evidence import Evidence

for _name in (
    "counts",
    "kernels",
    "scalability",
    "scc",
    "scc_findings",
    "scc_hf",
    "setups",
    "times",
    "words",
):
    import_module(f"dgsuite.studies.report.claims.{_name}")  # enters its checks


def judge(evidence: Evidence, chosen: Iterable[Claim] | None = None) -> list[Row]:
    """A verdict on every claim.

    Parameters
    ----------
    chosen
        By default all claims.
    """
    given = claims().values() if chosen is None else chosen
    return [Row(claim, _verdict(claim, evidence)) for claim in given]


def _verdict(claim: Claim, evidence: Evidence) -> Verdict:
    """The verdict on a claim; results of other programs may lack variables."""
    try:
        return CHECKS[claim.check](claim, evidence)
    except Exception as error:
        if not evidence.results:
            raise
        return unknown(f"the results cannot be compared: {type(error).__name__}: {error}")
