"""Which dgsuite this process has, and whether a cluster's processes have the same."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from partition.client.waiting import Watch
from partition.errors import InputError
from partition.version import __version__

if TYPE_CHECKING:
    from distributed import Client

PACKAGES = ("dgsuite", "genval", "kernels", "partition")


class Install(NamedTuple):
    """What a process has."""

    python: str
    version: str | None
    """None: it has none."""
    code: str
    """Fingerprint of the source files; why there is none, where there is no version."""
    place: str

    def __str__(self) -> str:
        if self.version is None:
            return f"no dgsuite that Python {self.python} can import ({self.code})"
        return f"dgsuite {self.version} from {self.place} (code {self.code})"


@cache
def fingerprint() -> str:
    """Of all source files of the packages: two checkouts may have the same version.

    Files are found as Python finds them, in folders, editable installations and zip files.
    """
    found = hashlib.sha256(__version__.encode())
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        reader = spec.loader.get_resource_reader(package)  # type: ignore[union-attr]
        for name, source in _sources(package, reader.files()):  # type: ignore[union-attr]
            found.update(f"\0{name}\0".encode())
            found.update(source.read_bytes())
    return found.hexdigest()[:12]


def _sources(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".py"):
            yield f"{name}/{item.name}", item
        elif item.is_dir() and item.name != "__pycache__":
            yield from _sources(f"{name}/{item.name}", item)


def here() -> Install:
    """What this process has."""
    place = str(Path(__file__).resolve().parents[2])
    return Install(sys.executable, __version__, fingerprint(), place)


def _asker() -> Callable[[], tuple[str, str | None, str, str]]:
    """A function that travels by value, so that it runs where dgsuite is not."""

    def ask() -> tuple[str, str | None, str, str]:
        import sys
        from importlib import import_module

        try:
            dgsuite = import_module("dgsuite")
            try:
                from partition.client.installed import here

                return tuple(here())  # type: ignore[return-value]
            except ImportError:  # from before versions were compared
                return sys.executable, dgsuite.__version__, "unknown", dgsuite.__path__[0]
        except Exception as error:
            return sys.executable, None, f"{type(error).__name__}: {error}", ""

    return ask


def check(client: Client, workers: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse a cluster whose processes have another dgsuite than this one, or none.

    Each process is asked once per client.

    Parameters
    ----------
    workers
        What the scheduler knows of each worker, by address.

    Raises
    ------
    InputError
        Naming the process, what it has, and what to do.
    RunError
        A worker is gone, or does not answer.
    """
    if not hasattr(client, "_dgsuite_alike"):
        client._dgsuite_alike = set()
    alike: set[str] = client._dgsuite_alike
    new = {address: f"{info['epoch']} {address}" for address, info in workers.items()}
    new = {address: key for address, key in new.items() if key not in alike}
    ask = _asker()
    found: dict[str, Any] = {}
    if "scheduler" not in alike:
        address = client.scheduler.address  # type: ignore[union-attr]
        found[f"the scheduler at {address}"] = client.run_on_scheduler(ask)
    if new:
        watch = Watch(client, "comparing versions", list(new))
        answers = watch.call(lambda: client.run(ask, workers=list(new), on_error="ignore"))
        found |= {f"worker {address}": answer for address, answer in answers.items()}
    own = here()
    others = {who: Install(*answer) for who, answer in found.items()}
    wrong = [who for who, other in others.items() if other.code != own.code]
    if wrong:
        more = f" (and {len(wrong) - 1} more processes differ)" if wrong[1:] else ""
        raise InputError(
            f"{wrong[0]} has {others[wrong[0]]}{more}, and this process has {own}; install the same "
            f"dgsuite for both, then start {wrong[0].partition(' at ')[0]} anew"
        )
    alike |= {"scheduler", *new.values()}
