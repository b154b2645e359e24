"""What a result was made by: our code, the packages that compute, and the machine.

Two runs whose circumstances are the same can be compared, times included.
"""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from distributed import Client

COMPUTE = ("python", "dask", "distributed", "numba", "numpy", "scipy")
"""Those whose versions may change results or times."""


LOOK = 0.1
"""Seconds over which the load is measured."""


@cache
def machine() -> dict[str, Any]:
    """This machine, as attributes of a dataset.

    Returns
    -------
    dict
        ``machine``: processor, its number and memory, which decide what a run takes. The host's name is
        left out: equal machines take equal times, and containers have a new name each time.
        ``processors``: how many can compute side by side.
    """
    processors = os.cpu_count() or 1
    memory = psutil.virtual_memory().total / 2**30
    text = f"{_processor()}, {processors} processors, {memory:.0f} GiB"
    return {"machine": text, "processors": processors}


def moment() -> dict[str, float]:
    """How busy and how fast this machine is now, as attributes of a dataset.

    Returns
    -------
    dict
        ``load``: how many processors are busy during the next tenth of a second. This process waits
        meanwhile, so it is the load of other programs. A load average would also count the workers of the
        run before. ``processor_hertz``: what the system says of its processors, where it does; they may be
        faster for a while.
    """
    speed = psutil.cpu_freq()
    known = {} if speed is None else {"processor_hertz": 1e6 * float(speed.current)}
    busy = psutil.cpu_percent(LOOK) / 100 * (psutil.cpu_count() or 1)
    return {"load": busy, **known}


def _processor() -> str:
    """Model of the processor, where the system says it, and its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return " ".join([*next(models, platform.processor()).split(), f"({platform.machine()})"])


def _host() -> tuple[str, dict[str, Any]]:
    return platform.node(), machine()


def machine_of(client: Client | None, workers: Sequence[str] = ()) -> dict[str, Any]:
    """The machine or machines of a client's workers, as `machine` has it; None is this process.

    Parameters
    ----------
    workers
        Their addresses, if they are known; otherwise the scheduler is asked.
    """
    if client is None:
        return machine()
    from dgsuite.partition.client.session import Session
    from dgsuite.partition.client.waiting import Watch
    from dgsuite.partition.client.workers import worker_addresses

    places = frozenset(workers or worker_addresses(client))

    def asked() -> tuple[frozenset[str], dict[str, Any]]:
        watch = Watch(client, "asking for the workers' machines", places)
        hosts = dict(watch.call(partial(client.run, _host, on_error="ignore")).values())
        return places, _together(list(hosts.values()))

    return Session.of(client).kept.get("machine", asked, lambda known: known[0] == places)[1]


def _together(hosts: list[dict[str, Any]]) -> dict[str, Any]:
    """Several machines as one."""
    texts = Counter(str(host["machine"]) for host in hosts)
    named = [text if n == 1 else f"{n} x {text}" for text, n in sorted(texts.items())]
    return {"machine": "; ".join(named), "processors": sum(host["processors"] for host in hosts)}


def side_by_side(attrs: Mapping[str, Any]) -> int:
    """How many threads of a run compute at once, from a dataset's attributes.

    Where the processes are bound to some processors, as many as these. Else one of each worker; but all its
    threads share a workload. In style "in_turn" one worker computes at a time.
    """
    if attrs.get("style") in ("serial", "in_turn"):
        return 1
    if int(attrs.get("hwts", -1)) > 0:
        return int(attrs["hwts"])
    workers = int(attrs.get("workers", 1))
    workers = min(workers, int(attrs.get("clusters", workers)))
    return workers * (int(attrs.get("threads", 1)) if attrs.get("workload") else 1)


def oversubscribed(attrs: Mapping[str, Any]) -> bool:
    """Whether more threads of a run computed at once than the machine that measured it has processors.

    Where the attributes do not say how many processors there were, it is not known, and False.
    """
    return 0 < int(attrs.get("processors", 0)) < side_by_side(attrs)


def circumstances(attrs: Mapping[str, Any]) -> dict[str, str]:
    """What decides whether a result can be used again, from a dataset's attributes.

    Parameters
    ----------
    attrs
        With ``code`` (see `dgsuite.partition.client.installed.fingerprint`), ``versions`` (JSON) and
        ``machine``.
    """
    versions = json.loads(attrs.get("versions", "{}"))
    found = {"code": str(attrs.get("code", "")), "machine": str(attrs.get("machine", ""))}
    return found | {name: str(versions.get(name, "")) for name in COMPUTE}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What is different between two circumstances, in words; "" where nothing is."""
    found = []
    for name, value in now.items():
        was = before.get(name, "")
        if was != value and name == "code":
            found.append("the code of dgsuite has changed")
        elif was != value:
            found.append(f"{name} was {was or 'not noted'} and is {value}")
    return "; ".join(found)
