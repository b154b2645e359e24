"""Which tests could notice a change of a file."""

import re
from functools import cache
from pathlib import Path

AXES = [
    *("dgsuite/engine/test_exchange.py", "kernels/test_small_graphs.py"),
    *("genval/test_rules.py", "kernels/test_costs.py"),
    *("kernels/test_contract.py", "dgsuite/accounting/test_counts.py"),
    *("dgsuite/executors/test_recursive.py", "dgsuite/workers/test_checkpoint.py"),
]
"""Files that try every kernel."""

MOST = 6
"""Kernels that are tried for a change of what many kernels use."""

FEW = ["bfs", "mis", "pagerank", "sssp", "leiden", "dst", "by", "bf", "scc", "similarity"]
"""Those that are tried for a change outside the kernels."""

WORKERS, RUNS, CONTRACT = "dgsuite/workers", "dgsuite/executors", "kernels/test_contract.py"

TESTS = {
    "dgsuite/base": [
        *("partition/test_netcdf.py", "dgsuite/cli/test_command.py"),
        "dgsuite/engine/test_loading.py",
    ],
    "dgsuite/core/engine": [
        *("dgsuite/engine/test_exchange.py", "dgsuite/engine", "kernels/test_rounds.py"),
        *(CONTRACT, "kernels/test_declared.py", "kernels/test_numbers.py"),
        *("dgsuite/test_traces.py", "dgsuite/network/test_network.py"),
        *(f"{WORKERS}/test_checkpoint.py", f"{WORKERS}/test_memory.py", RUNS),
    ],
    "dgsuite/core/exchange": [
        *(f"{WORKERS}/test_collectives.py", f"{WORKERS}/test_channels.py"),
        *("dgsuite/transports/test_gate.py", CONTRACT, "kernels/test_rounds.py"),
        *(f"{WORKERS}/test_many_workers.py", RUNS, WORKERS, "dgsuite/scaling/test_stopping.py"),
    ],
    "dgsuite/core/executors": [
        *(f"{RUNS}/test_forms.py", RUNS, "kernels/test_rounds.py", CONTRACT),
        *("dgsuite/network/test_late_tasks.py", WORKERS),
    ],
    "dgsuite/studies/network": [
        *("dgsuite/network/test_network.py", "dgsuite/network", "kernels", "dgsuite/lab")
    ],
    "dgsuite/core/recursion": [
        *(f"{RUNS}/test_recursive.py", RUNS, "dgsuite/network/test_late_tasks.py", CONTRACT),
        *("dgsuite/test_traces.py", f"{WORKERS}/test_checkpoint.py"),
    ],
    "dgsuite/core/results": [
        *("dgsuite/test_accessor.py", "dgsuite/experiment/test_figures.py"),
        *(f"{WORKERS}/test_outputs.py", f"{WORKERS}/test_dask_internals.py"),
        *("partition/test_labels.py", "dgsuite/experiment/test_experiment.py"),
    ],
    "dgsuite/core/running": [
        *(CONTRACT, RUNS, "dgsuite/experiment", f"{WORKERS}/test_session.py"),
        *(f"{WORKERS}/test_recovery.py", f"{WORKERS}/test_checkpoint.py", "dgsuite/cli", WORKERS),
    ],
    "dgsuite/core/transports": [
        *("dgsuite/transports/test_transport_comms.py", "dgsuite/transports"),
        f"{WORKERS}/test_exchanges.py",
    ],
    "dgsuite/core/workers": [f"{WORKERS}/test_threads.py", WORKERS, RUNS],
    "genval": [
        *("genval/test_rules.py", "genval", "kernels/test_small_graphs.py"),
        "dgsuite/cli/test_command.py",
    ],
    "kernels": [*AXES, "kernels"],
    "partition": ["partition/test_partition.py", "partition", *AXES[:2]],
}
"""By area: a file that is tried first, and what is tried after the files that name the changed module."""

