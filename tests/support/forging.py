"""Files with right checksums and wrong content: arrays, facts and containers that no dgsuite writes.

A forged input is a folder of archives (.npz) and of lists of them (.json), or a dataset. A few
things in it are changed, and then all checksums are made right again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import warnings
import zipfile
from typing import Any

import numpy as np

Files = dict[str, bytes]

INTEGERS = (0, 1, -1, 2, 3, 7, 64, 255, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, -1.0, 0.5, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"))
DTYPES = (
    "i1",
    "u1",
    "i2",
    "i4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    "?",
    "U3",
    "S2",
    "c16",
    "M8[s]",
    ">i8",
    ">i4",
    ">f8",
    "O",
    "V8",
)
PLAIN: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        3,
        2**31,
        2**63 - 1,
        2**63,
        2**70,
        0.5,
        -1.5,
        1e300,
        float("nan"),
    ),
    *(
        "",
        "x",
        "<f8",
        "|O",
        "<U99999999",
        "../x.npz",
        "/etc/passwd",
        "memory://other/x.npz",
        "0" * 64,
    ),
    *("dgsuite graph 1", "sum", "NaN", "\ud800", "\0"),
    *([], {}, [0], [[]], {"a": 1}, {"array": [1], "dtype": "|O", "shape": [1]}),
)


def forged(files: Files, dice: random.Random) -> Files:
    """A folder with a few things changed, and right checksums."""
    found = dict(files)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        archives = sorted(name for name in found if name.endswith(".npz"))
        lists = sorted(name for name in found if name.endswith(".json"))
        match dice.randrange(8):
            case 0 | 1 | 2 | 3 if archives:
                name = dice.choice(archives)
                found[name] = archive(found[name], dice)
            case 4:
                found = settled(found)
                name = dice.choice(lists)
                found[name] = _list(found[name], dice)
                return found  # whose entries are wrong on purpose
            case 5 if archives:
                one, other = dice.choice(archives), dice.choice(archives)
                found[one] = found[other]
            case _:
                name = dice.choice(lists)
                found[name] = _fact(found[name], dice)
    return settled(found)


def settled(files: Files) -> Files:
    """The same with the sizes and checksums of archives, and then of lists, made right."""
    found = dict(files)
    for name, content in files.items():
        if name.endswith(".json"):
            try:
                whole = json.loads(content)
            except (ValueError, RecursionError):
                continue
            found[name] = signed(_entries(whole, files))
    return found


def _entries(value: Any, files: Files) -> Any:
    if isinstance(value, list):
        return [_entries(item, files) for item in value]
    if not isinstance(value, dict):
        return value
    name = value.get("file")
    if isinstance(name, str) and name in files and {"bytes", "sha256"} <= {*value}:
        content = files[name]
        return {**value, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return {key: _entries(item, files) for key, item in value.items()}


def signed(whole: Any) -> bytes:
    """A list with the checksum of its facts."""
    if isinstance(whole, dict) and "sha256" in whole:
        kind = next((key for key in whole if key != "sha256"), None)
        whole["sha256"] = hashlib.sha256(json.dumps(whole.get(kind)).encode()).hexdigest()
    return json.dumps(whole).encode()


def _list(content: bytes, dice: random.Random) -> bytes:
    """A list with changes at its top, entries or text."""
    if not dice.randrange(4):
        depth = dice.choice((50, 3000))
        return content[:-1] + b', "more": ' + b"[" * depth + b"]" * depth + b"}"
    whole = json.loads(content)
    places = [place for place in _places(whole) if {"file", "sha256"} & {*map(str, place)}]
    _change(whole, dice.choice(places or [*_places(whole)]), dice)
    return signed(whole)


def _fact(content: bytes, dice: random.Random) -> bytes:
    """A list with a fact changed."""
    whole = json.loads(content)
    _change(whole, dice.choice([*_places(whole)][1:] or [()]), dice)
    return signed(whole)


def _places(value: Any, before: tuple[Any, ...] = ()) -> Any:
    """The places of all values in JSON."""
    yield before
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from _places(item, (*before, key))


def _change(whole: Any, place: tuple[Any, ...], dice: random.Random) -> None:
    if not place:
        return
    for key in place[:-1]:
        whole = whole[key]
    key, before = place[-1], whole[place[-1]]
    match dice.randrange(6):
        case 0:
            del whole[key]
        case 1 if isinstance(whole, list):
            whole.insert(key, before)
        case 2 if type(before) is int:
            whole[key] = before + dice.choice((-1, 1, 2, 100))
        case 3 if type(before) is bool:
            whole[key] = not before
        case 4:
            deep: Any = []
            for _ in range(dice.choice((1, 3, 300))):
                deep = [deep] if dice.randrange(2) else {"a": deep}
            whole[key] = deep
        case _:
            whole[key] = dice.choice(PLAIN)


def archive(content: bytes, dice: random.Random) -> bytes:
    """An archive with an array, or the container, changed."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=True) as found:
            arrays = {name: found[name] for name in found.files}
    except Exception:  # of whatever type a pickle raises
        return content  # which was forged before
    names = list(arrays)
    if names:
        name = dice.choice(names)
        match dice.randrange(12):
            case 0:
                del arrays[name]
            case 1:
                arrays[
                    dice.choice(("order", "labels", "uid", "loops", "packed", "weights", "x/../y"))
                ] = arrays[name]
            case 2:
                arrays[name] = arrays[dice.choice(names)]
            case _:
                arrays[name] = array(arrays[name], dice)
    return _packed(arrays, dice)


