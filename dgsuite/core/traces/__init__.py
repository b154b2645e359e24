"""Traces of runs: what clusters send each other, phase by phase; written, read, and used by simulators.

A trace is an `xarray.Dataset` with dims

* ``phase``, one for each phase that ran: its ``round`` (in recursive form, depth) and ``name``, and, with
  dim ``cluster``, ``compute_seconds`` and ``exchange_seconds`` (time until the next phase);
* ``record``, one for each pair of clusters with messages in a phase: the number of the phase, ``source``,
  ``destination`` (both may be the same cluster), ``messages``, and ``bytes`` of payload.

Its attributes are those of the run's dataset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.core.traces.files import read, write
    from dgsuite.core.traces.form import between, matrix

__all__ = ["between", "matrix", "read", "write"]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "between": "dgsuite.core.traces.form:between",
        "matrix": "dgsuite.core.traces.form:matrix",
        "read": "dgsuite.core.traces.files:read",
        "write": "dgsuite.core.traces.files:write",
    },
)
