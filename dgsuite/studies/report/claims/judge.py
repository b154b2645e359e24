"""A verdict on every claim."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from dgsuite.studies.report import claims as package
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.verdicts import CHECKS, UNCHECKED, Row, Verdict, unknown
from dgsuite.studies.report.folder import UNFIT

for _module in iter_modules(package.__path__):
    import_module(f"{package.__name__}.{_module.name}")  # enters its checks


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
    evidence.forget()
    try:
        found = CHECKS[claim.check](claim, evidence)
    except UNFIT as error:
        if not evidence.results:
            raise
        found = unknown(f"the results cannot be compared: {type(error).__name__}: {error}")
    return found._replace(kind=evidence.kind(found.verdict != UNCHECKED))
