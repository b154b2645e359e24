"""References made from the code: of TOML files, as a page and a JSON schema, and of Dask's configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pkgutil import resolve_name
from typing import Any

from pydantic import BaseModel

from dgsuite.studies.experiment.toml import inner

FILES = {
    "dgsuite run": "dgsuite.studies.experiment.model:Config",
    "dgsuite graph500": "dgsuite.suites.graph500.options:File",
    "dgsuite gap": "dgsuite.suites.gap.options:File",
    "dgsuite scc, betweenness centrality": "dgsuite.studies.scc.options:File",
    "dgsuite scc, Hartree-Fock": "dgsuite.studies.scc.hf_study:File",
}
"""The model of each kind of file, by what reads it."""

HEAD = """\
# Files

Experiments and suites are described in TOML. The tables of a file tell what it is for.
`dgsuite config list` names files to begin with, and `dgsuite config show quickstart` prints one.
Unknown keys are errors. `format = 1` at the top of a file says in which form it is; that is also the form of
a file without it.
`--set table.key=value` changes a value from the command line.

An editor that knows JSON schemas completes and checks these files: give it `docs/files.schema.json`, or what
`dgsuite config schema` prints. For Taplo and Even Better TOML, the first line of a file may be
`#:schema files.schema.json`, with the path or URL of the schema.

This page is what `dgsuite config reference` prints.
"""


BOUNDS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
}
"""Words for limits of numbers."""


SETTINGS = """\
# Settings

dgsuite's settings are in Dask's configuration, under `dgsuite`. Set them as those of Dask:

```python
dask.config.set({"dgsuite.timeout": "2 minutes"})
```

or in the environment (`DASK_DGSUITE__TIMEOUT="2 minutes"`), or in `~/.config/dask/dgsuite.yaml`, which has
the defaults in comments. Schedulers and workers read their own environment and files.

This page is what `dgsuite config settings` prints.

| key | value | default | meaning |
|---|---|---|---|
"""


def models() -> dict[str, type[BaseModel]]:
    """The models of all files, by what reads them."""
    return {reader: resolve_name(path) for reader, path in FILES.items()}


def schema() -> dict[str, Any]:
    """The JSON schema of all files."""
    from pydantic.json_schema import models_json_schema

    each = models()
    places, found = models_json_schema(
        [(model, "validation") for model in each.values()], title="Files of dgsuite"
    )
    form = {"const": 1, "description": "Version of the form of the file.", "title": "Format"}
    for place in places.values():
        found["$defs"][place["$ref"].rpartition("/")[2]]["properties"]["format"] = form
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **found,
        "anyOf": [places[model, "validation"] for model in each.values()],
    }


def page() -> str:
    """The reference as Markdown: a section for each kind of file, a table for each of its tables."""
    parts = [HEAD]
    for reader, model in models().items():
        command, comma, program = reader.partition(",")
        parts.append(f"## Files of `{command}`{comma}{program}\n")
        described = model.model_json_schema()
        for path, section in _sections(model):
            where = described if section is model else described["$defs"].get(section.__name__)
            parts.append(_table(path, section, where or section.model_json_schema()))
        for name, field in model.model_fields.items():
            if not any(inner(field.annotation)):  # a table of any keys
                parts.append(f"### `[{name}]`\n\n{field.description}\n")
    return "\n".join(parts)


def settings() -> str:
    """The reference of Dask's configuration as Markdown."""
    from dgsuite.partition.client.settings import FILE, SCHEMA, read

    def rows(path: str, described: Mapping[str, Any], defaults: Any) -> Iterator[str]:
        for name, part in described.get("properties", {}).items():
            yield from rows(f"{path}.{name}", part, defaults[name])
        if "properties" not in described:
            meaning = " ".join(described["description"].split())
            shown = f"`{json.dumps(defaults)}`"
            yield f"| `{path}` | {_kind(described)} | {shown} | {meaning} |\n"

    described = read(SCHEMA)["properties"]["dgsuite"]
    return SETTINGS + "".join(rows("dgsuite", described, read(FILE)["dgsuite"]))


def _sections(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The tables of a file, each with its name."""
    for name, field in model.model_fields.items():
        for section in dict.fromkeys(inner(field.annotation)):
            key = f"{path}{field.alias or name}"
            named = f"{key}.NAME" if "dict" in str(field.annotation) else key
            yield f"[[{key}]]" if "list[" in str(field.annotation) else f"[{named}]", section
            yield from _sections(section, f"{named}.")


def _table(path: str, section: type[BaseModel], described: Mapping[str, Any]) -> str:
    lines = [
        f"### `{path}`\n",
        " ".join((section.__doc__ or "").split()) + "\n",
        "| key | value | default | meaning |",
        "|---|---|---|---|",
    ]
    required = described.get("required", ())
    for key, value in described["properties"].items():
        default = "required" if key in required else _shown(value.get("default"))
        meaning = " ".join(value.get("description", "").split()).replace("|", "\\|")
        lines.append(f"| `{key}` | {_kind(value)} | {default} | {meaning} |")
    return "\n".join(lines) + "\n"


def _shown(default: Any) -> str:
    if default is None or isinstance(default, dict) or default == []:
        return ""
    if isinstance(default, list) and len(default) == 1:
        default = default[0]
    return f"`{json.dumps(default)}`"


def _kind(value: Mapping[str, Any]) -> str:
    """What a key takes, in words."""
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "$ref" in value or "allOf" in value:
        return "table"
    if isinstance(value.get("type"), list):
        return " or ".join(_kind({**value, "type": one}) for one in value["type"])
    if "anyOf" in value:
        kinds = [_kind(one) for one in value["anyOf"] if one.get("type") != "null"]
        single = [kind for kind in kinds if not kind.startswith("list of ")]
        listed = [kind for kind in kinds if kind.startswith("list of ")]
        if single and listed == [f"list of {single[0]}"]:
            return f"{single[0]}, or a list"
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}".replace("of table", "of tables")
    bounds = "".join(f" {word} {value[key]}" for key, word in BOUNDS.items() if key in value)
    kind = value.get("type", "any")
    names = {"string": "text", "boolean": "true or false", "object": "table"}
    return names.get(kind, kind) + bounds * (kind in ("integer", "number"))
