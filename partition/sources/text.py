"""Which bytes a text of numbers may have: NumPy's parser takes some others, such as 0xA0, for blanks."""

from __future__ import annotations

import re

PRINTED = bytes(range(32, 127)) + b"\t\r\n"
"""Bytes of text in ASCII."""

NUMERALS = b"0123456789+-.eE \t\r\n"
"""Bytes of finite numbers, and of what is between them."""

COMMENT = re.compile(rb"#[^\n]*")


def consists(text: bytes, of: bytes = PRINTED, comment: re.Pattern[bytes] = COMMENT) -> bool:
    """Whether a text has none but some bytes outside its comments."""
    return not text.translate(None, of) or not comment.sub(b"", text).translate(None, of)
