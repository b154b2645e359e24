"""The files that a path, a pattern or a URL names."""

from __future__ import annotations

import os
from glob import glob, has_magic

from dgsuite.base.errors import InputError, check_path


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
