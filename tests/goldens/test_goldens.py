"""Runs give the bytes and counts that they have given."""

from __future__ import annotations

import pytest

from tests.goldens.runs import FILES, cases, digests, kept

SMALL, LARGE = FILES


@pytest.mark.parametrize(("name", "kind"), cases(SMALL))
def test_small_graphs(name, kind):
    for what, found in digests(name, kind, SMALL):
        assert found == kept(SMALL)[f"{name} {kind}"][what], what


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), cases(LARGE))
def test_large_graphs(name, kind):
    for what, found in digests(name, kind, LARGE):
        assert found == kept(LARGE)[f"{name} {kind}"][what], what
