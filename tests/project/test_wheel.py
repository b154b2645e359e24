"""The wheel: everything is in it, and it works from another folder without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from dgsuite.partition.client.installed import BESIDE
from tests.support.paths import ROOT

SOURCES = (
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
    "LICENSES/EPL-1.0.txt",
    "NOTICE.md",
)

CALL = "import sys; from dgsuite.__main__ import main; main.run()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder in which the wheel is installed."""
    made = tmp_path_factory.mktemp("source")
    for name in ("dgsuite", *BESIDE, "configs"):
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in SOURCES:
        (made / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, made / name)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    done = subprocess.run(
        [*build, "-w", "dist", "."],
        cwd=made,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (made / "dist").glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_every_file_is_in_it(installed):
    for package in ("dgsuite", *BESIDE, "configs"):
        there = installed if package == "dgsuite" else installed / "dgsuite"
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (there / path.relative_to(ROOT)).is_file(), path
    (notices,) = installed.glob("*.dist-info/licenses")
    assert {path.name for path in installed.iterdir()} == {"dgsuite", notices.parent.name}
    found = {path.relative_to(notices).as_posix() for path in notices.rglob("*") if path.is_file()}
    assert found == {name for name in SOURCES if name.startswith(("LICENSE", "NOTICE"))}


def test_others_may_use_its_folders_names(installed, tmp_path):
    """Another distribution's `kernels`, and folders of the user's beside the script."""
    for name in BESIDE:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(
            "raise ImportError('not what dgsuite imports')"
        )
    code = (
        "import dgsuite; from dgsuite import genval; graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3]); "
        "ds = dgsuite.run('bfs', graph, root=1); "
        "print(ds.level.values.tolist(), genval.validate('bfs', graph, ds).ok)"
    )
    path = os.pathsep.join([str(tmp_path), str(installed), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1, 0, 1, 2] True\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["run", "quickstart", "--set", "run.0.style=serial", "--dry-run"], "quickstart: "),
        (["scc", "scc-hf-figure5", "--dry-run"], 'name = "scc-hf-figure5"'),
        (["--version"], "dgsuite "),
        (["config", "show", "quickstart"], "# Three classical algorithms"),
        (["config", "settings"], "# Settings"),
        (["kernel", "lcr", "ring", "--n", "16"], "kernel: lcr"),
        (["report", "claims", "--only", "imsuite.fig8.table"], ""),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_it_works_from_another_folder(installed, tmp_path, arguments, printed):
    # -S: an editable installation is added to the path by the module site
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [sys.executable, "-S", "-c", CALL, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)
    assert str(ROOT) not in done.stdout + done.stderr
