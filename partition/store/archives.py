"""NumPy archives in a folder, or at a URL of fsspec, and lists of them with their checksums.

An archive (.npz) holds arrays and no pickled objects, so any program that has NumPy can read it. Its *entry*
in a list says its name, size and SHA-256. An archive is compared with its entry before it is parsed, and what
it holds is checked: see `dgsuite.partition.store.checking`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import mmap
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import formats
from dgsuite.base.errors import InputError, check_path
from dgsuite.base.files import atomic_write
from dgsuite.partition.arrays import mapped as mapping
from dgsuite.partition.store import checking

ALIGNED = 64
"""Bytes of which the place of an array in a file is a multiple."""

HEAD = 30
"""Bytes of the head of a member, whose last four are the lengths of its name and of its extra fields."""

ZIP64 = 20
"""Bytes by which `zipfile` lengthens the head of a member that may be large."""

EXTRA, PADDING = struct.Struct("<HH"), 0xD935
"""Head of an extra field of a member, and the kind of that which is padding."""

PIECE = 1 << 20
"""Bytes of a file that are read and hashed at a time."""

NAME = re.compile(r"[a-z]+(-[0-9a-z]+)+\.npz")
"""Names of all archives."""

Entry = dict[str, Any]
"""Name, size in bytes and checksum of an archive."""


def write(folder: str, name: str, arrays: dict[str, NDArray]) -> Entry:
    """Write arrays to a file; returns its entry in the list."""
    with written(join(folder, name)) as file:
        hashed = _Hashed(file)
        _save(hashed, arrays)
        return {"file": name, "bytes": hashed.size, "sha256": hashed.sha256.hexdigest()}


def _save(file: _Hashed, arrays: dict[str, NDArray]) -> None:
    """What `numpy.savez` writes, with each array at a place where it can be mapped and read in place."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            head = file.size + HEAD + len(member.filename) + ZIP64
            pad = -(head + EXTRA.size) % ALIGNED
            member.extra = EXTRA.pack(PADDING, pad) + bytes(pad)
            with archive.open(member, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, np.asanyarray(array), allow_pickle=False)


