"""What rewrites messages: lies, and corruption; and the random words of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import RunError
from dgsuite.base.mixing import keyed
from dgsuite.studies.network.strategies import STRATEGIES, Limits, Sent, Strategy, told

Fields = Mapping[str, NDArray]
"""What messages say, by field."""


@dataclass(frozen=True, eq=False)
class Lies:
    """What rewrites messages in one phase: those of nodes that lie, and those that are corrupted.

    Attributes
    ----------
    key
        Of the phase.
    mask
        By node, whether it lies.
    strategy
        A name, or a function.
    counts
        By field, how many values it can have, or 0.
    limits
        By field, its least and greatest value: lies are held to them.
    round, phase
        Of what is sent.
    noise
        The key of corruption, and the limit below which a message is corrupted; None if none is.
    unforgeable
        Fields that nobody can forge.
    """

    key: NDArray[np.uint64]
    mask: NDArray[np.bool_]
    strategy: str | Strategy
    counts: Mapping[str, int]
    limits: Mapping[str, Limits]
    round: int
    phase: str
    noise: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None
    unforgeable: Sequence[str] = ()

    def false(
        self, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which messages are of nodes that lie, and which others are corrupted."""
        lies = self.mask[src]
        if self.noise is None:
            return lies, np.zeros_like(lies)
        key, limit = self.noise
        return lies, ~lies & (luck_of(key, src, dst, number) < limit)

    def told(
        self, fields: Fields, src: NDArray, dst: NDArray, number: NDArray | None = None
    ) -> dict[str, NDArray]:
        """The fields of messages, once those that lie have rewritten theirs, and others are corrupted."""
        found = dict(fields)
        lies, noisy = self.false(src, dst, number)
        self._rewrite(found, self.strategy, self.key, lies, src, dst, number)
        if self.noise is not None:
            key = keyed(self.noise[0], np.array([1]))
            self._rewrite(found, "random", key, noisy, src, dst, number)
        return found

    def _rewrite(
        self,
        found: dict[str, NDArray],
        how: str | Strategy,
        key: NDArray[np.uint64],
        false: NDArray[np.bool_],
        src: NDArray,
        dst: NDArray,
        number: NDArray | None,
    ) -> None:
        """Have some messages say what a strategy says."""
        which = np.flatnonzero(false)
        if not len(which) or not found:
            return
        some = {name: values[which] for name, values in found.items()}
        ends = src[which].astype(np.int64), dst[which].astype(np.int64)
        luck = words_of(key, *ends, None if number is None else number[which])
        sent = Sent(some, *ends, luck, self.counts, self.round, self.phase)
        strategy = STRATEGIES[how] if isinstance(how, str) else how
        try:
            lies = told(strategy(sent), some, self.limits)
        except Exception as error:
            raise RunError(
                f"round {self.round}, phase {self.phase!r}: the strategy of byzantine fails: "
                f"{type(error).__name__}: {error}"
            ) from error
        for name in lies.keys() - set(self.unforgeable):
            found[name] = found[name].copy()
            found[name][which] = lies[name]


def luck_of(key: NDArray, src: NDArray, dst: NDArray, number: NDArray | None) -> NDArray[np.uint64]:
    """A random number of each message, below `dgsuite.studies.network.chances.ALWAYS`."""
    return words_of(key, src, dst, number) >> np.uint64(11)


def words_of(
    key: NDArray, src: NDArray, dst: NDArray, number: NDArray | None
) -> NDArray[np.uint64]:
    """Random bits of messages; `_sieve.sieve` has the same."""
    found = keyed(keyed(key, dst), src)
    if number is not None and number.any():
        found = np.where(number > 0, keyed(found, number), found)
    return found
