"""The tool that changes the code: what it changes, in which order, and what counts as equal."""

import pytest

from tests.mutation import choice
from tests.mutation.__main__ import equivalents, reason
from tests.mutation.changes import AREAS, Change, Text
from tests.support.paths import ROOT


def test_a_change_replaces_what_it_names():
    text = Text("f.py", "x = 'ä' + f(a == b)\n")
    (change,) = (text.change(*site) for site in text.sites() if site[0] == "comparison")
    assert change.apply(text.text) == "x = 'ä' + f((a != b))\n"


@pytest.mark.parametrize("area", AREAS)
def test_areas_have_tests(area):
    path = next((ROOT / area).glob("*.py")).relative_to(ROOT).as_posix()
    assert choice.files(ROOT, path)


def test_equivalent_changes_are_of_the_code_that_is_there():
    known = equivalents()
    for each in known:
        line = " ".join(each["line"].split())
        there = " ".join((ROOT / each["path"]).read_text().split())
        assert line in there, f"{each['path']} has no longer {line!r}"
        assert each["why"]
    change = Change("f.py", "number", 1, 0, 1, "1", "2")
    assert reason(change, []) is None
