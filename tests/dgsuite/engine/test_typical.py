"""Kernels that are tried on every axis use all of the engine that any kernel uses."""

from __future__ import annotations

from types import FunctionType

import numpy as np

from dgsuite.core.engine.inbox import ClusterInbox
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.kernels import KERNELS
from dgsuite.kernels.bsp import Kernel, Vote
from tests.dgsuite.engine.test_threads import cut_of, options
from tests.support.cases import TYPICAL

FLAGS = [name for name, kind in Kernel.__annotations__.items() if kind == "ClassVar[bool]"]

READ = [
    name
    for name in [*(name for name in dir(ClusterInbox) if not name.startswith("_")), "__getitem__"]
    if isinstance(getattr(ClusterInbox, name), property | FunctionType)
]
"""What a kernel reads messages by."""


def spied(name, seen):
    """An attribute of an inbox that is noted when it is read."""
    real = getattr(ClusterInbox, name)

    def noted(inbox):
        seen.add(name)
        return real.__get__(inbox, type(inbox))

    return property(noted)


def parts_of(kernel, patch):
    """What a run of a kernel uses: flags, needs, kinds of messages and their options, votes, ways to read."""
    seen = {name for name in FLAGS if getattr(kernel, name)} | {*kernel.needs}
    call = Site.call

    def noted(*arguments, **how):
        result = call(*arguments, **how)
        for item in result if type(result) is tuple else (result,):
            kind = type(item).__name__
            given = {} if item is None else item._asdict()
            seen.update((kind, name) for name, value in given.items() if value is not None)
            if isinstance(item, Vote):
                seen.update((name, np.asarray(value).dtype.kind) for name, value in given.items())
        return result

    with patch.context() as patched:
        patched.setattr(Site, "call", noted)
        for name in READ:
            patched.setattr(ClusterInbox, name, spied(name, seen))
        serial.run(kernel, cut_of(kernel.name, 3).parts)
    return seen


def test_typical_kernels_use_each_part(monkeypatch):
    used = {
        name: parts_of(kernel(**options(name)), monkeypatch) for name, kernel in KERNELS.items()
    }
    by_all = set().union(*used.values())
    assert {("Broadcast", "nodes"), ("Shipment", "to"), "reduce"} <= by_all
    missing = by_all.difference(*(used[name] for name in TYPICAL))
    users = {part: [name for name in used if part in used[name]] for part in missing}
    assert not missing, users
