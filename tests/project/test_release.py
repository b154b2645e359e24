"""What is said in several places of a release agrees."""

from __future__ import annotations

from tests.release import disagreements


def test_it_agrees():
    assert [*disagreements()] == []
