"""What pyproject.toml cannot say: three folders beside dgsuite/ are packages of it, and configs/ is data."""

import sys

from setuptools import find_packages, setup

BESIDE = ("partition", "kernels", "genval")

if (
    "editable_wheel" in sys.argv
):  # the checkout goes on the path, and dgsuite/__init__.py finds the folders
    setup(packages=[], package_dir={"": "."})
else:
    beside = find_packages(include=[f"{name}*" for name in BESIDE])
    setup(
        packages=[
            *find_packages(include=["dgsuite*"]),
            *(f"dgsuite.{package}" for package in beside),
            "dgsuite.configs",
        ],
        package_dir={f"dgsuite.{name}": name for name in (*BESIDE, "configs")},
    )
