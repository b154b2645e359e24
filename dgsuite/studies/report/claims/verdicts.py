"""Verdicts on claims, and the register of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from dgsuite.base.extras import pip_install
from dgsuite.studies.report.claims.data import Claim

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.studies.report.claims.evidence import Evidence

VERDICTS = EQUAL, AGREES, DIFFERS, UNCHECKED = "equal", "agrees", "differs", "not checked"

RESULTS = MEASURED, SIMULATED = "measured", "simulated"
PLANNED, DEFINITION = "planned", "definition"
KINDS = (*RESULTS, PLANNED, DEFINITION)
"""What verdicts rest on: results in the folder; results of simulated machines; the settings of experiment
files, whether these were run or not; and our code, or short runs of it."""


class Beside(NamedTuple):
    """The verdict of the same check on results of another machine, which is simulated."""

    machine: str
    verdict: str
    ours: str

    def __str__(self) -> str:
        return f"On {self.machine}, simulated: {self.verdict}; {self.ours}"


class Verdict(NamedTuple):
    """The result of a check."""

    verdict: str
    """"equal", "agrees" (within what `why` says), "differs" or "not checked"."""
    ours: str = ""
    why: str = ""
    silent: str = ""
    """What departs from the paper without a reason given, if anything."""
    kind: str = DEFINITION
    """What it rests on, of `KINDS`."""
    beside: Beside | None = None
    """The verdict on a machine that is simulated, if there is one."""


class Row(NamedTuple):
    """A claim and the verdict on it."""

    claim: Claim
    verdict: Verdict

    def record(self) -> dict[str, Any]:
        """For JSON."""
        claim, verdict = self
        return {
            "id": claim.id, "place": claim.place, "paper": claim.says, "check": claim.check,
            **verdict._asdict(), "beside": verdict.beside and verdict.beside._asdict(),
        }  # fmt: skip


Check = Callable[[Claim, "Evidence"], Verdict]

CHECKS: dict[str, Check] = {}
"""Checks by name."""


class MissingError(Exception):
    """The evidence of a claim is missing, so that it is not checked."""


class ContradictionError(Exception):
    """Results in the folder have other numbers than they must have."""


def needed[T](found: T | None, what_lacks: str) -> T:
    """What a check needs, and goes no further without: neither None nor empty."""
    if not found:
        raise MissingError(what_lacks)
    return found


def answering[**P](function: Callable[P, Verdict]) -> Callable[P, Verdict]:
    """Have a function answer that a claim is not checked where its evidence is missing.

    Evidence that contradicts itself decides nothing either, and is an error.
    """

    @wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> Verdict:
        try:
            return function(*args, **kwargs)
        except MissingError as missing:
            return unknown(str(missing))
        except ContradictionError as error:
            return Verdict(UNCHECKED, silent=str(error))

    return answer


def check(function: Check, name: str = "") -> Check:
    """Enter a function among the checks, by its name unless there is another."""
    return _entered(CHECKS, answering(function), name or function.__name__)


def judged_again(
    machine: str, simulated: Callable[[Evidence], Evidence | None]
) -> Callable[[Check], Check]:
    """Have a check judge results of a simulated machine, too, where there are some."""

    def doubled(function: Check) -> Check:
        @wraps(function)
        def both(claim: Claim, evidence: Evidence) -> Verdict:
            found, other = answering(function)(claim, evidence), simulated(evidence)
            if other is None:
                return found
            again = answering(function)(claim, other)
            ours = again.ours or again.why
            return found._replace(beside=Beside(machine, again.verdict, ours)) if ours else found

        return both

    return doubled


def need_pyscf() -> None:
    """Go no further in a check that runs Hartree-Fock, where PySCF is not installed."""
    needed(find_spec("pyscf"), f"PySCF is not installed: {pip_install('chem')}")


Condition = Callable[[Any], bool]

CONDITIONS: dict[str, Condition] = {}
"""When the reason that a claim prints for a difference is one: by name, tested on what its check has found,
such as the results of a figure.
"""


def condition(function: Condition) -> Condition:
    """Enter a function among the conditions."""
    return _entered(CONDITIONS, function, function.__name__)


def _entered[F: Callable[..., Any]](register: dict[str, F], function: F, name: str) -> F:
    if name in register:
        raise ValueError(f"two functions have the name {name}: one in {function.__module__}")
    register[name] = function
    return function


@condition
def so_found(found: bool) -> bool:
    """Whether the check has found what the reason says."""
    return found


@condition
def oversubscribed(results: xr.Dataset) -> bool:
    """Whether runs had more threads or workers than processors."""
    return "oversubscribed" in results and bool(results["oversubscribed"].any())


@check
def none(claim: Claim, evidence: Evidence) -> Verdict:
    """A claim that nothing here can be compared with."""
    return Verdict(UNCHECKED, why=claim.why, silent="" if claim.why else "no reason is given")


def unknown(why: str, ours: str = "") -> Verdict:
    """Of a claim whose evidence is missing, or does not decide."""
    return Verdict(UNCHECKED, ours, why)


def compared(
    claim: Claim, holds: bool | None, ours: Any, within: str = "", results: Any = None
) -> Verdict:
    """Equal, or where `within`, or the claim, says within what, agrees; else differs, for the claim's reason.

    Parameters
    ----------
    holds
        Whether it is as in print; None is open, by the intervals of times.
    results
        On which the condition of the reason is tested, if it has one.
    """
    text, within = said(ours), within or claim.data.get("within", "")
    if holds is None:
        return unknown("the intervals leave it open", text)
    if holds:
        return Verdict(AGREES if within else EQUAL, text, within)
    return differing(claim, text, results)


def differing(claim: Claim, ours: str, results: Any = None, within: str = "") -> Verdict:
    """Ours differs: for the claim's reason, where the condition of the reason holds of the results."""
    if not claim.why:
        return Verdict(DIFFERS, ours, "", "differs, and nothing says why")
    when = claim.data.get("when")
    if when is not None and (results is None or not CONDITIONS[when](results)):
        silent = f"differs, and this reason does not hold of the results: {claim.why}"
        return Verdict(DIFFERS, ours, "", silent)
    return Verdict(DIFFERS, ours, f"{claim.why} ({within})" if within else claim.why)


