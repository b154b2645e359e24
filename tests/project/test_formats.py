"""Files that 1.0 wrote are read, and those of a later form are refused in one sentence.

``python -m tests.project.test_formats tests/data/formats`` writes the files of the current forms anew.
"""

import re
import shutil
import sys
from pathlib import Path

import networkx as nx
import pytest

import dgsuite
from dgsuite.base import formats, netcdf
from dgsuite.base.errors import InputError
from dgsuite.partition.store import archives
from dgsuite.studies.experiment.load import load
from tests.support.paths import ROOT

GOLDEN = ROOT / "tests/data/formats"

EXPERIMENT = """\
format = 1

[[run]]
kernel = "bfs"
style = "serial"
n = 16
graph.generate = "grid"
"""


def graph():
    """Weights, names of two types, a self-loop, an edge that comes twice, and a node without any."""
    edges = [("ann", "bob", 2.5), ("bob", "cid", 1), ("cid", 7, 0.5), (7, 7, 1), ("ann", 7, 4)]
    network = nx.Graph()
    network.add_node("eve")
    network.add_weighted_edges_from(edges)
    return dgsuite.Graph.from_networkx(network, clusters=2, loops="keep")


def run(kernel, **how):
    """A run on it."""
    return dgsuite.run(kernel, graph(), root="ann", style="serial", **how)


WRITE = {
    "graph": lambda path: graph().save(str(path)),
    "result.nc": lambda path: dgsuite.save(run("sssp"), path),
    "trace.nc": lambda path: run("bfs", trace=path),
    "checkpoint.json": lambda path: archives.write_list(
        str(path.parent), path.name, "checkpoint", {"attempt": "0"}
    ),
    "experiment.toml": lambda path: path.write_text(EXPERIMENT),
}
"""How a file, or a folder, of each form is written."""

READ = {
    "graph": lambda path: dgsuite.Graph.load(str(path)),
    "result.nc": lambda path: dgsuite.open(path, checksum=True),
    "trace.nc": dgsuite.traces.read,
    "checkpoint.json": lambda p: archives.read_list(str(p.parent), p.name, "checkpoint", {}),
    "experiment.toml": lambda path: load(str(path))[0],
}
"""How it is read."""


def golden(name):
    """What is read of a file that 1.0 wrote."""
    return READ[name](GOLDEN / name)


def test_files_of_the_first_release_are_read():
    found, expected = golden("graph"), graph()
    assert nx.utils.graphs_equal(found.to_networkx(), expected.to_networkx())
    assert found.partition == expected.partition
    assert list(found.labels) == list(expected.labels)
    found, expected = golden("result.nc"), run("sssp")
    for name in ("distance", "parent", "messages", "node"):
        assert (found[name].values == expected[name].values).all()
    trace = golden("trace.nc")
    assert trace.messages.sum() == run("bfs").messages.sum()
    assert formats.KEY not in {*found.attrs, *trace.attrs}
    assert [each.kernel for each in golden("experiment.toml").run] == [["bfs"]]
    assert golden("checkpoint.json")["attempt"] == "0"
    said = r"result\.nc: not a trace: it has the form 'dgsuite result 1'"
    with pytest.raises(InputError, match=said):
        dgsuite.traces.read(GOLDEN / "result.nc")


@pytest.mark.parametrize("name", [name for name in WRITE if name != "experiment.toml"])
def test_a_later_form_is_refused(monkeypatch, tmp_path, name):
    """One that differs in its number alone."""
    kind = name.partition(".")[0]
    with monkeypatch.context() as later:
        later.setitem(formats.VERSIONS, kind, 2)
        WRITE[name](tmp_path / name)
    ours = f"this dgsuite, {dgsuite.__version__}, reads 'dgsuite {kind} 1'"
    said = f"has the form 'dgsuite {kind} 2', and {ours}"
    with pytest.raises(InputError, match=re.escape(said)) as error:
        READ[name](tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("given", ["2", "true", '"1"'])
def test_a_later_form_of_an_experiment_is_refused(tmp_path, given):
    path = tmp_path / "later.toml"
    path.write_text(EXPERIMENT.replace("format = 1", f"format = {given}"))
    with pytest.raises(InputError, match=r"later\.toml: format = .*dgsuite, .*, reads format = 1"):
        load(str(path))


def test_a_result_from_before_the_forms_had_versions(tmp_path):
    ds = run("bfs")
    dgsuite.save(ds, tmp_path / "new.nc")
    stored = netcdf.read(tmp_path / "new.nc")
    assert stored.attrs.pop(formats.KEY) == "dgsuite result 1"
    netcdf.write(stored, tmp_path / "old.nc")
    assert dgsuite.open(tmp_path / "old.nc").identical(ds)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, write in WRITE.items():
        write(target / name)
