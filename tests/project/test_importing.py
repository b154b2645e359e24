"""`import dgsuite` works wherever Python starts, however it was installed, also one way after the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from dgsuite.partition.client.installed import BESIDE
from tests.support.paths import ROOT

UV = [sys.executable, "-m", "uv", "--quiet"]

PROGRAM = """
from importlib.util import find_spec
import dgsuite
from dgsuite import genval, partition
print(dgsuite.InputError.__name__, find_spec("dgsuite.kernels.bsp") is not None)
"""

LOOP = """
import numpy as np
from dgsuite.partition.arrays import _compiled
print(_compiled.tally(np.arange(4), np.array([1, 3])))
"""


def run(command, folder):
    """What a command prints, and its errors, without what the tests' own environment has on the path."""
    outer = ("PYTHONPATH", "NUMBA_CACHE_DIR")
    env = {name: value for name, value in os.environ.items() if name not in outer}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout called dgsuite, as a clone is."""
    folder = tmp_path_factory.mktemp("parent") / "dgsuite"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("dgsuite", *BESIDE, "configs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "LICENSES", folder / "LICENSES")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment with all that dgsuite requires, and without dgsuite."""
    folder = tmp_path_factory.mktemp("environment")
    run([*UV, "venv", "--python", sys.executable, folder], ROOT)
    own = folder / "bin" / "python"
    packages = run([own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder)
    # a path file of a folder that is itself named in one is not read: no editable dgsuite
    with open(os.path.join(packages.strip(), "required.pth"), "w", encoding="utf-8") as path:
        path.write(sysconfig.get_path("purelib"))
    return own


def install(python, *arguments):
    options = ["--python", python, "--no-deps", "--no-build-isolation"]
    assert run([*UV, "pip", "install", "--reinstall", *options, *arguments], ROOT) == ""


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