SLOW_AREAS = ("exchange", "executors", "transports", "workers")
"""Their tests with workers are not put behind the others."""


def module_of(path: str) -> str:
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return name if name.startswith("dgsuite") else f"dgsuite.{name}"


@cache
def texts(root: Path) -> dict[str, str]:
    found = sorted((root / "tests").rglob("test_*.py"))
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def files(root: Path, path: str) -> list[str]:
    """Test files: that of the module's name, one of the area, those that name the module, and the others
    of the area.
    """
    own = [name for name in texts(root) if Path(name).stem == f"test_{Path(path).stem.lstrip('_')}"]
    module = re.compile(re.escape(module_of(path)) + r"\b(?!\.\w+\.)")
    naming = {name: len(module.findall(text)) for name, text in texts(root).items()}
    named = sorted((name for name in naming if naming[name]), key=lambda name: -naming[name])
    (area,) = [area for area in TESTS if path.startswith(area + "/")]
    of_area = [
        name
        for given in TESTS[area]
        for name in texts(root)
        if f"{name}/".startswith(f"tests/{given}/")
    ]
    return list(dict.fromkeys([*own, of_area[0], *named, *of_area]))


@cache
def imported(root: Path, path: str) -> frozenset[str]:
    """Files of the project that a file imports from."""
    form = r"^\s*from (dgsuite[\w.]*) import (\([^)]*\)|.*)|^\s*import (dgsuite[\w.]*)"
    names = set()
    for package, listed, module in re.findall(form, (root / path).read_text(), re.M):
        names |= {package or module} | {f"{package}.{name}" for name in re.findall(r"\w+", listed)}
    found = set()
    for name in names:
        parts = name.split(".")
        base = "/".join(parts if parts[1:2] in (["base"], ["core"]) else parts[1:])
        found |= {each for each in (f"{base}.py", f"{base}/__init__.py") if (root / each).is_file()}
    return frozenset(found - {"kernels/__init__.py"})


def reached(root: Path, path: str, within: str) -> list[str]:
    """Files that a file imports, itself and nearest first, also by way of others, within a folder."""
    order = [path]
    for each in order:  # it grows
        order += sorted(f for f in imported(root, each) if f.startswith(within) and f not in order)
    return order


def kernels(root: Path, path: str) -> list[str]:
    """Names of the kernels that are tried for a change: those that a file judges, or is part of; nearest
    first.
    """
    if path.startswith("genval/rules/"):
        from dgsuite.genval.validation import VALIDATORS

        judged = [n for n, each in VALIDATORS.items() if each.rule.__module__ == module_of(path)]
        return judged or FEW
    if not path.startswith("kernels/"):
        return FEW
    from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE
    from tests.support.faithful import FAITHFUL

    found: dict[str, int] = {}
    for kernel in [*KERNELS.values(), *BLOCK.values(), *RECURSIVE.values(), *FAITHFUL]:
        own = kernel.__module__.removeprefix("dgsuite.").replace(".", "/") + ".py"
        order = reached(root, own, "kernels/")
        if path in order:
            found[kernel.name] = min(order.index(path), found.get(kernel.name, 999))
    return sorted(found, key=lambda name: (found[name], name))[:MOST]


@cache
def compiled(root: Path) -> list[str]:
    """Files with compiled loops."""
    found = [
        path
        for area in ("dgsuite", "kernels", "partition", "genval")
        for path in (root / area).rglob("*.py")
    ]
    with_loops = (path for path in found if re.search(r"^\s*@compiled", path.read_text(), re.M))
    return [path.relative_to(root).as_posix() for path in with_loops]


def stale(root: Path, path: str) -> list[str]:
    """Stems of files whose compiled loops another text of a file may change."""
    if path == "dgsuite/base/compiling.py":
        return []
    return [Path(name).stem for name in compiled(root) if path in reached(root, name, "")]
