"""Every benchmark runs once with tiny sizes, and writes what it measured."""

import json
import re
import sys
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import dask
import pytest

from dgsuite.partition.client.settings import setting
from tests.support import hosts
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import common
import page
from kernels_for_benchmarks import BEFORE
from rows import met

BENCHMARKS = Path(common.__file__).parent

ARGUMENTS = {
    "analytics": ["--workers", "1", "2"],
    "scale": ["--growth", "0.5,1"],
    "transports": ["--protocols", "mpb"],
}
"""Options besides ``--tiny``."""

PEERS = {"hartree_fock": "pyscf", "parquet": "igraph", "scc": "igraph"}
"""Packages without which a benchmark cannot run; others leave out the peers that are not installed."""

NAMES = sorted(p.stem for p in BENCHMARKS.glob("*.py") if "(__file__, __doc__)" in p.read_text())


def reason(name):
    """Why a benchmark cannot run here; empty if it can."""
    if name == "between_hosts":
        return hosts.missing()
    if name in PEERS and find_spec(PEERS[name]) is None:
        return f"{PEERS[name]} is not installed"
    return ""


@pytest.fixture(scope="module")
def shared():
    """In place of `common.cluster`: clusters that benchmarks have one after the other."""
    make, made = common.cluster, {}

    @contextmanager
    def cluster(*how, **named):
        key = (*how, *named.items())
        client = made.get(key) or stack.enter_context(make(*how, **named))
        made[key] = client
        with client.as_current():
            yield client

    with ExitStack() as stack:
        yield cluster


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_tiny(name, shared, tmp_path, monkeypatch):
    if why := reason(name):
        pytest.skip(why)
    monkeypatch.setattr(common, "cluster", shared)
    file = tmp_path / "result.json"
    import_module(name).main(["--tiny", *ARGUMENTS.get(name, []), "--json", str(file)])
    found = json.loads(file.read_text())
    assert found["benchmark"] == name
    assert found["tiny"]
    assert found["rows"]


def test_each_mechanism_can_be_switched_off():
    """Its attributes and settings are there, and are afterwards as they were."""
    mechanisms = import_module("mechanisms")
    for switch in mechanisms.SWITCHES.values():
        assert switch.settings or switch.attributes
        with dask.config.set({"dgsuite.clocked.transport": "fastest"}):  # clusters may be open
            assert all(setting(name) != value for name, value in switch.settings.items())
        mechanisms.replace(switch.attributes)
        before = [*BEFORE]
        assert all(getattr(owner, name) is not value for owner, name, value in before)
        mechanisms.restore()
        assert all(vars(owner)[name] is value for owner, name, value in before)


BOUNDS = [(2, {"most": 2}, True), (2.1, {"most": 2}, False), ([1, 3], {"most": 2}, False)]
BOUNDS += [([2, 3], {"least": 2}, True), ([1, 3], {"least": 2}, False), (2, {}, None)]


@pytest.mark.parametrize(("value", "bound", "within"), BOUNDS)
def test_the_worst_of_several_decides_on_a_bound(value, bound, within):
    assert met({"what": "", "conditions": {}, "unit": "", "value": value, **bound}) is within


def test_the_record_has_the_circumstances(tmp_path, capsys):
    options = common.Options("some.py", "What it\nmeasures.\n\nMore.")
    options.size("--size", 1000, 10)
    file = tmp_path / "some.json"
    with options.recorded(["--size", "7", "--json", str(file)]) as given:
        common.record("time", [3.00004, 1.0, 2.0], "s", most=2.5, style="serial")
        common.record("messages", 123_456_789, "", least=200_000_000)
        common.record("ratio", 1 / 3, "x", peer="SciPy", detail=[1])
    assert given.size == 7
    found = json.loads(file.read_text())
    assert found["about"] == "What it measures."
    assert found["command"] == "python benchmarks/some.py --size 7"
    time = {"what": "time", "conditions": {"style": "serial"}, "value": 2.0, "unit": "s"}
    messages = {"what": "messages", "conditions": {}, "value": 123_456_789, "unit": ""}
    ratio = {"what": "ratio", "conditions": {}, "value": 0.3333, "unit": "x"}
    assert found["rows"] == [
        time | {"spread": [1.0, 3.0], "most": 2.5},
        messages | {"least": 200_000_000},
        ratio | {"peer": "SciPy", "detail": [1]},
    ]
    assert len(found["loop_seconds"]) == len(found["load"]) >= 2
    assert found["versions"]["numpy"]
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["time", "(style", "serial)", "2.0", "s", "bound", "2.5:", "ok"]
    assert out[1].endswith("MISSED")
    assert options.parse_args(["--tiny"]).size == 10
    # nothing is written of a run that fails
    with pytest.raises(ZeroDivisionError), options.recorded(["--json", str(tmp_path / "no.json")]):
        common.record("time", 1 / 0, "s")
    assert not (tmp_path / "no.json").exists()
    assert common.RUN == []


@pytest.fixture(scope="module")
def results():
    """The results that are committed."""
    files = sorted((BENCHMARKS / "results").glob("*.json"))
    return {file.stem: json.loads(file.read_text("utf-8")) for file in files}


def test_pages_and_pictures_are_made_of_the_results(results):
    pages = page.pages(results)
    assert {path: path.read_text() for path in pages} == pages, "run benchmarks/page.py"
    assert {*page.PAGES.glob("*.md")} == {*pages} - {page.PAGE}
    for question in page.QUESTIONS:
        drawn = (page.IMAGES / f"{question.name}.png").read_bytes()
        assert question.digest(results).encode() in drawn, "run benchmarks/page.py"


@pytest.mark.long
@pytest.mark.parametrize("question", page.QUESTIONS, ids=lambda question: question.name)
def test_a_question_has_a_picture_and_an_answer(question, results, tmp_path):
    file = tmp_path / "picture.png"
    question.save(results, file)
    assert question.digest(results).encode() in file.read_bytes()
    assert re.search(r"\d.*\.$", question.answer(question.own(results)))
