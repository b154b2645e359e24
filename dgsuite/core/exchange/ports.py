"""The ports on which tasks of a clocked run listen."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dgsuite.base.errors import InputError
from dgsuite.partition.client.settings import setting

HIGHEST = 65535


def ports() -> Iterable[int]:
    """Ports that this worker may listen on, first choice first; 0 is one that the system chooses.

    The worker's own configuration decides: ``dgsuite.clocked.port`` is a port, or a range such as
    "9100:9199", both ends included, as of ``dask worker --worker-port``.

    Raises
    ------
    InputError
        The setting is neither.
    """
    chosen = setting("dgsuite.clocked.port")
    if chosen is None:
        return [0]
    if found := re.fullmatch(r"(\d+)(?::(\d+))?", str(chosen)):
        first, last = int(found[1]), int(found[2] or found[1])
        if first <= last <= HIGHEST:
            return range(first, last + 1)
    raise InputError(
        "dgsuite.clocked.port must be a port such as 9100, or a range such as '9100:9199', "
        f"got {chosen!r}"
    )
