"""Make the page of benchmarks, README.md, of the results that are committed beside it.

python benchmarks/page.py

A result is a file of the folder results that a benchmark has written (``--json``): NAME.json, and
NAME-*.json of runs under other conditions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import common

from dgsuite.base.files import atomic_write
from dgsuite.suites.benchmark import Row, amount, met, named, read, said

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "README.md", HERE / "metg.png"

Documents = dict[str, dict[str, Any]]

PARTS = {
    "Rounds and calls": "overhead between_hosts whole_call threads log_memory metg recursive checkpoints "
    "install",
    "What is worth its code": "mechanisms libraries",
    "Kernels": "imsuite scale large bounds needs",
    "Graphs": "construction cuts parquet growing",
    "Searches and analytics": "bfs_peers graph500_memory searches deep grid_bytes analytics gap "
    "networkx_backend linkage questions",
    "Faults": "faults simulators",
    "X10 on the SCC": "scc scc_simulated hartree_fock scc_hf",
    "Transports and scalability": "transports transports_bench throttle throttle_means scalability "
    "scaling_sizes extrap",
}
"""Benchmarks by subject, in the order of the page."""

PICTURES = {
    "metg": [("METG over workers, for each pattern; grey: more workers than processors", PICTURE)],
    "scc_simulated": [("Speed-up by workload, simulated", "scc-figure10.png")],
    "scc_hf": [
        ("Figure 5: speed-up of benzene and aspirin, simulated", "scc-hf-figure5.png"),
        ("Benzene STO-3G on each transport, before the counter in memory", "scc-hf-figure6.png"),
        ("Figure 7: speed-up over one base, with it", "scc-hf-figure7.png"),
    ],
    "transports_bench": [("Bandwidth over message size", "transports.png")],
}
"""Pictures of benchmarks, with their texts; names are of files in docs/images."""

HEAD = """\
# Benchmarks

`python benchmarks/page.py` makes this page of the files in [results](results). `make bench` measures all
again; `dgsuite bench --compare A B` says what is different between two files or commits;
[Why it takes what it takes](../docs/causes.md) has the causes. Times are medians on two processors, where
nothing else is said.

## Claims

Of the figures of each kind that have a bound, the one that is nearest to it, or furthest beyond; misses stand
first. A command links to its result.
"""

TABLES = """
## All figures

Bounds are in round brackets, the least and the most of several repeats in square ones; a figure that misses
its bound is bold. A line says when and on what it was measured, at which load average, and the least and most
time of a fixed loop beside it, by which a slow machine shows.
"""


def main() -> None:
    results = {file.stem: read(file) for file in sorted((HERE / "results").glob("*.json"))}
    with atomic_write(PAGE) as part:
        Path(part).write_text(page(results), encoding="utf-8")
    from metg import draw

    drawn = results["metg"]
    with atomic_write(PICTURE) as part:
        draw(drawn["rows"], part, processors=2, source=digest(drawn))


def digest(result: dict[str, Any]) -> str:
    """A digest of a result's figures."""
    return hashlib.blake2b(json.dumps(result["rows"]).encode(), digest_size=16).hexdigest()


def page(results: Documents) -> str:
    """The page.

    Raises
    ------
    ValueError
        A result has no place in it, or its sizes are those of a test.
    """
    for name, result in results.items():
        if result.get("tiny"):
            raise ValueError(f"{name}: the sizes are those of a test")
    runs = {name: dict(_runs(name, results)) for part in PARTS.values() for name in part.split()}
    if left := set(results) - {file for each in runs.values() for file in each}:
        raise ValueError(f"{', '.join(sorted(left))}: not in PARTS of page.py")
    placed: Documents = {file: run for each in runs.values() for file, run in each.items()}
    sections = (
        "\n".join(
            [f"\n### {part}", *(_section(name, runs[name]) for name in names.split() if runs[name])]
        )
        for part, names in PARTS.items()
    )
    text = HEAD + "\n" + _claims(placed) + TABLES + "\n".join(sections)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _runs(name: str, results: Documents) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(results, key=lambda file: (file != name, file)):
        if file == name or file.startswith(f"{name}-"):
            yield file, results[file]


def _claims(results: Documents) -> str:
    """A line for each quantity of a result that has a bound; those that miss it first."""
    missing, meeting = [], []
    for name, result in results.items():
        bounded: dict[tuple, list[Row]] = {}
        for row in result["rows"]:
            if met(row) is not None:
                bounded.setdefault((row["what"], row.get("peer"), row["unit"]), []).append(row)
        for rows in bounded.values():
            worst = max(rows, key=_share)
            missed = sum(not met(row) for row in rows)
            verdict = "met" if not missed else f"**{missed} of {len(rows)} missed**"
            if missed == len(rows) == 1:
                verdict = "**missed**"
            shown = amount(worst["value"], worst["unit"])
            command = (result["command"] or name).removeprefix("python benchmarks/")
            link = f"[`{command}`](results/{name}.json)"
            line = (named(worst), _bound(worst), shown, verdict, link)
            (missing if missed else meeting).append(line)
    return _markdown(("claim", "bound", "measured", "", "command"), missing + meeting)


