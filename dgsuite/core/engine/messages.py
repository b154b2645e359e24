"""Messages one by one, by receiver and sender: how an inbox shows unicasts and small broadcasts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.once import Once
from dgsuite.partition.arrays.segments import group, lent


def not_sent(name: str) -> InputError:
    """The error of a kernel that asks for a field that the messages do not have."""
    return InputError(f"field {name!r} is not among what was sent")


class MessageList:
    """Messages one by one, sorted by receiver's row, then sender.

    Attributes
    ----------
    to
        Rows that got any, ascending.
    starts
        Shape (len(to) + 1,): messages of ``to[i]`` are ``starts[i]`` to ``starts[i + 1]``.
    row
        Receiver of each message.
    src
        Node id of each sender; None where a combiner has folded senders together.
    """

    def __init__(
        self,
        row: NDArray,
        src: NDArray | None,
        field: Callable[[str, NDArray], NDArray],
        own: int,
    ) -> None:
        self.to, self.starts, self._order = group(row, own)
        self.row = lent(row[self._order])
        self.src = None if src is None else lent(src[self._order])
        self._field = field
        self._sorted = Once()

    def renew(self) -> None:
        """Forget the values: the senders have others now."""
        self._sorted.clear()

    def __getitem__(self, name: str) -> NDArray:
        return self._sorted.get(name, partial(self._sort, name))

    def _sort(self, name: str) -> NDArray:
        try:
            return lent(self._field(name, self._order))
        except KeyError:
            raise not_sent(name) from None
