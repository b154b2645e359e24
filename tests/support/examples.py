"""How many examples property tests try."""

from hypothesis import settings

MOST = 10
"""Examples of most tests in the default profile."""


def examples(number):
    """Settings of a test that tries so many; those of a profile that has more of all grow alike."""
    return settings(max_examples=max(1, number * settings.default.max_examples // MOST))
