"""Texts of numbers and names: where their comments are, and which bytes they may have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dgsuite.base.errors import InputError, shown

PRINTED = bytes(range(32, 127)) + b"\t\r\n"
"""Bytes of text in ASCII."""

NUMERALS = b"0123456789+-.eE \t\r\n"
"""Bytes of finite numbers, and of what is between them."""

MARK = b"\xef\xbb\xbf"
"""What some programs begin a text in UTF-8 with."""

COMMENTS = ("#", "%")
"""Marks that comments begin with, unless others are named."""

HASHES = (b"#", b"%")
"""The same, in a text."""


def checked(marks: str | Iterable[str] | None) -> tuple[bytes, ...]:
    """Marks that comments begin with: one, several, or none.

    Raises
    ------
    InputError
        A mark is no text, or is empty.
    """
    some = [marks] if isinstance(marks, str) else list(marks or ())
    if not all(isinstance(mark, str) and mark.strip() for mark in some):
        raise InputError(f"comments must be marks such as '#', got {shown(marks)}")
    return tuple(mark.encode() for mark in some)


def bare(text: bytes, marks: tuple[bytes, ...] = HASHES) -> bytes:
    """A text without comments: a mark that begins a line, or follows a blank or a tab, and what follows."""
    if not any(mark in text for mark in marks):
        return text
    each = (rb"%s(?<![^ \t\n]%s)" % (re.escape(mark), re.escape(mark)) for mark in marks)
    return re.sub(rb"(?:%s)[^\n]*" % b"|".join(each), b"", text)


def consists(text: bytes, of: bytes = PRINTED) -> bool:
    """Whether a text has none but some bytes. NumPy's parser takes others, such as 0xA0, for blanks."""
    return not text.translate(None, of)
