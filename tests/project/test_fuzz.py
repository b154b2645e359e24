"""A few damaged and forged inputs for every reader, in processes of their own; see `tests.fuzz`."""

import random

import pytest

from dgsuite.base.errors import InputError
from dgsuite.partition.sources import readers
from tests import fuzz

SOME = [*("edge_list", "netcdf", "forged_checkpoint_bfs", "forged_result")]
SOME += ["saved_cluster", "checkpoint_list"]
CASES = [(reader, False) for reader in SOME]
CASES += [pytest.param(reader, True, marks=pytest.mark.long) for reader in fuzz.READERS]


@pytest.mark.timeout(300)
@pytest.mark.few(5)
@pytest.mark.parametrize(("reader", "many"), CASES)
def test_damaged_inputs_are_read_or_refused(reader, many):
    needs = {"parquet": "pyarrow", "xyz": "pyscf"}
    for package in needs.get(reader, "numpy").split():
        pytest.importorskip(package)
    inputs = fuzz.FEWER.get(reader, fuzz.MANY) if many else 5
    outcomes = fuzz.fuzz(reader, seed=1, inputs=inputs)
    assert len(outcomes) == inputs
    assert not fuzz.failures(outcomes)


def test_the_long_tests_try_25_000_inputs():
    """And the night 100,000 that are forged."""
    assert sum(fuzz.FEWER.get(reader, fuzz.MANY) for reader in fuzz.READERS) >= 25_000
    forged = [reader for reader in fuzz.READERS if reader.startswith("forged")]
    assert 40 * sum(fuzz.FEWER[reader] for reader in forged) >= 100_000


def test_the_fuzzer_sees_errors_crashes_memory_and_endless_loops(monkeypatch):
    outcomes = fuzz.fuzz("faulty", seed=1, inputs=5)
    assert outcomes[0].startswith("ValueError: wrong")
    assert outcomes[1] == "process ended: SIGSEGV"
    assert outcomes[2].startswith("MemoryError")
    assert outcomes[3] == "process ended: SIGALRM"
    assert outcomes[4] == "refused"
    assert set(fuzz.failures(outcomes)) == {0, 1, 2, 3}


def test_inputs_depend_on_seed_and_number_alone():
    data = random.Random(0).randbytes(500)
    assert fuzz.data_of("xyz", 1, 7, data) == fuzz.data_of("xyz", 1, 7, data)
    assert fuzz.data_of("xyz", 1, 7, data) != fuzz.data_of("xyz", 2, 7, data)


HEADERS = [
    ("coordinate real general\n999999999999 999999999999 0\n", "0 bytes of entries are too"),
    ("array real general\n9999999 9999999\n", "'array' is not one of coordinate"),
    ("coordinate real general\n2 2 999999999999\n", "Truncated"),
    (f"coordinate real general\n2 2 1{'0' * 5000}\n", "line 2: must have 3 sizes"),
    ("coordinate text general\n2 2 0\n", "line 1: 'text' is not one of"),
]


@pytest.mark.parametrize(("header", "message"), HEADERS)
def test_headers_of_matrix_market_that_cannot_be(tmp_path, header, message):
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix " + header)
    with pytest.raises(InputError, match=message):
        readers.read_matrix_market(str(tmp_path / "g.mtx"))
