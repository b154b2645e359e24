"""Packages that only some uses need: what is left without them, and errors that say which extra has them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest

from dgsuite.base.extras import EXTRAS, pip_install
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

OPTIONAL = (
    "h5netcdf",
    "h5py",
    "hypothesis",
    "matplotlib",
    "pyarrow",
    "pydantic",
    "pymetis",
    "rich",
)

WITHOUT = f"""
import sys
for package in {OPTIONAL}:
    sys.modules[package] = None  # an import finds nothing
"""

LIBRARY = (
    WITHOUT
    + """
import json
import networkx as nx
import dgsuite
from dgsuite import genval
graph = dgsuite.Graph.from_networkx(nx.cycle_graph(12), clusters=3)
ds = dgsuite.run("mis", graph)
assert genval.validate("mis", graph, ds).ok
graph.save("graph")
dgsuite.Graph.load("graph")
dgsuite.lab.Execution("mis", graph).to_html("page.html")
nx.pagerank(nx.cycle_graph(5), backend="dgsuite")
asked = {
    "save": lambda: dgsuite.save(ds, "ds.nc"),
    "open": lambda: dgsuite.open("ds.nc"),
    "plot": lambda: ds.dgsuite.plot.communication(),
    "dataframe": lambda: ds.dgsuite.to_dataframe(),
    "search": lambda: dgsuite.lab.search("mis"),
    "metis": lambda: dgsuite.Graph.from_networkx(nx.cycle_graph(6), clusters=2, partition="metis"),
    "trace": lambda: dgsuite.run("mis", graph, trace="trace.nc"),
}
said = {}
for name, ask in asked.items():
    try:
        ask()
    except dgsuite.InputError as error:
        said[name] = str(error)
print(json.dumps(said))
"""
)

COMMANDS = (
    WITHOUT
    + """
import contextlib, io, json
from dgsuite.__main__ import main
found = []
for line in sys.argv[1:]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(line.split())
    found.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""
)

WORK = {"--help": "Usage: dgsuite", "kernels": "all_pairs", "config show quickstart": "# Three"}
"""Commands that need no extra, and what they print first."""

ASK = ("run quickstart", "kernel mis ring --n 8", "statics", "graph500 --scale 5")
"""Commands that need one."""


def run(code, folder, *arguments):
    """A new process, in which no optional package is installed."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def test_the_library_without_extras(tmp_path):
    done = run(LIBRARY, tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said == {
        name: f"{what} needs {package}, which is not installed: {pip_install(extra)}"
        for name, what, package, extra in [
            ("save", "a NetCDF file", "h5netcdf", "netcdf"),
            ("open", "a NetCDF file", "h5netcdf", "netcdf"),
            ("plot", "a picture", "matplotlib", "plot"),
            ("dataframe", "a Dask dataframe", "pyarrow", "parquet"),
            ("search", "dgsuite.lab.search", "hypothesis", "lab"),
            ("metis", "partition='metis'", "pymetis", "metis"),
            ("trace", "a NetCDF file", "h5netcdf", "netcdf"),
        ]
    }


def test_commands_without_extras(tmp_path):
    """They work, or name the extra in one line."""
    done = run(COMMANDS, tmp_path, *WORK, *ASK)
    assert done.returncode == 0, done.stderr
    found = dict(zip([*WORK, *ASK], json.loads(done.stdout), strict=True))
    for line, printed in WORK.items():
        status, out, err = found[line]
        assert (status, err) == (0, "")
        assert out.startswith(printed)
    command = re.escape(pip_install("command"))
    said = rf"error: this command needs \w+, which is not installed: {command}\n"
    for line in ASK:
        status, out, err = found[line]
        assert (status, out) == (2, "")
        assert re.fullmatch(said, err), line


def test_the_file_of_a_result_is_refused_before_the_run(monkeypatch, tmp_path):
    from dgsuite.base.errors import InputError
    from dgsuite.base.files import output

    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"a NetCDF file needs h5py, .*\[netcdf\]"):
        output(str(tmp_path / "ds.nc"), "ds")


def test_each_extra_has_what_is_said_of_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    distributions = {"graphblas": "python-graphblas", "h5py": "h5netcdf[h5py]"}
    for package, extra in EXTRAS.items():
        name = distributions.get(package, package.replace("pydantic_core", "pydantic"))
        assert any(found.startswith((f"{name}>", f"{name}[")) for found in extras[extra])


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        (None, "pip install 'dgsuite[plot]'"),
        (
            {"url": "file:///home/me/my%20code/dgsuite", "dir_info": {}},
            "pip install '/home/me/my code/dgsuite[plot]'",
        ),
        (
            {"url": "file:///home/me/dgsuite", "dir_info": {"editable": True}},
            "pip install -e '/home/me/dgsuite[plot]'",
        ),
        (
            {"url": "https://there.org/dgsuite.whl", "archive_info": {}},
            "pip install 'dgsuite[plot] @ https://there.org/dgsuite.whl'",
        ),
        (
            {"url": "https://there.org/dgsuite", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "pip install 'dgsuite[plot] @ git+https://there.org/dgsuite'",
        ),
    ],
)
def test_an_extra_is_installed_as_dgsuite_was(tmp_path, monkeypatch, origin, said):
    """What an index, a folder, an editable folder, an archive and a repository leave in the metadata."""
    metadata = tmp_path / "dgsuite-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dgsuite\nVersion: 1\n")
    if origin:
        (metadata / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert pip_install.__wrapped__("plot") == said
