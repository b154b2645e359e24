"""TOML files: those that ship, their reference, and what is said of mistakes."""

import json
import re
import tomllib

import pytest

from dgsuite.__main__ import main
from dgsuite.faces.cli import reference
from dgsuite.studies.experiment import shipped, toml
from tests.support.paths import ROOT


def test_the_schema_takes_every_file_that_ships():
    jsonschema = pytest.importorskip("jsonschema")
    schema = reference.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in shipped.names():
        data = tomllib.loads(shipped.find(name).read_text())
        assert not list(validator.iter_errors(data)), name
        (table,) = data.keys() & toml.COMMANDS.keys()
        part = data[table][0] if table == "run" else data[table]
        part["mistake"] = 1
        assert list(validator.iter_errors(data)), name


def test_the_committed_reference_is_that_of_the_models():
    """`make reference` writes it anew. Every key is explained."""
    page = reference.page()
    assert (ROOT / "docs" / "files.md").read_text() == page
    assert json.loads((ROOT / "docs" / "files.schema.json").read_text()) == reference.schema()
    assert not re.search(r"^\| `.*\|  \|$", page, re.MULTILINE)


GOOD = """
[experiment]
name = "mistaken"

[cluster]
workers = 2

[[run]]
kernel = "mis"
style = "serial"
n = 30
graph.generate = "er"
"""


MISTAKES = [
    ("[[run]]", "[run]", "run = {"),
    ("[[run]]", "[run]", "must be a list of tables: write [[run]], in double brackets"),
    ("[cluster]", "[[cluster]]", "must be a table: write [cluster], in single brackets"),
    ("[experiment]", "[experiments]", "experiments: unknown key; did you mean 'experiment'?"),
    ("workers = 2", "worker = 2", "cluster.worker: unknown key; did you mean 'workers'?"),
    ("workers = 2", "n_workers = 2", "cluster.n_workers: unknown key; did you mean 'workers'?"),
    ("workers = 2", "nthreads = 2", "cluster.nthreads: unknown key; did you mean 'threads'?"),
    ("workers = 2", "seed = 2", "cluster.seed: unknown key; it belongs into [experiment]"),
    ("workers = 2", 'workers = "2"', "must be a whole number, without quotes"),
    ("workers = 2", "workers = 0", "cluster.workers = 0: must be at least 1"),
    ('"mistaken"', "mistaken", "text stands in quotes"),
    ('"mistaken"', '"mistaken"\nfresh = True', "true and false in small letters"),
    ('"mistaken"', '"mistaken"\nfresh = 1', "experiment.fresh = 1: must be true or false"),
    ('"mis"', '"msi"', "did you mean 'mis'?"),
    ('"serial"', '"seriell"', "unknown; did you mean 'serial'? one of serial, finish_async"),
    ("n = 30", "nodes = 30", "run.0.nodes: unknown key; did you mean 'n'?"),
    ("n = 30", "", "run.0.n: missing; a generated graph needs a number of nodes"),
    ("n = 30", "faithful = true", "a parameter of the kernel is written params.faithful"),
    ('"er"', '"erdos"', "no kind 'erdos' in family 'fast'"),
    ('generate = "er"', 'edge_list = "e.txt"', "there is no file"),
    (GOOD, "[graph500]\nscale = 4\n", "so it is for `dgsuite graph500 "),
    (GOOD, "[hf]\n", "so it is for `dgsuite scc "),
    (GOOD, "", "run: missing"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_a_mistake_is_answered_with_what_mends_it(here, tmp_path, old, new, said):
    assert old in GOOD
    (tmp_path / "file.toml").write_text(GOOD.replace(old, new))
    done = here(main, "run", "file.toml", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(r"error: file.toml(, line \d+)?: ", done.stderr)
    assert said in done.stderr


@pytest.mark.parametrize("command", ["graph500", "gap", "scc"])
def test_an_experiment_given_to_a_suite(here, tmp_path, command):
    (tmp_path / "file.toml").write_text(GOOD)
    done = here(main, command, "file.toml")
    assert done.returncode == 2
    assert "has a table [run], so it is for `dgsuite run file.toml`" in done.stderr


def test_a_result_given_for_an_experiment(here, tmp_path):
    (tmp_path / "r.nc").write_bytes(b"\x89HDF\r\n")
    done = here(main, "run", "r.nc")
    assert done.returncode == 2
    assert "it is a result: `dgsuite report` and `dgsuite scaling` read these" in done.stderr
