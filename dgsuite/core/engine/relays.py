"""Which workers relay messages for which others, so that the number of messages is not that of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

DIRECT = 8
"""Workers up to which each one sends to all others."""


@dataclass(frozen=True)
class Relays:
    """Workers in groups of some sqrt(size). The first worker of a group relays for the others.

    It gets what the workers of its group send, passes all of it on to the first workers of the other groups,
    and gives the workers of its group what has come for them. That makes some 3 size messages. With few
    workers there are no groups, and each sends to all others.

    Parameters
    ----------
    size
        Number of workers.
    """

    size: int

    @cached_property
    def groups(self) -> list[range]:
        """The workers of each group, which are neighbours in the order of addresses: often of one host."""
        if self.size <= DIRECT:
            return []
        length = isqrt(self.size - 1) + 1
        return [range(w, min(w + length, self.size)) for w in range(0, self.size, length)]

    def receivers(self, w: int) -> int:
        """To how many other workers a worker sends what it has packed."""
        if not self.groups:
            return self.size - 1
        return int(w not in (group[0] for group in self.groups))