def seen(claim: Claim, so: Sequence[bool] | None) -> Verdict:
    """Whether all is so that a claim says is to be ``seen``: nothing is, where there was nothing to see.

    The claim's reason is for the first of it alone.
    """
    names = claim.data["seen"]
    absent = [
        name for name, is_so in zip(names, so or [False] * len(names), strict=True) if not is_so
    ]
    told = f"{said(names)}: {all_but(absent)}"
    return compared(claim, not absent, told, results=absent == names[:1])


def all_but(odd: Iterable[str]) -> str:
    """Of what something holds, where it should hold of all."""
    text = ", ".join(odd)
    return f"all but {text}" if text else "all"


def instead(ours: Any, theirs: Any) -> str:
    """What is here and in the paper, of which one may be nothing."""
    here, there = said(ours), said(theirs)
    if not here:
        return f"without {there}"
    return f"{here} instead of {there}" if there else f"{here} besides"


def others(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, str]:
    """What is here instead of in the paper, by name, where both have it; lists are in any order."""

    def plain(value: Any) -> Any:
        return set(value) if isinstance(value, list) else value

    both = [name for name in ours if name in theirs]
    return {k: instead(ours[k], theirs[k]) for k in both if plain(ours[k]) != plain(theirs[k])}


def said(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {said(v)}" for name, v in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, set):
        return ", ".join(sorted(map(said, value)))
    return ", ".join(map(said, value)) if isinstance(value, list | tuple) else str(value)
