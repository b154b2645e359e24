"""What pyproject.toml cannot say: the folder configs/ is installed as data of dgsuite."""

from setuptools import find_packages, setup

PACKAGES = ["dgsuite*", "genval*", "kernels*", "partition*"]

setup(
    packages=[*find_packages(include=PACKAGES), "dgsuite.configs"],
    package_dir={"dgsuite.configs": "configs"},
)
