"""The forms in which votes and parcels travel between tasks."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.exchange.messages import WORD, content, is_plain, smaller, step
from dgsuite.kernels.bsp import Vote


@pytest.mark.parametrize("field", ["sum", "min", "max"])
@pytest.mark.parametrize("sign", [1, -1])
def test_votes_with_numbers_beyond_a_word_are_pickled(field, sign):
    for number, plain in ((sign * WORD, True), (sign * (WORD + 1), False)):
        vote = Vote(any=True, **{field: number})
        assert is_plain(vote) == plain
        message = step(7, Contribution(vote, None))
        message = message if plain else pickle.loads(pickle.dumps(message.data))
        assert content(message).what.vote == vote


def test_what_does_not_say_its_size_is_not_short():
    assert smaller(SimpleNamespace(nbytes=4), 5)
    assert not smaller(SimpleNamespace(nbytes=4), 4)
    assert not smaller(object(), 4)
