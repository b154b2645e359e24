"""The tool that changes the code: what it changes, in which order, and what counts as equal."""

from __future__ import annotations

import ast
from itertools import islice

import pytest

from tests.mutation import choice
from tests.mutation.__main__ import equivalents, reason
from tests.mutation.changes import AREAS, KINDS, Change, Text, drawn
from tests.support.paths import ROOT

CODE = '''
def f(a: int | None = 1, *rest):
    """A - b."""
    with lock, opened(a) as file:
        log.info("none < %s", a < 1)
        if a < 2 and rest:
            raise InputError(f"{a + 1}", a - 1)
    try:
        g(a, 2.5)
    finally:
        lock.release()
    return min(a, 3)
'''

CHANGES = {
    "guards": [
        "if True:\n        with opened(a) as file:",
        "file = opened(a).__enter__()\n        with lock:",
        "finally:\n        pass",
    ],
    "comparison": ["(a <= 2)", "(a >= 2)", "max"],
    "condition": ["(a < 2 or rest)", "rest", "(a < 2)", "True", "False"],
    "number": ["2", "0", "3", "1", "5.0", "4", "2"],
    "statement": ["pass", "pass"],
    "arguments": ["(g(2.5, a))", "(min(3, a))"],
}


def test_what_is_changed():
    text = Text("f.py", CODE)
    found = [text.change(*site) for site in text.sites()]
    for change in found:
        ast.parse(change.apply(CODE))
    for kind, expected in CHANGES.items():
        made = [change for change in found if change.kind == kind]
        for after in expected:
            assert any(after in change.after for change in made), (kind, after, made)
    assert {change.line for change in found}.isdisjoint({3, 5})  # texts, and notes in a log
    assert {"a + 1", "a - 1", "int | None"}.isdisjoint(change.before for change in found)


def test_a_change_replaces_what_it_names():
    text = Text("f.py", "x = 'ä' + f(a == b)\n")
    (change,) = (text.change(*site) for site in text.sites() if site[0] == "comparison")
    assert change.apply(text.text) == "x = 'ä' + f((a != b))\n"


def test_the_order_is_that_of_the_seed_and_every_change_comes_once(tmp_path):
    for area in AREAS:
        (tmp_path / area).mkdir(parents=True)
        (tmp_path / area / "f.py").write_text(CODE)
    found = [[*drawn(tmp_path, seed)] for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert sorted(found[0]) == sorted(found[2])
    assert len(set(found[0])) == len(found[0])
    first = [*islice(drawn(tmp_path, 3), 12)]
    assert len({change.path for change in first}) > 5
    assert {change.kind for change in found[0]} <= KINDS.keys()


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
