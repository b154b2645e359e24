"""Make a release of what is committed: archives and checksums in dist/, tried in empty environments.

Commands: python -m tests.release [--python PYTHON ...] [--only-check]

``--python`` may be repeated; by default all of 3.12 to 3.14 that the shell finds. Nothing is uploaded.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import yaml

from dgsuite.base.version import __version__
from tests.support.paths import ROOT
from tests.wheel.__main__ import UV, build, call, environment

PYTHONS = ("3.12", "3.13", "3.14")

ALIAS = f"""
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "nx-dgsuite"
version = "{__version__}"
description = "Installs dgsuite, which is a backend of networkx"
license = "BSD-3-Clause"
dependencies = ["dgsuite=={__version__}"]

[tool.setuptools]
packages = []
"""
"""The distribution by the name that networkx's backends have; it holds nothing."""

CONDA = {"dask": "dask-core", "matplotlib": "matplotlib-base", "msgpack": "msgpack-python"}
"""Names that conda-forge gives to some distributions."""


def disagreements():
    """What does not agree with the version, the dependencies or the licences, in words."""
    text = {
        name: (ROOT / name).read_text("utf-8")
        for name in ("CHANGELOG.md", "CITATION.cff", "NOTICE.md", "conda/recipe.yaml")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load(text["CITATION.cff"])
    recipe = yaml.safe_load(text["conda/recipe.yaml"])
    heading = re.search(r"^## (.*)$", text["CHANGELOG.md"], re.MULTILINE)
    first = rf"{re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)"
    if not heading or not re.fullmatch(first, heading[1]):
        yield f"the first heading of CHANGELOG.md must be: ## {__version__} (YYYY-MM-DD)"
    if citation["version"] != __version__:
        yield f"CITATION.cff has version {citation['version']}, the package {__version__}"
    if recipe["context"]["version"] != __version__:
        yield f"conda/recipe.yaml has version {recipe['context']['version']}, the package {__version__}"
    if " AND ".join(citation["license"]) != project["license"]:
        yield f"CITATION.cff has the licences {citation['license']}, the package {project['license']}"
    licence = project["license"]
    if recipe["about"]["license"] != licence or licence not in text["NOTICE.md"]:
        yield f"conda/recipe.yaml and NOTICE.md must have the licence {project['license']}"
    extras = project["optional-dependencies"]
    with_command = [r for name in ("command", "netcdf", "plot") for r in extras[name]]
    needed = _conda(project["dependencies"] + with_command)
    needed |= {"h5py", f"python {project['requires-python']}"}
    found = {" ".join(line.split()) for line in recipe["requirements"]["run"]}
    if needed != found:
        yield f"conda/recipe.yaml lacks {sorted(needed - found)} and has {sorted(found - needed)}"


def _conda(requirements):
    """Requirements of pip as those of conda."""
    found = set()
    for requirement in requirements:
        name, bound = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(.*)", requirement).groups()
        if name != "dgsuite":
            found.add(f"{CONDA.get(name, name)} {bound}".strip())
    return found


def pythons():
    """Those of `PYTHONS` that the shell finds and that run."""
    found = []
    for version in PYTHONS:
        path = shutil.which(f"python{version}")
        if path and not subprocess.run([path, "-c", ""], capture_output=True).returncode:
            found.append(path)
    return found or [sys.executable]


def make(folder):
    """Build both archives; returns the wheel, which is made of the sdist."""
    wheel = build(folder)
    (sdist,) = wheel.parent.glob("*.tar.gz")
    metadata = zipfile.ZipFile(wheel).read(f"dgsuite-{__version__}.dist-info/METADATA").decode()
    needed = f"Version: {__version__}", "License-Expression: ", "License-File: LICENSES/EPL-1.0.txt"
    for line in needed:
        if f"\n{line}" not in metadata:
            sys.exit(f"{wheel.name}: its metadata have no {line!r}")
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    lines = []
    for path in (sdist, wheel, *alias(folder)):
        shutil.copy(path, target)
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (target / "SHA256SUMS").write_text("".join(lines), "utf-8")
    return target / wheel.name


def alias(folder):
    """Archives of `ALIAS`."""
    source = folder / "alias"
    source.mkdir()
    (source / "pyproject.toml").write_text(ALIAS, "utf-8")
    call([*UV, "build", "--out-dir", source / "dist", source], folder)
    return sorted((source / "dist").glob("nx_dgsuite-*"))


def try_alias(wheel, folder):
    """Installed by its other name, networkx finds the backend."""
    from_folder = ["nx-dgsuite", "--find-links", str(wheel.parent)]
    own = environment(folder / "env", sys.executable, *from_folder)
    code = "import networkx as nx; print('dgsuite' in nx.config.backends)"
    found = call([own, "-c", code], folder)
    if found.strip() != "True":
        sys.exit("networkx does not find the backend of nx-dgsuite")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="to try the wheel with")
    parser.add_argument("--only-check", action="store_true", help="build nothing")
    given = parser.parse_args()
    if wrong := [*disagreements()]:
        sys.exit("\n".join(wrong))
    if given.only_check:
        return
    if changed := call(["git", "status", "--porcelain"], ROOT):
        sys.exit(f"commit first, as a release is of what is committed:\n{changed}")
    with tempfile.TemporaryDirectory(prefix="dgsuite-release-") as scratch:
        wheel = make(Path(scratch))
    for python in given.python or pythons():
        tried = [sys.executable, "-m", "tests.wheel", "--all", "--python", python, "--wheel", wheel]
        if subprocess.run([*map(str, tried)], cwd=ROOT).returncode:
            sys.exit(f"the wheel fails with {python}")
    with tempfile.TemporaryDirectory(prefix="dgsuite-release-") as scratch:
        try_alias(wheel, Path(scratch))
    print((wheel.parent / "SHA256SUMS").read_text("utf-8"), end="")
    print(f"dist/ has dgsuite {__version__}. Tag it: git tag v{__version__}")


if __name__ == "__main__":
    main()
