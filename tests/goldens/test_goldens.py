"""Runs give the bytes and counts that they have given."""

import pytest

from tests.goldens.runs import FILES, cases, digests, kept

SMALL, LARGE = FILES


def check(name, kind, n):
    expected = kept(n)[f"{name} {kind}"]
    for what, found in digests(name, kind, n):
        assert found == expected[what], what


@pytest.mark.parametrize(("name", "kind"), cases(SMALL))
def test_small_graphs(name, kind):
    check(name, kind, SMALL)


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), cases(LARGE))
def test_large_graphs(name, kind):
    check(name, kind, LARGE)
