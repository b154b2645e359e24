"""Experiment files that a test may change."""

import shutil

import pytest

from dgsuite.studies.report.claims.evidence import CONFIGS


@pytest.fixture
def configs(tmp_path):
    shutil.copytree(CONFIGS, tmp_path / "configs")
    return tmp_path / "configs"
