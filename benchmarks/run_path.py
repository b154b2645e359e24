"""How many own functions a steady run passes through, on the client, in one task, and in one round of it.

python benchmarks/run_path.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import common
from common import Options, record

TOOL = 4
"""Number of a tool of `sys.monitoring` that nobody else has."""

STEP = "Site.step"
"""Function with which each phase begins."""

HERE = SimpleNamespace()
"""Holds the calls in this process; in a worker's, Dask's worker does."""

MOST = {"run": 240, "round": 70, "files of a round": 15}
"""Bounds of what is counted."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--rounds", 9, 3, help="of the run")
    with options.recorded(arguments) as given, common.cluster(2) as client:
        import dgsuite
        from dgsuite import genval

        n = 2 * (given.rounds - 1)
        graph = genval.graph("ring", n, clusters=2, client=client)
        how = {"style": "clocked", "client": client, "root": 0}
        dgsuite.run("bfs", graph, **how)
        client.run(watch)
        watch()
        ds = dgsuite.run("bfs", graph, **how)
        own = watched()
        tasks = [*client.run(watched).values()]
        assert ds.sizes["round"] == given.rounds
        counted("run", [*own, *tasks[0], *tasks[1]])
        counted("client", own)
        counted("task", tasks[0])
        begins = [at for at, (_, name) in enumerate(tasks[0]) if name == STEP]
        counted("round", tasks[0][begins[-3] : begins[-2]])


def counted(what: str, calls: Sequence[tuple[str, str]]) -> None:
    """Record how many calls, functions and files there are."""
    files = f"files of a {what}"
    record("calls", len(calls), "", of=what)
    record("functions", len({*calls}), "", of=what, most=MOST.get(what))
    record("files", len({file for file, _ in calls}), "", of=what, most=MOST.get(files))


def watch(dask_worker: Any = None) -> None:
    """Note the file and the name of each function of dgsuite that is called in this process from now on."""
    import dgsuite

    roots = tuple(str(Path(found).resolve()) for found in dgsuite.__path__)
    monitoring = sys.monitoring

    def begun(code: Any, offset: int) -> Any:
        if not code.co_filename.startswith(roots) or "/benchmarks/" in code.co_filename:
            return monitoring.DISABLE
        if "site-packages" in code.co_filename or "<" in code.co_name:  # comprehensions, lambdas
            return monitoring.DISABLE
        calls.append((code.co_filename, code.co_qualname))
        return None

    calls = (dask_worker or HERE).calls = []
    monitoring.use_tool_id(TOOL, "dgsuite path")
    monitoring.register_callback(TOOL, monitoring.events.PY_START, begun)
    monitoring.set_events(TOOL, monitoring.events.PY_START)


def watched(dask_worker: Any = None) -> list[tuple[str, str]]:
    """Stop, and say what has been called."""
    sys.monitoring.set_events(TOOL, 0)
    sys.monitoring.free_tool_id(TOOL)
    return [*(dask_worker or HERE).calls]


if __name__ == "__main__":
    main()