def _packed(arrays: dict[str, Any], dice: random.Random) -> bytes:
    out = io.BytesIO()
    if not dice.randrange(20):
        np.savez_compressed(out, **arrays)
        return out.getvalue()
    twice = not dice.randrange(40)
    with zipfile.ZipFile(out, "w") as whole, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, values in arrays.items():
            one = io.BytesIO()
            np.lib.format.write_array(one, np.asanyarray(values), allow_pickle=True)
            text = one.getvalue()
            if not dice.randrange(40):  # a shape that is not that of the bytes
                text = text.replace(
                    b"'shape': (", b"'shape': (" + dice.choice((b"9", b"-", b"999999999,")), 1
                )
            for _ in range(1 + twice):
                whole.writestr(f"{name}.npy", text)
    return out.getvalue()


def array(values: Any, dice: random.Random) -> Any:
    """An array with its dtype, values, length or order changed."""
    values = np.array(values)
    flat = values.reshape(-1)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            match dice.randrange(9):
                case 0:
                    return values.astype(dice.choice(DTYPES))
                case 1 | 2 | 3 if len(flat):
                    some = slice(None) if not dice.randrange(3) else dice.randrange(len(flat))
                    flat[some] = _extreme(values.dtype, dice)
                case 4:
                    return flat[: dice.choice((0, 1, max(len(flat) - 1, 0)))]
                case 5:
                    return np.concatenate([flat, flat[: dice.choice((1, len(flat)))]])
                case 6 if len(flat):
                    order = dice.choice(("reversed", "shuffled", "sorted", "descending"))
                    at = list(range(len(flat)))
                    if order == "shuffled":
                        dice.shuffle(at)
                    if order in ("sorted", "descending"):
                        at = np.argsort(flat, kind="stable").tolist()
                    return flat[at[::-1] if order in ("reversed", "descending") else at]
                case 7 if len(flat):
                    at = dice.randrange(len(flat))
                    if values.dtype.kind in "iu":
                        flat[at] += np.array(dice.choice((1, -1, 2))).astype(values.dtype)
                    elif values.dtype.kind == "f":
                        flat[at] = dice.random()
                case 8:
                    return (
                        values.reshape(dice.choice(((-1, 1), (1, -1))))
                        if dice.randrange(2)
                        else np.array(flat[0])
                    )
    except (ValueError, TypeError, OverflowError, IndexError):
        return values
    return flat.reshape(values.shape)


def _extreme(dtype: np.dtype, dice: random.Random) -> Any:
    if dtype.kind == "f":
        return dice.choice(FLOATS)
    if dtype.kind == "U":
        return dice.choice(("", "\U0010ffff", "zzz"))
    if dtype.kind in "iu":
        return np.array(dice.choice(INTEGERS) % 2**64, np.uint64).astype(dtype)
    return dice.choice((0, 1))


def dataset(content: bytes, dice: random.Random) -> bytes:
    """A NetCDF file with variables, dimensions or attributes changed, and a right checksum."""
    import h5py

    from dgsuite.base import netcdf

    made = io.BytesIO(content[: -netcdf.TRAILER])
    with h5py.File(made, "a") as file:
        for _ in range(dice.choice((1, 1, 2, 3))):
            with contextlib.suppress(
                ValueError, TypeError, OSError, KeyError, RuntimeError, OverflowError
            ):
                _dataset(file, dice)
    return sealed(made.getvalue())


def sealed(content: bytes) -> bytes:
    """A NetCDF file with its checksum."""
    from dgsuite.base import netcdf

    return content + netcdf.MARK + hashlib.sha256(content).hexdigest().encode() + b"\n"


def _dataset(file: Any, dice: random.Random) -> None:
    names = sorted(file)
    name = dice.choice(names)
    match dice.randrange(7):
        case 0:
            del file[name]
        case 1:
            file.copy(name, dice.choice(("other", "node", "level", "round", "x")))
        case 2 | 3:
            values = array(file[name][()], dice)
            attrs = dict(file[name].attrs)
            del file[name]
            file[name] = values
            for key, value in attrs.items():
                if dice.randrange(4):
                    file[name].attrs[key] = value
        case 4:
            held = dice.choice((file, file[name])).attrs
            held[dice.choice([*sorted(held), "units", "dgsuite_codes"])] = dice.choice(
                (
                    0,
                    -1,
                    "",
                    "x",
                    "{",
                    "[1]",
                    '{"a": {"tuple": 1}}',
                    1e300,
                    [1, 2],
                    b"x",
                    True,
                    2**62,
                )
            )
        case 5:
            held = dice.choice((file, file[name])).attrs
            del held[dice.choice(sorted(held))]
        case _:
            flat = file[name][()]
            if getattr(flat, "size", 0) and flat.dtype.kind in "iuf":
                flat.reshape(-1)[dice.randrange(flat.size)] = _extreme(flat.dtype, dice)
                file[name][...] = flat
