"""Print the lowest versions of the dependencies that pyproject.toml allows, as requirements of pip.

Commands: python tests/lowest.py > requirements.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

GROUPS = ("parquet", "delta", "metis", "lab", "chem", "test")
"""Optional dependencies that the tests of the lowest versions need."""

TOOLS = ("ruff", "mypy", "import-linter")
"""Of the group `test`, what no test runs."""


def lowest(text: str) -> list[str]:
    """Requirements of a pyproject.toml, each at its lowest version; patch releases may be newer."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(r for group in GROUPS for r in extras[group])]
    return [
        re.sub(r">=([\d.]+)", r"==\1.*", requirement)
        for requirement in wanted
        if not requirement.startswith(("dgsuite[", *TOOLS))
    ]


if __name__ == "__main__":
    print(*lowest((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")), sep="\n")
