"""What is installed: everything is in it, and `import dgsuite` works wherever Python starts."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from dgsuite.partition.client.installed import BESIDE
from tests.support.paths import ROOT

SOURCES = "pyproject.toml", "setup.py", "README.md", "LICENSE", "LICENSES/EPL-1.0.txt", "NOTICE.md"
UV = [sys.executable, "-m", "uv", "--quiet"]

PROGRAM = """
from importlib.util import find_spec
import dgsuite
from dgsuite import genval, partition
print(dgsuite.InputError.__name__, find_spec("dgsuite.kernels.bsp") is not None)
"""

PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'))"

BESIDES = """
import dgsuite
from dgsuite import genval
graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
ds = dgsuite.run('bfs', graph, root=1)
print(ds.level.values.tolist(), genval.validate('bfs', graph, ds).ok)
"""

LOOP = """
import numpy as np
from dgsuite.partition.arrays import _compiled
print(_compiled.tally(np.arange(4), np.array([1, 3])))
"""


def run(command, folder, fails=True):
    """What a command prints, and its errors, without what the tests' own environment has on the path."""
    outer = ("PYTHONPATH", "NUMBA_CACHE_DIR")
    env = {name: value for name, value in os.environ.items() if name not in outer}
    done = subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True)
    assert fails or done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout called dgsuite, as a clone is."""
    folder = tmp_path_factory.mktemp("parent") / "dgsuite"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("dgsuite", *BESIDE, "configs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in SOURCES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment with all that dgsuite requires, and without dgsuite."""
    folder = tmp_path_factory.mktemp("environment")
    run([*UV, "venv", "--python", sys.executable, folder], ROOT)
    own = folder / "bin" / "python"
    packages = run([own, "-c", PURELIB], folder)
    # a path file of a folder that is itself named in one is not read: no editable dgsuite
    with open(os.path.join(packages.strip(), "required.pth"), "w", encoding="utf-8") as path:
        path.write(sysconfig.get_path("purelib"))
    return own


def install(python, *arguments):
    options = ["--python", python, "--no-deps", "--no-build-isolation"]
    assert run([*UV, "pip", "install", "--reinstall", *options, *arguments], ROOT) == ""


@pytest.fixture
def packages(python, checkout):
    """The folder of packages, once dgsuite is one of them."""
    install(python, checkout)
    return Path(run([python, "-c", PURELIB], ROOT).strip())


def test_wherever_python_starts(checkout, python, tmp_path):
    folders = [checkout, checkout.parent, tmp_path]
    for folder in folders:
        (folder / "program.py").write_text(PROGRAM)

    def printed():
        """What a program that starts in each folder prints, and a script that is in it."""
        started = [run([python, "-c", PROGRAM], folder) for folder in folders]
        return started + [run([python, folder / "program.py"], tmp_path) for folder in folders]

    right = ["InputError True\n"] * 6
    assert printed()[0] == printed()[3] == right[0]  # nothing is installed: in the checkout alone
    for arguments in ([checkout], ["--editable", checkout], [checkout]):
        install(python, *arguments)
        assert printed() == right, arguments
    # loops that an installation compiled leave nothing in its package, which could be imported
    kept = tmp_path / "kept"
    assert run(["env", f"XDG_CACHE_HOME={kept}", python, "-c", LOOP], tmp_path) == "4\n"
    assert [*kept.rglob("*.nbi")]
    run([*UV, "pip", "uninstall", "--python", python, "dgsuite"], ROOT)
    assert "No module named 'dgsuite'" in printed()[2]


def test_every_file_is_in_it(packages):
    for package in ("dgsuite", *BESIDE, "configs"):
        there = packages if package == "dgsuite" else packages / "dgsuite"
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (there / path.relative_to(ROOT)).is_file(), path
    (notices,) = packages.glob("dgsuite-*.dist-info/licenses")
    recorded = (notices.parent / "RECORD").read_text().splitlines()
    assert {line.partition("/")[0] for line in recorded} == {"..", "dgsuite", notices.parent.name}
    found = {path.relative_to(notices).as_posix() for path in notices.rglob("*") if path.is_file()}
    assert found == {name for name in SOURCES if name.startswith(("LICENSE", "NOTICE"))}


def test_others_may_use_its_folders_names(packages, python, tmp_path):
    """Another distribution's `kernels`, and folders of the user's beside the script."""
    for name in BESIDE:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('it is another')")
    assert run([python, "-c", BESIDES], tmp_path) == "[1, 0, 1, 2] True\n"


COMMANDS = [
    ("run quickstart --set run.0.style=serial --dry-run", "quickstart: "),
    ("scc scc-hf-figure5 --dry-run", 'name = "scc-hf-figure5"'),
    ("--version", "dgsuite "),
    ("config show quickstart", "# Three classical algorithms"),
    ("config settings", "# Settings"),
    ("kernel lcr ring --n 16", "kernel: lcr"),
    ("report claims --only imsuite.fig8.table", ""),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("arguments", "printed"), COMMANDS)
def test_it_works_from_another_folder(packages, python, tmp_path, arguments, printed):
    done = run([python, "-m", "dgsuite", *arguments.split()], tmp_path, False)
    assert done.startswith(printed)
    assert str(ROOT) not in done
