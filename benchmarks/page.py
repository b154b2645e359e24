"""Make the pages of benchmarks and their pictures from the results that are committed.

python benchmarks/page.py

A result is a file of the folder results that a benchmark has written (``--json``): NAME.json, and
NAME-*.json of runs under other conditions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import common
from charts import QUESTIONS
from drawing import Documents
from rows import Row, amount, met, named, said

from dgsuite.base.files import atomic_write

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
DOCS = HERE.parent / "docs"
WIDTH = 130
"""Of lines of text."""
PAGES, IMAGES = DOCS / "benchmarks", DOCS / "images" / "benchmarks"

PARTS = {
    "Rounds and calls": "overhead between_hosts whole_call threads log_memory metg recursive checkpoints "
    "install first_answer run_path",
    "What is worth its code": "mechanisms libraries",
    "Kernels": "imsuite scale large bounds needs",
    "Graphs": "construction cuts parquet growing larger",
    "Searches and analytics": "bfs_peers graph500_memory searches deep grid_bytes analytics gap "
    "networkx_backend linkage questions",
    "Faults": "faults events simulators",
    "X10 on the SCC": "scc scc_simulated hartree_fock scc_hf",
    "Transports and scalability": "transports transports_bench throttle throttle_means scalability "
    "scaling_sizes stop_coverage extrap",
}
"""Benchmarks by subject, in the order of the page."""

PICTURES = {
    "metg": [
        (
            "METG over workers, for each pattern; grey: more workers than processors",
            "benchmarks/metg.png",
        )
    ],
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

First the goals that dgsuite misses, then questions, each with a picture and an answer, then links to all
figures. Times are medians, measured on machines with two processors.
[Why it takes what it takes](../docs/causes.md) has the causes.

## What misses its goal

A figure may have a goal: a bound that was set before it was measured. {missed} of {bounded} figures miss
theirs. The table has the worst figure of each kind that misses. "A over B" is A divided by B: 0.5 x
means half of B.

"""

TAIL = """
## All figures

`make bench` measures all of them again, in about an hour. `python benchmarks/page.py` makes these pages
from the files in [results](results).

"""

GOALS = """\
# Goals

A figure may have a goal: a bound that was set before it was measured. The table has one figure of each
kind: the one that misses its goal by most, or is nearest to it. Kinds with misses stand first. "A over
B" is A divided by B: 0.5 x means half of B.

"""

FIGURES = """\
# {part}

Goals are in round brackets, the least and the most of several repeats in square brackets. A figure that
misses its goal is bold. The line below a command says when and on which machine it ran, with the load
average, and with the least and most time of a fixed loop: that is long where the machine was slow.
"""


def main() -> None:
    files = sorted((HERE / "results").glob("*.json"))
    results = {file.stem: json.loads(file.read_text("utf-8")) for file in files}
    for path, text in pages(results).items():
        path.parent.mkdir(exist_ok=True)
        with atomic_write(path) as part:
            Path(part).write_text(text, encoding="utf-8")
    IMAGES.mkdir(exist_ok=True)
    for question in QUESTIONS:
        with atomic_write(IMAGES / f"{question.name}.png") as part:
            question.save(results, part)


