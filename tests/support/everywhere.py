"""What runs on a platform, from running it: `python -m tests.support.everywhere` prints it as JSON.

With an environment of `environment` it shows what another platform would do. With ``--table`` it prints the
table of docs/howto/platforms.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

from tests.support.paths import ROOT

KERNELS = "bfs", "mis", "pagerank"
"""A search, random choices, and sums of floats."""

PLATFORMS = {
    "": "Linux, x86-64",
    "linux-aarch64": "Linux, aarch64",
    "macos-arm64": "macOS, arm64",
    "windows-x86-64": "Windows, x86-64",
    "none-of-all": "none of these",
}
"""By their names in `elsewhere`; the first is this one."""


def environment(platform: str) -> dict[str, str]:
    """The environment of a process on another platform."""
    folder = ROOT / "tests" / "support" / "elsewhere"
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return {**os.environ, "PYTHONPATH": paths, "DGSUITE_TEST_PLATFORM": platform}


def found(platform: str) -> dict[str, str]:
    """What runs on a platform: results by how they come about."""
    command = [sys.executable, "-m", "tests.support.everywhere"]
    env = environment(platform) if platform else {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{platform}: {done.stderr}")
    printed: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return printed


def runs() -> Iterator[tuple[str, str]]:
    """Run each style, and yield how it was run and the digest of its results, or what happened."""
    import dgsuite
    from dgsuite import genval
    from dgsuite.base.errors import DgsuiteError
    from dgsuite.studies.experiment.clusters import check_protocol
    from tests.support.clusters import client_of

    def results(style, client):
        graph = genval.graph("er", 600, m=4000, clusters=4, seed=1, client=client)
        made = [dgsuite.run(kernel, graph, style=style, client=client) for kernel in KERNELS]
        parts = [ds[name].values.tobytes() for ds in made for name in ("messages", *outputs(ds))]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:12]

    yield "serial", results("serial", None)
    for where, processes in (("in this process", False), ("two processes", True)):
        with client_of(2, set_as_default=False, processes=processes) as client:
            for style in ("clocked", "in_turn", "finish_async"):
                yield f"{style}, {where}", results(style, client)
                if style == "clocked" and processes:
                    yield "tasks talk by", next(iter(client.run(talk).values()))
    for scheme in ("uds", "mpb", "mpimpb", "throttle+tcp"):
        try:
            check_protocol(scheme)
            yield scheme, "works"
        except DgsuiteError as error:
            yield scheme, str(error)


def outputs(ds):
    return [name for name in ds.data_vars if "node" in ds[name].dims]


def talk(dask_worker) -> str:
    """On a worker: how the tasks of the last clocked run reach each other."""
    kept = dask_worker.plugins["dgsuite"].meshes._kept
    mesh, _ = next(reversed(kept.values()))
    shared = mesh.values is not None and len(mesh.values) > 0
    return f"{mesh.scheme}{', broadcasts' * shared}{', barrier' * (mesh.gate is not None)}"


def table(by_platform: Mapping[str, Mapping[str, str]]) -> str:
    """The page's table: a row for each style and transport, a column for each platform."""
    here = by_platform[""]
    rows = [["", *(PLATFORMS[name] for name in by_platform)], ["---"] * (len(by_platform) + 1)]
    for how in here:
        cells = []
        for there in by_platform.values():
            same = "same results" if there[how] == here["serial"] else there[how]
            cells.append("refused" if same.startswith("protocol") else same)
        rows.append([how, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    if "--table" in sys.argv:
        print(table({name: found(name) for name in PLATFORMS}))
    else:
        print(json.dumps(dict(runs())))
