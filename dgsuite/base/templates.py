"""Pages in HTML, made from templates that lie beside the modules that fill them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def template(package: str, name: str) -> Template:
    """A template of a package. It escapes all text, and fails where a name is missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from dgsuite.base.tables import Marked

    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.tests["marked"] = lambda value: isinstance(value, Marked)
    return environment.get_template(name)