class _Hashed(io.RawIOBase):
    """A file that is written once, from its start to its end, and its checksum."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.size = 0
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.file.write(data)
        self.sha256.update(data)
        self.size += len(data)
        return len(data)


def read(folder: str, entry: Entry) -> dict[str, NDArray]:
    """The arrays of a file, once it has matched its entry in the list.

    The file is read once, and hashed meanwhile. Its arrays are parts of what was read.

    Raises
    ------
    InputError
        The file is missing, or damaged.
    """
    path = place(folder, entry)
    content = _content(path, entry, lambda size: _Memory(-1, size, access=mmap.ACCESS_COPY))
    with checking.sound(path):
        found = mapping.arrays(content, _places(content), kept=False)
        return {name: a if a.flags.aligned else a.copy() for name, a in found.items()}


class _Memory(mmap.mmap):
    """Memory of this process alone that can be read as a file."""

    def seek(self, *place: Any) -> Any:
        try:
            return super().seek(*place)
        except ValueError as error:
            raise OSError(str(error)) from None  # which `zipfile` expects


def mapped(folder: str, entry: Entry) -> dict[str, NDArray]:
    """The arrays of a file in place, once it has matched its entry in the list; not to be written to.

    A file that is not on a local disk is copied to one, and so are arrays that cannot be read in place.

    Raises
    ------
    InputError
        The file is missing, or damaged, or there is no room for the copy.
    """
    path = place(folder, entry)
    with explained(path):
        files, inner = opened(path)
    if not _is_local(files):
        copy = _content(path, entry, mapping.made)
        with checking.sound(path):
            return mapping.arrays(copy, _places(copy))
    check(folder, entry)
    with explained(path), open(inner, "rb") as file, checking.sound(path):
        places = _places(file)
    if all(first % ALIGNED == 0 for first, *_ in places.values()):
        return mapping.of_file(inner, places)
    return {name: mapping.moved(array) for name, array in read(folder, entry).items()}


def _places(file: Any) -> mapping.Places:
    """Of each array of an archive: its first byte, its shape, its dtype, and its order.

    Raises
    ------
    ValueError
        A member is no array, is deflated, holds objects, or is not as long as it says.
    """
    found: mapping.Places = {}
    end = 0
    size = file.seek(0, os.SEEK_END) or file.tell()  # mapped files return None before Python 3.13
    with zipfile.ZipFile(file) as archive:
        members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    for member in members:
        name = member.filename.removesuffix(".npy")
        stored = member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1
        checking.refuse(not stored, f"its array {name!r} is compressed or encrypted")
        checking.refuse(name in found or member.header_offset < end, f"{name!r} is there twice")
        file.seek(member.header_offset)
        head = file.read(HEAD)
        file.seek(sum(struct.unpack("<HH", head[-4:])), os.SEEK_CUR)
        begin = file.tell()
        read_header = "read_array_header_{}_{}".format(*np.lib.format.read_magic(file))
        shape, fortran, dtype = getattr(np.lib.format, read_header)(file)
        first, end = file.tell(), begin + member.file_size
        plain = not dtype.hasobject and dtype.subdtype is None and dtype.itemsize > 0
        checking.refuse(not plain, f"{name!r} has dtype {dtype}, which no file may have")
        whole = first + math.prod(shape) * dtype.itemsize == end <= size
        checking.refuse(
            not whole or min(shape, default=0) < 0,
            f"{name!r} has the shape {shape} of dtype {dtype}, which are not {member.file_size} bytes",
        )
        found[name] = first, shape, dtype, "F" if fortran else "C"
    return found


def place(folder: str, entry: Any) -> str:
    """The path of the file of an entry, which must be a plain name in the folder.

    Raises
    ------
    InputError
        The entry is none, or names another place.
    """
    with checking.sound(folder):
        checking.facts(entry, {"file": str, "bytes": checking.is_count, "sha256": str})
        checking.refuse(
            not NAME.fullmatch(entry["file"]),
            f"its list names the file {entry['file'][:200]!r}; files have names such as "
            f"'cluster-0000-0123abcd.npz', and are in the folder",
        )
    return join(folder, entry["file"])


def check(folder: str, entry: Entry) -> None:
    """Compare a file with its entry in the list.

    Raises
    ------
    InputError
        The file is missing, or damaged.
    """
    path = place(folder, entry)
    with _sized(path, entry) as file:
        _check_hash(path, hashlib.file_digest(file, "sha256"), entry)


def _check_size(path: str, size: int, entry: Entry) -> None:
    if size != entry["bytes"]:
        raise InputError(
            f"{path}: is damaged: it has {size} bytes, but was written with {entry['bytes']}"
        )


@contextmanager
def _sized(path: str, entry: Entry) -> Iterator[Any]:
    """A file that has as many bytes as its entry in the list says, to read."""
    with explained(path):
        files, inner = opened(path)
        if _is_local(files):
            _check_link(path, inner)
        _check_size(path, files.size(inner), entry)
        with files.open(inner, "rb") as file:
            yield file


def _is_local(files: Any) -> bool:
    from fsspec.implementations.local import LocalFileSystem

    return isinstance(files, LocalFileSystem)


def _check_link(path: str, inner: str) -> None:
    """Refuse a link to a file that is not in the folder."""
    there = os.path.dirname(os.path.realpath(inner))
    if there != os.path.realpath(os.path.dirname(inner)):
        raise InputError(f"{path}: is a link out of the folder, to {there}; copy the file into it")


def _check_hash(path: str, found: Any, entry: Entry) -> None:
    if found.hexdigest() != entry["sha256"]:
        raise InputError(f"{path}: is damaged: it does not match its checksum")


def _content(path: str, entry: Entry, make: Callable[[int], Any]) -> Any:
    """A file in memory that is made for it, once it has matched its entry. It is read once."""
    sha256, at = hashlib.sha256(), 0
    with _sized(path, entry) as file:
        made = make(entry["bytes"])
        content = memoryview(made)
        while many := file.readinto(content[at : at + PIECE]):
            sha256.update(content[at : at + many])
            at += many
    _check_size(path, at, entry)
    _check_hash(path, sha256, entry)
    return made


def write_list(folder: str, name: str, kind: str, facts: dict[str, Any]) -> None:
    """Write a list of files, and other facts, as JSON that holds its own checksum.

    Parameters
    ----------
    kind
        What it is a list of, such as "graph".
    """
    facts = {formats.KEY: formats.current(kind), **facts}
    with written(join(folder, name)) as file:
        file.write(json.dumps({"sha256": _digest(facts), kind: facts}).encode())


def read_list(
    folder: str, name: str, kind: str, needed: Mapping[str, checking.Kind]
) -> dict[str, Any]:
    """The facts that `write_list` wrote.

    Parameters
    ----------
    needed, optional
        What they must be: see `dgsuite.partition.store.checking.facts`.

    Raises
    ------
    InputError
        There are none, they are damaged, or they have another form.
    """
    path = join(folder, name)
    with explained(path):
        files, inner = opened(path)
        content = files.cat_file(inner)
    try:
        whole = json.loads(content)
        facts: dict[str, Any] = whole[kind]
        fits = _digest(facts) == whole["sha256"] and isinstance(facts, dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        fits = False
    if not fits:
        raise InputError(f"{path}: is damaged, or is not the list of a {kind}'s files")
    formats.check(kind, facts.get(formats.KEY), path)
    with checking.sound(path):
        checking.facts(facts, needed)
    return facts


def _digest(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def join(folder: str, name: str) -> str:
    """The path or URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}"


def absolute(path: str | os.PathLike[str]) -> str:
    """A path that is the same on workers, or a URL."""
    check_path(path)
    given = os.fspath(path)
    with explained(given):
        _, inner = opened(given)
    return given if "://" in given else inner


def opened(path: str) -> tuple[Any, str]:
    """The file system of a path or URL, and the path in it."""
    from fsspec.core import url_to_fs

    files, inner = url_to_fs(path)
    return files, inner


@contextmanager
def written(path: str) -> Iterator[IO[bytes]]:
    """A file to write. It gets its name when it is complete."""
    files, inner = opened(path)
    if _is_local(files):
        with atomic_write(inner) as part, open(part, "wb") as file:
            yield file
        return
    part = f"{inner}.{token_hex(8)}.part"
    with explained(path):
        try:
            with files.open(part, "wb") as file:
                yield file
            files.mv(part, inner)
        except BaseException:
            if files.exists(part):
                files.rm(part)
            raise


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Replace errors of a file system by `InputError`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ImportError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise InputError(f"{path}: cannot be opened: {reason}") from None
