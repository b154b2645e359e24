"""What `pip install` brings: megabytes and packages; and processor time of installation and imports.

python benchmarks/install.py [--wheel FILE ...]

Wheels are fetched first, and installed from there in an empty environment. Times are of the processor, so
that other processes and the network count little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from common import ROOT, Options, record

ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""The environment of commands, in which the checkout is not on the path."""

TIME = "import time; begin = time.process_time(); {}; print(time.process_time() - begin)"

RUN = "dgsuite.run('bfs', dgsuite.Graph.from_edges([0, 1], [1, 2]), root=0)"

IMPORTS = {"import dgsuite": "import dgsuite", "import and first run": f"import dgsuite; {RUN}"}

EXTRAS = ("", "[netcdf]", "[plot]", "[command]", "[complete]")


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.add_argument("--wheel", nargs="*", type=Path, help="by default one of this checkout")
    options.size("--extras", EXTRAS, (), nargs="*")
    options.size("--times", 5, 1)
    with options.recorded(arguments) as given, tempfile.TemporaryDirectory() as scratch:
        if not given.extras:  # nothing is fetched in a test
            measure_imports(Path(sys.executable), given.times, version="here")
            return
        for wheel in given.wheel or [build(Path(scratch))]:
            for extra in given.extras:
                measure(wheel.resolve(), extra, given.times)


def build(folder: Path) -> Path:
    """A wheel of the checkout."""
    _pip(Path(sys.executable), "wheel", "--no-deps", "-w", str(folder), str(ROOT))
    return next(folder.glob("*.whl"))


def measure(wheel: Path, extra: str, times: int) -> None:
    """Fetch and install a wheel with an extra, and import it where there is none."""
    on = {"version": wheel.name.split("-")[1], "extra": extra.strip("[]") or "none"}
    with tempfile.TemporaryDirectory() as scratch:
        folder, fetched = Path(scratch) / "env", str(Path(scratch) / "fetched")
        venv.create(folder, with_pip=True)
        python = folder / "bin" / "python"
        before = size(folder)
        _pip(python, "download", "-d", fetched, f"{wheel}{extra}")
        record("fetched", size(Path(fetched)) / 1e6, "MB", **on)
        record("packages", len(os.listdir(fetched)), "wheels", **on)
        how = ("--no-index", "--find-links", fetched, "--no-compile")
        record("install", _pip(python, "install", *how, f"{wheel}{extra}"), "s", **on)
        record("there", (size(folder) - before) / 1e6, "MB", **on)
        if not extra:
            measure_imports(python, times, version=on["version"])


def measure_imports(python: Path, times: int, **on: str) -> None:
    """Processor time of imports in new processes; the first is not counted, since it compiles modules."""
    for what, code in IMPORTS.items():
        found = [
            float(
                subprocess.check_output(
                    [python, "-I", "-c", TIME.format(code)], cwd=python.parent, text=True
                )
            )
            for _ in range(times + 1)
        ]
        record(what, found[1:], "s", **on)


def size(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _pip(python: Path, *arguments: str) -> float:
    """Run pip; returns its seconds of processor time."""
    begin = os.times()
    subprocess.run(
        [str(python), "-m", "pip", "-q", *arguments], cwd=python.parent, env=ALONE, check=True
    )
    end = os.times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system


if __name__ == "__main__":
    main()
