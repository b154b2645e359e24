"""What pyproject.toml cannot say: three folders beside dgsuite/ are packages of it, and configs/ is data."""

from setuptools import find_packages, setup

BESIDE = ("partition", "kernels", "genval")
PACKAGES = [
    f"dgsuite.{package}" for package in find_packages(include=[f"{name}*" for name in BESIDE])
]

setup(
    packages=[*find_packages(include=["dgsuite*"]), *PACKAGES, "dgsuite.configs"],
    package_dir={f"dgsuite.{name}": name for name in (*BESIDE, "configs")},
)