def _share(row: Row) -> float:
    """How much of its bound a figure takes."""
    value = row["value"] if isinstance(row["value"], list) else [row["value"]]
    if "most" in row:
        return value[-1] / row["most"] if row["most"] else float(value[-1] > 0)
    return row["least"] / value[0]


def _section(name: str, runs: Documents) -> str:
    """The runs of a benchmark, with their tables."""
    parts = []
    for file, run in runs.items():
        title = (
            run["about"].rstrip(".") if file == name else f"{name}: {file.removeprefix(f'{name}-')}"
        )
        parts.append(f"\n#### {title}\n")
        if run["command"]:
            parts.append(f"`{run['command']}`\n")
        parts.append(_circumstances(run) + "\n")
        parts += [_table(rows) for rows in _tables(run["rows"])]
        if file == name:
            parts += [f"![{text}]({_path(where)})\n" for text, where in PICTURES.get(name, ())]
    return "\n".join(parts).rstrip()


def _path(where: str | Path) -> str:
    return where.name if isinstance(where, Path) else f"../docs/images/{where}"


def _circumstances(run: dict[str, Any]) -> str:
    """When, on what and at which load it was measured."""
    commit = run["commit"] and f"commit {run['commit'][:7]}" + " and changes" * run.get(
        "changed", False
    )
    parts = [run["date"][:10] if "T" in run["date"] else run["date"], run["machine"], commit]
    for what, values, unit in (("load", run["load"], ""), ("loop", _ms(run), "ms")):
        if values:
            parts.append(f"{what} {amount([min(values), max(values)], unit)}")
    sentences = ["; ".join(each for each in parts if each) + ".", run.get("note", "")]
    if left := "; ".join(f"{what}: {why}" for what, why in run.get("skipped", {}).items()):
        sentences.append(f"Left out: {left}.")
    return " ".join(filter(None, sentences))


def _ms(run: dict[str, Any]) -> list[float]:
    return [common.rounded(1e3 * seconds) for seconds in run["loop_seconds"]]


def _tables(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Figures that have the same kinds of conditions."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row["conditions"]), []).append(row)
    yield from groups.values()


def _table(rows: Sequence[Row]) -> str:
    """A line for each of the conditions and a column for each quantity, or, if these are more, turned.

    Of a single quantity the last condition has the columns.
    """
    columns: dict[tuple, list[Row]] = {}
    lines: dict[tuple, dict[tuple, str]] = {}
    if len({(row["what"], row["unit"], row.get("peer")) for row in rows}) == 1:
        rows = [_across(row) for row in rows]
    for row in rows:
        columns.setdefault((row["what"], "peer" in row), []).append(row)
    for column, some in columns.items():
        unit = len({row["unit"] for row in some}) > 1
        peer = len({row.get("peer") for row in some}) > 1
        for row in some:
            cells = lines.setdefault(tuple(row["conditions"].values()), {})
            shown = _cell(row, unit, peer)
            cells[column] = f"{cells[column]}; {shown}" if column in cells else shown
    keys = list(rows[0]["conditions"])
    heads = [_head(some) for some in columns.values()]
    if len(columns) > len(lines):
        named = [", ".join(f"{k} {said(v)}" for k, v in zip(keys, on, strict=True)) for on in lines]
        table = [
            [head, *(cells.get(column, "") for cells in lines.values())]
            for head, column in zip(heads, columns, strict=True)
        ]
        return _markdown(["", *named], table)
    table = [
        [*map(said, on), *(cells.get(column, "") for column in columns)]
        for on, cells in lines.items()
    ]
    return _markdown([*keys, *heads], table)


def _across(row: Row) -> Row:
    """A figure whose last condition is a part of its name."""
    if len(row["conditions"]) < 2:
        return row
    *others, (key, value) = row["conditions"].items()
    return row | {"what": f"{row['what']}, {key} {said(value)}", "conditions": dict(others)}


def _head(rows: Sequence[Row]) -> str:
    """What a column has, with what is the same in all of its cells."""
    peers, units = {row.get("peer") for row in rows}, {row["unit"] for row in rows}
    over = f" over {rows[0]['peer']}" if len(peers) == 1 and "peer" in rows[0] else ""
    unit = f", {rows[0]['unit']}" if len(units) == 1 and rows[0]["unit"] else ""
    return f"{rows[0]['what']}{over}{unit}"


def _cell(row: Row, unit: bool, peer: bool) -> str:
    """A figure, with its unit and its peer where the column has several."""
    value = amount(row["value"], row["unit"] if unit else "")
    value = f"**{value}**" if met(row) is False else value
    if row.get("spread", [0, 0])[0] != row.get("spread", [0, 0])[1]:
        value += f" [{amount(row['spread'], '')}]"
    if met(row) is not None:
        value += f" ({_bound(row)})"
    return (
        value + (f" {row['peer']}" if peer else "") + (f"; {row['note']}" if "note" in row else "")
    )


def _bound(row: Row) -> str:
    return f"≤ {row['most']:,}" if "most" in row else f"≥ {row['least']:,}"


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


if __name__ == "__main__":
    main()
