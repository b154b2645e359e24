"""NumPy archives in a folder, or at a URL of fsspec, and lists of them with their checksums.

An archive (.npz) holds arrays and no pickled objects, so any program that has NumPy can read it. Its *entry*
in a list says its name, size and SHA-256. An archive is compared with its entry before it is parsed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base import formats
from dgsuite.base.errors import InputError, check_path
from dgsuite.base.files import atomic_write
from dgsuite.partition.arrays import mapped as mapping

ALIGNED = 64
"""Bytes of which the place of an array in a file is a multiple."""

HEAD = 30
"""Bytes of the head of a member, whose last four are the lengths of its name and of its extra fields."""

ZIP64 = 20
"""Bytes by which `zipfile` lengthens the head of a member that may be large."""

EXTRA, PADDING = struct.Struct("<HH"), 0xD935
"""Head of an extra field of a member, and the kind of that which is padding."""

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

    Raises
    ------
    InputError
        The file is missing, or damaged.
    """
    with _matching(folder, entry) as file, np.load(file, allow_pickle=False) as found:
        return dict(found)


def mapped(folder: str, entry: Entry) -> dict[str, NDArray]:
    """The arrays of a file in place, once it has matched its entry in the list; not to be written to.

    A file that is not on a local disk is copied to one, and so are arrays that cannot be read in place.

    Raises
    ------
    InputError
        The file is missing, or damaged, or there is no room for the copy.
    """
    from fsspec.implementations.local import LocalFileSystem

    path = join(folder, entry["file"])
    files, inner = opened(path)
    if not isinstance(files, LocalFileSystem):
        with _matching(folder, entry) as file:
            return mapping.copied(file, entry["bytes"], _places)
    with _matching(folder, entry) as file:
        places = _places(file)
        if all(first % ALIGNED == 0 for first, *_ in places.values()):
            return mapping.of_file(inner, places)
    return {name: mapping.moved(array) for name, array in read(folder, entry).items()}


def _places(file: IO[bytes]) -> dict[str, tuple[int, tuple[int, ...], np.dtype]]:
    """Of each array of an archive: its first byte, its shape, and its dtype."""
    found = {}
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            file.seek(member.header_offset)
            head = file.read(HEAD)
            file.seek(sum(struct.unpack("<HH", head[-4:])), os.SEEK_CUR)
            version = np.lib.format.read_magic(file)
            read_header = {
                1: np.lib.format.read_array_header_1_0,
                2: np.lib.format.read_array_header_2_0,
            }
            shape, _, dtype = read_header[version[0]](file)
            found[member.filename.removesuffix(".npy")] = file.tell(), shape, dtype
    return found


def check(folder: str, entry: Entry) -> None:
    """Compare a file with its entry in the list; one in memory by its size alone.

    Raises
    ------
    InputError
        The file is missing, or damaged.
    """
    path = join(folder, entry["file"])
    with explained(path):
        files, inner = opened(path)
        if _in_memory(files):
            _check_size(path, files.size(inner), entry)
            return
    with _matching(folder, entry):
        pass


def _in_memory(files: Any) -> bool:
    """Whether files of a file system appear when they are complete, and are not damaged later."""
    return getattr(files, "in_memory", False)


def _check_size(path: str, size: int, entry: Entry) -> None:
    if size != entry["bytes"]:
        raise InputError(
            f"{path}: is damaged: it has {size} bytes, but was written with {entry['bytes']}"
        )


@contextmanager
def _matching(folder: str, entry: Entry) -> Iterator[IO[bytes]]:
    """A file that matches its entry in the list, to read."""
    path = join(folder, entry["file"])
    with explained(path):
        files, inner = opened(path)
        _check_size(path, files.size(inner), entry)
        with files.open(inner, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                raise InputError(f"{path}: is damaged: it does not match its checksum")
            file.seek(0)
            yield file


def write_list(folder: str, name: str, kind: str, facts: dict[str, Any], new: bool = False) -> None:
    """Write a list of files, and other facts, as JSON that holds its own checksum.

    Parameters
    ----------
    kind
        What it is a list of, such as "graph".
    new
        Whether there must be none of this name.

    Raises
    ------
    FileExistsError
        There is one, and it was to be new.
    """
    facts = {formats.KEY: formats.current(kind), **facts}
    whole = json.dumps({"sha256": _digest(facts), kind: facts}).encode()
    if new:
        _create(join(folder, name), whole)
        return
    with written(join(folder, name)) as file:
        file.write(whole)


def _create(path: str, content: bytes) -> None:
    """Write a file whose name must be new. In object stores two processes at once may not see each other."""
    from fsspec.implementations.local import LocalFileSystem

    files, inner = opened(path)
    if not isinstance(files, LocalFileSystem):
        if files.exists(inner):
            raise FileExistsError(path)
        with written(path) as file:
            file.write(content)
        return
    part = f"{inner}.{token_hex(8)}.part"
    try:
        with written(part) as file:
            file.write(content)
        os.link(part, inner)
    finally:
        remove(part)


def read_list(folder: str, name: str, kind: str) -> dict[str, Any]:
    """The facts that `write_list` wrote.

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
        fits = _digest(facts) == whole["sha256"]
    except (ValueError, TypeError, KeyError):
        fits = False
    if not fits:
        raise InputError(f"{path}: is damaged, or is not the list of a {kind}'s files")
    formats.check(kind, facts.get(formats.KEY), path)
    return facts


def _digest(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def names(folder: str) -> list[str]:
    """Names of all files in a folder."""
    files, inner = opened(folder)
    with explained(folder):
        return [os.path.basename(found) for found in files.ls(inner, detail=False)]


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    files, inner = opened(path)
    with explained(path):
        if files.exists(inner):
            files.rm(inner)


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
    from fsspec.implementations.local import LocalFileSystem

    files, inner = opened(path)
    if isinstance(files, LocalFileSystem):
        with atomic_write(inner) as part, open(part, "wb") as file:
            yield file
        return
    if _in_memory(files):
        with explained(path), files.open(inner, "wb") as file:
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
