"""Packages that only some uses need: what is left without them, and errors that say which extra has them."""

import json
import re
import sys
import tomllib

import pytest

from dgsuite.base.extras import EXTRAS, pip_install
from tests.support.paths import ROOT
from tests.support.processes import python

WITHOUT = """
import sys
for package in (
    "h5netcdf", "h5py", "hypothesis", "matplotlib", "pyarrow", "pydantic", "pymetis", "rich",
):
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

WORK = {"--help": "Usage: dgsuite", "kernels": "abd", "config show quickstart": "# Three"}
"""Commands that need no extra, and what they print first."""

ASK = ("run quickstart", "kernel mis ring --n 8", "statics", "graph500 --scale 5")
"""Commands that need one."""


def test_the_library_without_extras(tmp_path):
    done = python("-c", LIBRARY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    netcdf = "a NetCDF file needs h5netcdf", "netcdf"
    expected = {
        **dict.fromkeys(("save", "open", "trace"), netcdf),
        "plot": ("a picture needs matplotlib", "plot"),
        "dataframe": ("a Dask dataframe needs pyarrow", "parquet"),
        "search": ("dgsuite.lab.search needs hypothesis", "lab"),
        "metis": ("partition='metis' needs pymetis", "metis"),
    }
    assert said == {
        name: f"{what}, which is not installed: {pip_install(extra)}"
        for name, (what, extra) in expected.items()
    }


def test_commands_without_extras(tmp_path):
    """They work, or name the extra in one line."""
    done = python("-c", COMMANDS, *WORK, *ASK, cwd=tmp_path)
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


def test_each_extra_has_what_is_said_of_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    distributions = {"graphblas": "python-graphblas", "h5py": "h5netcdf[h5py]"}
    for package, extra in EXTRAS.items():
        name = distributions.get(package, package.replace("pydantic_core", "pydantic"))
        assert any(found.startswith((f"{name}>", f"{name}[")) for found in extras[extra])


FOLDER = {"url": "file:///home/me/my%20code/dgsuite", "dir_info": {}}
EDITABLE = {"url": "file:///home/me/dgsuite", "dir_info": {"editable": True}}
ARCHIVE = {"url": "https://there.org/dgsuite.whl", "archive_info": {}}
REPOSITORY = {"url": "https://there.org/dgsuite", "vcs_info": {"vcs": "git", "commit_id": "1"}}


ORIGINS = [
    (None, "'dgsuite[plot]'"),
    (FOLDER, "'/home/me/my code/dgsuite[plot]'"),
    (EDITABLE, "-e '/home/me/dgsuite[plot]'"),
    (ARCHIVE, "'dgsuite[plot] @ https://there.org/dgsuite.whl'"),
    (REPOSITORY, "'dgsuite[plot] @ git+https://there.org/dgsuite'"),
]


@pytest.mark.parametrize(("origin", "said"), ORIGINS)
def test_an_extra_is_installed_as_dgsuite_was(tmp_path, monkeypatch, origin, said):
    """What an index, a folder, an editable folder, an archive and a repository leave in the metadata."""
    metadata = tmp_path / "dgsuite-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dgsuite\nVersion: 1\n")
    if origin:
        (metadata / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert pip_install.__wrapped__("plot") == f"pip install {said}"
