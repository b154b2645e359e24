"""Files that a path names, and the lines of text in them; the first wrong line is named."""

from __future__ import annotations

import io
import os
import re
import warnings
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from glob import glob, has_magic
from typing import Any

import numpy as np

from dgsuite.base.errors import InputError, check_path, shown

BLOCK = 16 << 20
"""Bytes of text that are parsed at a time."""

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

UNREADABLE = (OSError, EOFError, zlib.error)
"""Exceptions that damaged files raise."""


def check_file(path: str | os.PathLike[str]) -> str:
    """The name of a file.

    Raises
    ------
    InputError
        It does not exist.
    """
    check_path(path)
    name = os.fspath(path)
    if not os.path.exists(name):
        raise InputError(f"{name}: no such file")
    return name


def matching(path: str | os.PathLike[str]) -> list[str]:
    """The files that a path, a pattern or an fsspec URL names, in order."""
    check_path(path)
    name = os.fspath(path)
    if "://" not in name:
        found = sorted(glob(name)) if has_magic(name) and not os.path.exists(name) else [name]
        return [check_file(each) for each in found or [name]]
    from fsspec.core import url_to_fs

    try:
        files, inner = url_to_fs(name)
        found = sorted(files.glob(inner)) if has_magic(name) else [inner] * files.exists(inner)
    except (ImportError, ValueError, OSError) as error:
        raise InputError(f"{name}: cannot be opened: {error}") from None
    if not found:
        raise InputError(f"{name}: no such file")
    return [files.unstrip_protocol(each) for each in found]


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


def loaded(text: bytes, dtype: Any) -> np.ndarray | None:
    """Numbers of a text, or None if they do not have the dtype."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the text has no data
        warnings.simplefilter("error", DeprecationWarning)  # a float instead of an integer
        try:
            return np.loadtxt(
                io.BytesIO(text), dtype, comments=None, ndmin=1 if isinstance(dtype, list) else 2
            )
        except (ValueError, OverflowError, DeprecationWarning):
            return None


def wrong_line(text: bytes, read: Callable[[bytes], Any]) -> tuple[int, str]:
    """The first line with which a function no longer reads a text: its number, and the line."""
    lines = text.split(b"\n")
    ends = range(1, len(lines))
    at = bisect_left(ends, True, key=lambda end: read(b"\n".join(lines[:end])) is None)
    what = lines[at].strip()
    if read(what) is not None:  # it is right by itself, but not after another line
        before = (line for line in lines[:at] if read(line + b"\n" + what) is None)
        what += b" after " + next(before, b"").strip()
    return at + 1, what.decode(errors="replace")


def parsed[T](
    name: str,
    start: int,
    size: int,
    read: Callable[[bytes], T | None],
    expected: Callable[[int], str],
    marks: tuple[bytes, ...] = HASHES,
) -> list[T]:
    """What a function reads of the lines that begin in a block of a file, or of all if it is compressed.

    Parameters
    ----------
    start, size
        First byte and number of bytes of the block.
    read
        Reads lines without comments; None if one of them is wrong.
    expected
        What the line of a number is not, if it is wrong.
    marks
        Marks that comments begin with.

    Raises
    ------
    InputError
        The file cannot be read, or a line is wrong: the message names it.
    """
    found, lines = [], 0
    for text in texts(name, start, size, marks):
        part = read(text)
        if part is None:
            line, what = wrong_line(text, read)
            line += lines + _lines_before(name, start)
            raise InputError(f"{name}, line {line}: {what!r} is not {expected(line)}")
        found.append(part)
        lines += text.count(b"\n")
    return found


def first_line(name: str, marks: tuple[bytes, ...] = HASHES) -> str:
    """The first line of a file that is neither empty nor a comment, or "".

    Raises
    ------
    InputError
        The file cannot be read.
    """
    for text in texts(name, 0, BLOCK, marks):
        for line in text.split(b"\n"):
            if line.strip():
                return line.decode(errors="replace").strip()
    return ""


def starts(name: str) -> range:
    """Where the blocks of a file begin; a compressed file is one.

    Raises
    ------
    InputError
        The file is empty.
    """
    import fsspec

    with fsspec.open(name, "rb") as file:
        size = file.seek(0, os.SEEK_END)
    if not size:
        raise InputError(f"{name}: the file is empty")
    return range(0, 1 if name.endswith(".gz") else size, BLOCK)


def texts(name: str, start: int, size: int, marks: tuple[bytes, ...]) -> Iterator[bytes]:
    """Complete lines without comments: those that begin in a block, or all of a compressed file."""
    import fsspec
    from fsspec.utils import read_block

    try:
        with fsspec.open(name, "rb", compression="infer") as file:
            if not name.endswith(".gz"):
                text = read_block(file, start, size, b"\n")
                yield bare(text if start else text.removeprefix(MARK), marks)
                return
            before = MARK
            while text := file.read(size):
                yield bare((text + file.readline()).removeprefix(before), marks)
                before = b""
    except UNREADABLE as error:
        raise InputError(f"{name}: cannot be read: {error}") from None


def _lines_before(name: str, start: int) -> int:
    import fsspec

    if not start:
        return 0
    with fsspec.open(name, "rb") as file:
        file.seek(start)
        file.readline()
        end = file.tell()
        file.seek(0)
        lines = 0
        while end > 0 and (text := file.read(min(end, BLOCK))):
            lines += text.count(b"\n")
            end -= len(text)
    return lines