def pages(results: Documents) -> dict[Path, str]:
    """The pages, by their files: the first one, goals, and the figures of each subject.

    Raises
    ------
    ValueError
        A result has no place in them, or its sizes are those of a test.
    """
    for name, result in results.items():
        if result.get("tiny"):
            raise ValueError(f"{name}: the sizes are those of a test")
    parts = {part: _placed(names, results) for part, names in PARTS.items()}
    if left := set(results) - {
        file for runs in parts.values() for each in runs.values() for file in each
    }:
        raise ValueError(f"{', '.join(sorted(left))}: not in PARTS of page.py")
    made = {
        PAGE: _first(parts, results),
        PAGES / "goals.md": GOALS + _goals(parts, "."),
    }
    for part, runs in parts.items():
        sections = [_section(name, each) for name, each in runs.items()]
        made[_file(part)] = FIGURES.format(part=part) + "\n" + "\n".join(sections)
    return {path: re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n" for path, text in made.items()}


def _file(part: str) -> Path:
    return PAGES / f"{re.sub('[^a-z0-9]+', '-', part.lower())}.md"


def _placed(names: str, results: Documents) -> dict[str, Documents]:
    """The results of each benchmark of a part, if it has any."""
    runs = {name: dict(_runs(name, results)) for name in names.split()}
    return {name: each for name, each in runs.items() if each}


def _runs(name: str, results: Documents) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(results, key=lambda file: (file != name, file)):
        if file == name or file.startswith(f"{name}-"):
            yield file, results[file]


def _first(parts: dict[str, dict[str, Documents]], results: Documents) -> str:
    """The page with misses, questions and links to the others."""
    found = [met(row) for result in results.values() for row in result["rows"]]
    missed, bounded = found.count(False), len(found) - found.count(None)
    asked = [question for question in QUESTIONS if set(question.results) <= set(results)]
    text = HEAD.format(missed=missed, bounded=bounded)
    text += _goals(parts, "../docs/benchmarks", missed=True)
    for question in asked:
        image = f"../docs/images/benchmarks/{question.name}.png"
        answer, about = question.answer(question.own(results)), question.text
        text += f"\n## {question.title}\n\n{fill(answer, WIDTH)}\n\n"
        text += f"![{question.title}]({image})\n\n{fill(about, WIDTH)}\n"
    lines = []
    for part, runs in parts.items():
        rows = [met(row) for each in runs.values() for run in each.values() for row in run["rows"]]
        link = f"[{part}](../docs/benchmarks/{_file(part).name})"
        lines.append((link, str(len(rows)), str(rows.count(False) or "")))
    goals = (
        f"\n[Goals](../docs/benchmarks/goals.md) has all {bounded} figures with a goal, by kind.\n"
    )
    return text + TAIL + _markdown(("page", "figures", "misses"), lines) + goals


def _goals(parts: dict[str, dict[str, Documents]], folder: str, missed: bool = False) -> str:
    """A line for each kind of figure that has a goal; those with misses first, or alone."""
    missing, meeting = [], []
    for part, runs in parts.items():
        page = f"{folder}/{_file(part).name}"
        for each in runs.values():
            bounded: dict[tuple, list[tuple[Row, str]]] = {}
            for file, result in each.items():
                for row in result["rows"]:
                    if met(row) is not None:
                        kind = (row["what"], row.get("peer"), row["unit"], "most" in row)
                        bounded.setdefault(kind, []).append((row, file))
            for rows in bounded.values():
                count = sum(not met(row) for row, _ in rows)
                (missing if count else meeting).append(_goal(rows, count, page))
    return _markdown(
        ("figure", "goal", "measured", "", "result"), missing if missed else missing + meeting
    )


def _goal(rows: Sequence[tuple[Row, str]], missed: int, page: str) -> tuple[str, ...]:
    """The line of a kind of figures: the one that misses its goal by most, or is nearest to it."""
    worst, file = max(rows, key=lambda each: _share(each[0]))
    verdict = "met" if not missed else f"**{missed} of {len(rows)} missed**"
    if missed == len(rows) == 1:
        verdict = "**missed**"
    shown = amount(worst["value"], worst["unit"])
    return named(worst), _bound(worst), shown, verdict, f"[{file}]({page})"


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
        parts.append(f"\n## {title}\n")
        command = f"`{run['command']}`: " if run["command"] else ""
        parts.append(f"{command}[{file}.json](../../benchmarks/results/{file}.json)\n")
        parts.append(_circumstances(run) + "\n")
        parts += [_table(rows) for rows in _tables(run["rows"])]
        if file == name:
            parts += [f"![{text}](../images/{where})\n" for text, where in PICTURES.get(name, ())]
    return "\n".join(parts).rstrip()


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
