"""Settings in Dask's configuration: their defaults, their schema, and the code that reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import dask
import pytest

from dgsuite.faces.cli import reference
from dgsuite.partition.client.settings import FILE, SCHEMA, load, read, setting
from tests.support.paths import ROOT

SOURCES = [path for name in ("dgsuite", "partition") for path in (ROOT / name).rglob("*.py")]


def leaves(table, path="dgsuite") -> Iterator[str]:
    """The keys of a nested mapping."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}"


def described(schema, path="dgsuite") -> Iterator[str]:
    """The keys of a schema."""
    if "properties" not in schema:
        yield path
    for name, inner in schema.get("properties", {}).items():
        yield from described(inner, f"{path}.{name}")


def test_the_defaults_are_those_that_the_schema_describes():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(read(SCHEMA))
    jsonschema.validate(read(FILE), read(SCHEMA))
    known = set(leaves(read(FILE)["dgsuite"]))
    assert known == set(described(read(SCHEMA)["properties"]["dgsuite"]))


READ = re.compile(r'(setting|config\.[gs]et)\(\s*{?\s*(?:f?"(dgsuite\.[^"]*)"|([A-Z_]+)\b)')
"""Where a setting is read or set, by its name or a constant."""
CONSTANT = re.compile(r'^([A-Z_]+) = "(.*)"$', re.M)


def test_every_setting_that_the_code_reads_has_a_default_and_every_default_a_reader():
    known = set(leaves(read(FILE)["dgsuite"]))
    used = {key for key in known if key.startswith(("dgsuite.rcce.", "dgsuite.mpimpb."))}
    for path in SOURCES:
        constants = dict(CONSTANT.findall(path.read_text()))
        for name, key, constant in READ.findall(path.read_text()):
            key = re.sub("{.*", "mpb", key or constants.get(constant, ""))  # of a scheme
            if not key.startswith("dgsuite."):
                continue
            assert name != "config.get", f"{path}: use setting({key!r}), which has defaults"
            under = {one for one in known if f"{one}.".startswith(f"{key}.")}
            assert under, f"{path}: {key} is not in {FILE}"
            used |= under
    assert known == used


@pytest.mark.few(1)
@pytest.mark.parametrize("imports", ["dask, distributed, dgsuite", "dask, dgsuite"])
def test_defaults_are_loaded_with_dgsuite(imports, tmp_path):
    code = f"import {imports}; print(dask.config.get('dgsuite.timeout'))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_CONFIG": str(tmp_path)}
    run = [sys.executable, "-c", code]
    assert subprocess.check_output(run, env=environment, text=True) == "30s\n"
    kept = (tmp_path / FILE).read_text()
    assert "#   timeout: 30s" in kept
    (tmp_path / FILE).write_text("dgsuite:\n  timeout: 40s\n")
    assert subprocess.check_output(run, env=environment, text=True) == "40s\n"
    environment["DASK_DGSUITE__TIMEOUT"] = "50s"
    assert subprocess.check_output(run, env=environment, text=True) == "50s\n"


def test_what_is_set_goes_first_and_the_rest_keeps_its_default():
    load()
    assert setting("dgsuite.clocked.transport") == "fastest"
    with dask.config.set({"dgsuite.rcce": {"places": 48}, "dgsuite.clocked.bind": False}):
        assert setting("dgsuite.clocked.bind") is False
        assert setting("dgsuite.rcce") == {"buffer": "8 KiB", "places": 48}
    with dask.config.set({"dgsuite": {}}):
        assert setting("dgsuite.timeout") == "30s"
    assert setting("dgsuite.mpimpb.places") == 48


def test_the_committed_reference_is_that_of_the_files():
    """`make reference` writes it anew."""
    assert (ROOT / "docs" / "settings.md").read_text() == reference.settings()
