"""The forms in which votes and parcels travel between tasks."""

from __future__ import annotations

from types import SimpleNamespace

from dgsuite.core.exchange.channels import smaller


def test_what_does_not_say_its_size_is_not_short():
    assert smaller(SimpleNamespace(nbytes=4), 5)
    assert not smaller(SimpleNamespace(nbytes=4), 4)
    assert not smaller(object(), 4)
