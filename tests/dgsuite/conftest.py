"""Experiment files that a test may change; tests that are coroutines."""

import inspect
import shutil

import pytest

from dgsuite.studies.report.claims.evidence import CONFIGS
from dgsuite.studies.report.claims.judge import CHECKS, unknown
from tests.support.comms import run


@pytest.fixture
def configs(tmp_path):
    shutil.copytree(CONFIGS, tmp_path / "configs")
    return tmp_path / "configs"


def leave_out(monkeypatch, checks):
    for check in checks:
        assert check in CHECKS
        monkeypatch.setitem(CHECKS, check, lambda claim, evidence: unknown("it takes long"))


@pytest.fixture
def not_judged(monkeypatch):
    """A page has no verdict on any claim; test_claims.py judges them all."""
    leave_out(monkeypatch, CHECKS)


@pytest.fixture
def quickly_judged(monkeypatch):
    """A page has no verdict on claims that take seconds to judge; test_claims.py judges them all."""
    leave_out(monkeypatch, ("along_links", "betweenness", "complexity", "fock"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine function."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
