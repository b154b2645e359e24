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


def comment(marks: str | Iterable[str] | None = COMMENTS) -> re.Pattern[bytes]:
    """What comments are: a mark that begins a line, or follows a blank or a tab, and the rest of the line.

    Parameters
    ----------
    marks
        One mark, several, or None where there are no comments.

    Raises
    ------
    InputError
        A mark is no text, or is empty.
    """
    some = [marks] if isinstance(marks, str) else list(marks or ())
    if not all(isinstance(mark, str) and mark.strip() for mark in some):
        raise InputError(f"comments must be marks such as '#', got {shown(marks)}")
    each = b"|".join(re.escape(mark.encode()) for mark in some) or b"(?!)"
    return re.compile(rb"(?:^|(?<=[ \t]))(?:%s)[^\n]*" % each, re.MULTILINE)


COMMENT = comment()
"""What comments are unless marks are named."""


def consists(text: bytes, of: bytes = PRINTED) -> bool:
    """Whether a text has none but some bytes. NumPy's parser takes others, such as 0xA0, for blanks."""
    return not text.translate(None, of)
