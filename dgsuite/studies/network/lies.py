"""What rewrites messages: lies, and corruption; and the random words of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, RunError, unknown
from dgsuite.base.mixing import keyed
from dgsuite.kernels.tools.rng import paired
from dgsuite.studies.network.strategies import STRATEGIES, Adds, Limits, Sent, Strategy, told

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
        ways: list[tuple[Any, NDArray, NDArray]] = [(self.strategy, self.key, lies)]
        if self.noise is not None:
            ways.append(("random", keyed(self.noise[0], np.array([1])), noisy))
        for how, key, false in ways:
            which = np.flatnonzero(false)
            if not len(which) or not found:
                continue
            some = {name: values[which] for name, values in found.items()}
            ends = src[which].astype(np.int64), dst[which].astype(np.int64)
            luck = words_of(key, *ends, None if number is None else number[which])
            strategy = STRATEGIES[how] if isinstance(how, str) else how
            with self._asked("strategy"):
                says = told(strategy(self._sent(some, *ends, luck)), some, self.limits)
            for name in says.keys() - set(self.unforgeable):
                found[name] = found[name].copy()
                found[name][which] = says[name]
        return found

    def added(
        self, how: Adds, key: NDArray[np.uint64], none: Fields, src: NDArray, dst: NDArray
    ) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
        """Which messages nodes that lie send beside those of their program, and what these say.

        Parameters
        ----------
        key
            Of the phase, for what is added.
        none
            Fields of all messages that there may be, 0 each.
        src, dst
            Node ids of their senders and receivers.
        """
        with self._asked("adds"):
            which, fields = how(self._sent(none, src, dst, words_of(key, src, dst, None)))
            rows = np.flatnonzero(np.broadcast_to(np.asarray(which, bool), src.shape))
            if wrong := sorted(fields.keys() - (none.keys() - set(self.unforgeable))):
                raise InputError(unknown("field to forge", wrong[0], [*none]))
            said = told({**none, **fields}, none, self.limits)
        return rows, {name: values[rows] for name, values in said.items()}

    def _sent(self, fields: Fields, *parts: NDArray) -> Sent:
        return Sent(fields, *parts, self.counts, self.round, self.phase)  # type: ignore[call-arg, arg-type]

    @contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Say where a function of the user fails."""
        try:
            yield
        except Exception as error:
            raise RunError(
                f"round {self.round}, phase {self.phase!r}: the {what} of byzantine fails: "
                f"{type(error).__name__}: {error}"
            ) from error


def luck_of(key: NDArray, src: NDArray, dst: NDArray, number: NDArray | None) -> NDArray[np.uint64]:
    """A random number of each message, below `dgsuite.studies.network.chances.ALWAYS`."""
    return words_of(key, src, dst, number) >> np.uint64(11)


def words_of(
    key: NDArray, src: NDArray, dst: NDArray, number: NDArray | None
) -> NDArray[np.uint64]:
    """Random bits of messages; `_sieve.sieve` has the same."""
    return paired(key, dst, src, number)
