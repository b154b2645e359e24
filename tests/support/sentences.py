"""Sentences of documents that give a paper's numbers: each must name the claims that it is about.

A paragraph that says what a paper prints has a comment such as
``<!-- claim: imsuite.fig10a.table 2824 -->``: the claim, and those of its numbers that it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dgsuite.studies.report.claims.data import claims

ABOUT = re.compile(r"\b(?:the|its|a) paper(?:s|'s)?\b|\bprint(?:ed|s)?\b", re.IGNORECASE)
"""What a sentence on a paper has."""

PLACE = re.compile(
    r"\b(?:figure|table|section|equation)s?\s+\d+(?:\s*\([a-c]\))?(?:(?:,| to| and)\s+\d+)*",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:\||- |\* |\d+\. ))")
SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
MARK = re.compile(r"<!-- claim: (\S+)((?: [\d.,]+)+) -->")
NUMBER = re.compile(r"(?<![\w^.])\d[\d,]*(?:\.\d+)?")


def unfounded(text: str) -> Iterator[str]:
    """What is wrong with the sentences of a Markdown document that give a paper's numbers."""
    for paragraph in PARAGRAPH.split(CODE.sub("", text)):
        words = " ".join(MARK.sub("", paragraph).split())
        given = _numbers(PLACE.sub("", words))
        marked: set[str] = set()
        for name, listed in MARK.findall(paragraph):
            numbers = set(_numbers(listed))
            marked |= numbers
            if name not in claims():
                yield f"there is no claim {name}"
                continue
            for number in sorted(numbers - set(given)):
                yield f"{name}: {number} is not in the paragraph: {_short(words)}"
            for number in sorted(numbers - set(_numbers(str(claims()[name].data)))):
                yield f"{name} does not say {number}: {_short(words)}"
        for sentence in SENTENCE.split(words):
            found = set(_numbers(PLACE.sub("", sentence)))
            if ABOUT.search(sentence) and found and not found & marked:
                yield f"no claim is named for: {_short(sentence)}"


def _numbers(text: str) -> list[str]:
    """The numbers of a text, without commas between thousands."""
    return [n.rstrip(",").replace(",", "") for n in NUMBER.findall(text)]


def _short(text: str) -> str:
    return " ".join(text.split())[:120]
