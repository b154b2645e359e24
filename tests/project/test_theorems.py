"""The guide to five theorems: its files run, and its numbers are those of the results that ship."""

import importlib.util

import numpy as np
import pytest

import dgsuite
from dgsuite import experiment
from tests.support.paths import ROOT

SMALL = {
    "luby": ["run.0.n=[8, 16]", "run.0.trials=2"],
    "floodset": [f"run.{i}.trials=1" for i in range(3)],
    "synchronisers": ["run.0.n=[4]"],
    "benor": [f"run.{i}.trials=1" for i in range(4)],
    "token-ring": [f"run.{i}.{key}" for i in range(2) for key in ("n=[4, 5]", "trials=2")],
}
"""What makes each file small."""


def pictures():
    """The module that makes tables and pictures."""
    path = ROOT / "docs" / "theorem_pictures.py"
    spec = importlib.util.spec_from_file_location("theorem_pictures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SMALL)
def test_the_files_run(name, tmp_path):
    """And what they find can be drawn as that of the page is."""
    out = tmp_path / f"{name}.nc"
    given = [word for one in ["experiment.plot=false", *SMALL[name]] for word in ("--set", one)]
    assert experiment.main([f"theorem-{name}", "--output", str(out), "-q", *given]) == 0
    made = pictures()
    said, _ = made.FOUND[name](made.settled(dgsuite.open(out)))
    assert said.count("\n") > 1


def test_the_numbers_of_the_page():
    page = (ROOT / "docs" / "howto" / "theorems.md").read_text()
    for name, table in pictures().tables().items():
        assert table in page, name
        assert (ROOT / "docs" / "images" / f"theorem-{name}.png").exists()


def test_what_the_page_says_of_its_results():
    made = pictures()
    luby, flood, ring = (made.read(name) for name in ("luby", "floodset", "token-ring"))
    assert luby.valid.all()
    crashes = np.array([text.count("node") for text in flood.network.values])
    rounds, right = flood.n_rounds.values[:, 0], flood.valid.values.mean(axis=1)
    assert (right[crashes < rounds] == 1).all()
    assert (right[crashes > rounds] == 0).all()
    assert ((right > 0) & (right < 1))[crashes == rounds].all()
    n = ring.n.values
    central = np.array(["central" in text for text in ring.params.values])
    bounds = np.where(central, 3 * n * (n - 1) // 2, 2 * n - 2)
    assert (ring.legitimate_round.values.max(axis=1) <= bounds).all()
