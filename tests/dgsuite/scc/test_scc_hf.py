"""The study of Hartree-Fock: what is replayed, what the paper says beside it, files that are wrong."""

import json

import numpy as np
import pytest
import xarray as xr

from dgsuite.studies.chem import molecule
from dgsuite.studies.chem.scf import plan
from dgsuite.studies.scc import hf_report, hf_study
from dgsuite.studies.scc.ledger import Transport
from tests.support import mains

pytest.importorskip("pyscf", reason="PySCF is not installed: pip install 'dgsuite[chem]'")

FREE = Transport("none", 0.0, 0.0)
WATER = "3\n\nO 0 0 0.1173\nH 0 0.7572 -0.4692\nH 0 -0.7572 -0.4692\n"


def pairs(shells):
    """Units of the static deal that take (a + 1)^2, and nothing where a < b."""
    a, b = np.divmod(np.arange(shells**2), shells)
    return np.where(a >= b, (a + 1.0) ** 2, 0)


@pytest.mark.parametrize("arm", ["static", "filled", "dynamic", "dynamic:16", "unique"])
def test_one_place_takes_the_sum(arm):
    units = pairs(24)
    found = hf_study.simulate(units, arm, 1, Transport("wire", 1e-4, 1e-9), 0.5, 1000)
    assert found.elapsed == pytest.approx(0.5 + units.sum())
    for places in (2, 48, 1024):
        found = hf_study.simulate(units, arm, places, FREE, 0, 1000)
        assert found.busy.sum() == pytest.approx(units.sum())


def test_counted_units():
    """Aspirin on the original's cost: more at 44 places than at 48, and the double work of gmatype 4."""
    aspirin = molecule.mole(molecule.read("aspirin"), "3-21g")
    units, double = (hf_study.primitives(plan(aspirin, arm)[0]) for arm in ("static", "dynamic"))
    for places, faster in ((44, 37.4), (48, 35.7)):
        elapsed = hf_study.simulate(units, "static", places, FREE, 0, 0).elapsed
        assert units.sum() / elapsed == pytest.approx(faster, abs=0.1)
    assert 1.9 < double.sum() / units.sum() < 2


@pytest.fixture
def small(tmp_path):
    (tmp_path / "water.xyz").write_text(WATER)
    path = tmp_path / "study.toml"
    path.write_text(
        '[hf]\nname = "small"\nbalance = ["static", "dynamic:4", "dask"]\n'
        'protocols = ["tcp", "pigeon", "chip:mpimpb"]\n'
        'places = [1, 2, 8, 64]\nrepeats = 1\ninput = [{ molecule = "water.xyz", basis = "sto-3g" }]\n'
    )
    return path


@pytest.mark.long
def test_a_study(small, capsys):
    output = small.parent / "small.nc"
    assert mains.scc([str(small), "--output", str(output)]) == 0
    assert "left out: unknown protocol 'pigeon'" in capsys.readouterr().err
    ds = xr.load_dataset(output, engine="h5netcdf")
    assert output.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert dict(ds.sizes) == {"input": 1, "balance": 3, "transport": 4, "places": 4}
    measured = ds.measured.sel(transport="tcp", places=[1, 2])
    assert (measured > 0).all()
    assert ds.measured.sel(places=8).isnull().all()
    assert "pigeon" in ds.attrs["left_out"]
    simulated = ds.simulated.sel(balance=["static", "dynamic:4"])
    assert simulated.sel(transport=["none", "counted", "tcp"]).notnull().all()
    on_chip = simulated.sel(transport="chip:mpimpb")  # of 48 cores
    assert on_chip.notnull().any(("input", "balance")).values.tolist() == [True, True, True, False]
    assert (on_chip.sel(places=2) > simulated.sel(transport="none", places=2)).all()
    assert ds.measured.sel(transport="chip:mpimpb").isnull().all()
    assert float(ds.energy[0]) == pytest.approx(-74.96, abs=0.01)
    assert json.loads(ds.attrs["study"])["repeats"] == 1


def test_findings():
    """Times that are as the paper's agree with it, and others do not."""
    aspirin = [[310, 50, 30, 10, 11], [260, 50, 40, 25, 20]]
    benzene = [[60, 12, 10, 11, 11], [60, 50, 40, 30, 30]]
    seconds = ("input", "balance", "places"), np.array([aspirin, benzene], float)
    names = ["aspirin 3-21g", "benzene 3-21g"]
    at = {"input": names, "balance": ["static", "dynamic"], "places": [1, 8, 12, 44, 48]}
    ds = xr.Dataset({"simulated": seconds, "shells": ("input", [81, 42])}, at)
    ds["simulated"] = ds.simulated.expand_dims(transport=["none"], axis=2)
    found = hf_report.findings(ds)
    assert [(row["figure"], row["says"], row["ours"]["none"]) for row in found] == [
        ("5a", "dynamic, aspirin: 13x at 48 places", ("13.0x", True)),
        ("5b", "static, benzene: peak of 6x at 12 places", ("6.0x at 12, 6.0x at 12", True)),
        ("5b", "static, aspirin: 31x at 44 places", ("31.0x", True)),
    ]
    assert [row[1:3] for row in hf_report.columns(ds)[:2]] == [(8, 1), (12, 3)]
    ds["simulated"] = ds.simulated.where(ds.places != 44, 20)
    assert [row["ours"]["none"][1] for row in hf_report.findings(ds)] == [True, True, False]


WRONG = [
    ('"static"', '"statik"', "hf.balance.0"),
    ("dynamic:4", "static:4", "units a fetch are such as 'dynamic:16'"),
    ("repeats = 1", "repeats = 0", "hf.repeats"),
    ("water.xyz", "wine.xyz", "wine.xyz: no such file"),
    ("sto-3g", "sto-9g", "PySCF has no basis 'sto-9g' for O"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_files_that_are_wrong(small, capsys, old, new, message):
    small.write_text(small.read_text().replace(old, new))
    assert mains.scc([str(small), "--output", str(small.with_suffix(".nc"))]) == 2
    assert message in capsys.readouterr().err
