"""What is said in several places of a release agrees."""

from tests.release import disagreements


def test_it_agrees():
    assert [*disagreements()] == []
