"""The project itself: documents that run, light imports, whole packages."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Literal

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.base.aliases import ALIASES
from dgsuite.core.parameters import make_kernel
from dgsuite.genval.rules.base import Job
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels import KERNELS, BellmanFord
from tests.cards import CARDS
from tests.support.browser import BROWSER, opened
from tests.support.paths import ROOT
from tests.support.processes import python


def python_blocks(name):
    text = (ROOT / name).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def contributing():
    """What the code of CONTRIBUTING.md defines."""
    code = "".join(python_blocks("CONTRIBUTING.md"))
    space: dict = {"__name__": "contributing"}
    exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), space)
    return SimpleNamespace(**space)


def test_the_kernel_of_contributing_runs(contributing):
    graph = nx.disjoint_union(nx.path_graph(9), nx.cycle_graph(5))
    for clusters in (1, 4):
        g = dgsuite.Graph.from_networkx(graph, clusters=clusters)
        ds = dgsuite.run(contributing.MaxFlood, g, style="serial")
        assert ds.largest.values.tolist() == [8] * 9 + [13] * 5


def test_the_sums_of_contributing_are_right(contributing):
    """The kernel's ranks are those of the reference, on any cut; the rule tells right from wrong."""
    graph = nx.disjoint_union(nx.star_graph(9), nx.empty_graph(3))
    right = contributing.reference(graph)
    found = []
    for clusters in (1, 5):
        g = dgsuite.Graph.from_networkx(graph, clusters=clusters)
        ds = dgsuite.run(contributing.Walk, g, style="serial", tolerance=1e-12)
        found.append(ds["rank"].values)
        np.testing.assert_allclose(found[0], right, rtol=0, atol=1e-11)
        for wrong in (found[0] * (1 + 1e-9), np.roll(found[0], 1), found[0] * np.nan):
            for rank, violated in ((found[0], False), (wrong, True)):
                (report,) = contributing.walk(Job(g, {"rank": rank}, ds))
                assert bool(report.total) == violated
    np.testing.assert_array_equal(*found)
    with pytest.raises(dgsuite.InputError, match="damping must be from 0 to 1"):
        dgsuite.run(contributing.Walk, g, style="serial", damping=2.0)


GUIDES = (
    *(
        "checkpoint",
        "choose",
        "congest",
        "counts",
        "embeddings",
        "events",
        "executions",
        "faults",
        "kernel",
    ),
    *("linkage", "recipes", "reduction", "scc", "stabilisation"),
)
PAGES = [
    "README.md",
    *(f"docs/{name}.md" for name in ("start", "networkx", "howto/save", "dask", "stopping")),
    *(f"docs/howto/{name}.md" for name in GUIDES),
]
"""Pages with examples. By default those of the first run, by `make doctest` those of all."""

ELSEWHERE = "compiling .* loops took|Worker process still alive|input buffer was poorly aligned"
"""What may be on stderr in a new installation, and on a busy machine (arrow#36301)."""

CLOSING = (
    r"(?ms)^\S+ \S+ - distributed\.worker - ERROR - Failed to communicate.*?CommClosedError: .*?$"
)
"""A worker's heartbeat that its scheduler's end cut short, with its traceback (distributed#7192, #9032)."""


@pytest.mark.few(1)
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path):
    """From a file, in their order. They print what the page says they print, and nothing else."""
    program = tmp_path / "program.py"
    blocks = python_blocks(page)
    assert blocks
    program.write_text("\n".join(blocks))
    unbuffered = {"PYTHONUNBUFFERED": ""}  # workers print, too; buffered, lines of two do not mix
    own = {"DASK_TEMPORARY_DIRECTORY": str(tmp_path / "dask")}  # others purge the common one
    done = python(program, cwd=tmp_path, **unbuffered, **own)
    ours = re.sub(CLOSING, "", done.stderr).splitlines()
    left = [line for line in ours if line and not re.search(ELSEWHERE, line)]
    assert not left, done.stderr
    assert done.returncode == 0, done.stderr
    said = (ROOT / page).read_text()
    assert [line for line in done.stdout.splitlines() if line not in said] == []


def test_each_door_of_the_readme_is_five_lines_that_run(capsys):
    """Alone, and prints what it says."""
    doors = python_blocks("README.md")
    assert len(doors) == 3
    for door in doors:
        lines = [line for line in door.splitlines() if line and not line.startswith("# ")]
        assert len(lines) <= 5
        exec(door, {})
        assert f"# {capsys.readouterr().out}" in door + "\n"


def test_pages_list_all_kernels():
    listed = (ROOT / "docs/kernels.md").read_text().partition("## Letters")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", listed, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == list(dgsuite.list_kernels())
    undirected = [name for name, k in KERNELS.items() if k.undirected and not k.both_ways]
    refused = (ROOT / "docs/limits.md").read_text().split("These kernels refuse")[1].split(". ")[0]
    assert re.findall(r"`(\w+)`", refused) == sorted(undirected)


def test_each_kernel_has_a_card_a_rule_and_a_row():
    """Analytics, and names by which others know a kernel, have rows of functions as well."""
    assert {*CARDS} == {*VALIDATORS} == {*KERNELS}
    page = (ROOT / "docs/analytics.md").read_text().partition("## On graphs")[0]
    rows = [row.split(" | ") for row in re.findall(r"^\| .*\|$", page, re.MULTILINE)[1:]]
    listed = {name for _, task, *_ in rows for name in re.findall(r"`(\w+)`", task)}
    due = {name for name, place in KERNELS.places.items() if ".analytics." in place}
    assert {*due, *ALIASES.values()} - listed == {"bfs2d"}  # which is bfs in tiles


def test_the_list_of_kernels_has_all_parameters():
    """But seed= and faithful=, which all have; some rows say "as above", without `root`."""
    listed = (ROOT / "docs/kernels.md").read_text().partition("## Letters")[0]
    rows = re.findall(r"^\| (`[^|]*) \| [^|]* \|([^|]*)\|$", listed, re.MULTILINE)
    above = set()
    for names, parameters in rows:
        said = {*re.findall(r"`(\w+)`", parameters)}
        if "as above" in parameters:
            said ^= above
        else:
            above = said
        kernels = [KERNELS[name] for name in re.findall(r"`(\w+)`", names)]
        has = {f.name for kernel in kernels for f in fields(kernel) if f.init}
        assert said == has - {"seed", "faithful"}, names
    assert rows


def test_links_lead_to_files():
    """Pages are read where they are, too; those of kernels are made by the build."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            there = (page.parent / target).resolve()
            made = ROOT / "docs" / "kernels" in there.parents
            assert made or there.exists(), f"{page} leads to {target}"


def test_test_files_that_are_named_exist():
    """Code and pages say where something is tested; tests of Dask's own are not here."""
    named = r"(?<![\w/])tests/[\w/]+\.(?:py|md|toml|csv)"
    names = ["dgsuite", "partition", "kernels", "genval", "benchmarks", "docs", "configs", "tests"]
    endings = ("py", "md", "toml")
    pages = [page for f in names for end in endings for page in ROOT.glob(f"{f}/**/*.{end}")]
    for page in [*pages, *ROOT.glob("*.md")]:
        if page.name != "CHANGELOG.md":
            for path in re.findall(named, page.read_text()):
                assert (ROOT / path).is_file(), f"{page} names {path}"


RING = dgsuite.Graph.from_networkx(nx.cycle_graph(4))


STAR = dgsuite.Graph.from_networkx(nx.star_graph(4))
DIRECTED = dgsuite.Graph.from_networkx(nx.DiGraph([(0, 1)]))


WRONG = [
    ("lrc", {}, "did you mean 'lcr'"),
    ("bsf", {}, "did you mean 'bfs'"),
    ("conected_components", {}, "did you mean 'connected_components'"),
    (7, {}, "kernel must be a name"),
    ("sssp", {"root": 1, "sources": [0]}, "leave one out"),
    ("mis", {"style": "cloked"}, "did you mean 'clocked'"),
    ("mis", {"rgn": "imsuite"}, "did you mean 'rng'"),
    ("mis", {"clusters": -1}, "clusters must be"),
    ("mis", {"graph": nx.cycle_graph(4)}, "make one with Graph.from_dataframe, from_networkx"),
    ("lcr", {"graph": STAR}, "ring"),
    ("mis", {"graph": DIRECTED}, "undirected"),
    ("bf", {"root": 4}, "root 4 is not a node"),
    ("bf", {"root": 1.5}, "kernel 'bf': root must be a node, got 1.5"),
    ("bf", {"root": "x"}, "root must be a node, got 'x'"),
    ("bf", {"root": None}, "root must be"),
    ("bf", {"root": True}, "root must be"),
    ("bf", {"seed": 1.5}, "seed must be"),
    ("bf", {"seed": 1 << 70}, "seed must be"),
    ("sssp", {"delta": "x"}, "delta must be a number or None, got 'x'"),
    ("mis", {"faithful": 1}, "faithful must be True or False, got 1"),
    ("mis", {"rng": "dice"}, "rng must be one of counter, imsuite, imsuite-2.6 or None"),
    ("bfs", {"direction": "up"}, "must be one of optimising, top-down, got 'up'"),
    ("by", {"votes": 3}, "votes must be a sequence or None, got 3"),
    (BellmanFord(), {"rot": 1}, "did you mean 'root'"),
    (BellmanFord(root=1.5), {"seed": 3}, "root must be"),
]


@pytest.mark.parametrize(("kernel", "how", "message"), WRONG)
def test_values_that_arguments_cannot_have(kernel, how, message):
    graph = how.get("graph", RING)
    given = {name: value for name, value in how.items() if name != "graph"}
    with pytest.raises(dgsuite.InputError, match=re.escape(message)):
        dgsuite.run(kernel, graph, **given)
    each, common = ([], given) if {"style", "clusters"} & {*given} else ([given], {})
    with pytest.raises(dgsuite.InputError, match=re.escape(message)):
        dgsuite.run_each(kernel, graph, each or [{}], **common)


@pytest.mark.parametrize("each", [{"root": 1}, [1], "root"])
def test_each_must_be_several(each):
    with pytest.raises(dgsuite.InputError, match="each must be a list of mappings"):
        dgsuite.run_each("bf", RING, each, style="serial")


@dataclass(frozen=True)
class Odd(BellmanFord):
    """Annotations that are seldom seen."""

    mode: Literal[1, "two", None] = 1
    most: int = None  # type: ignore[assignment]


@pytest.mark.parametrize("mode", [1, "two", None])
@pytest.mark.parametrize("kernel", [Odd, Odd()])
def test_literals_and_defaults_of_any_kind(kernel, mode):
    assert make_kernel(kernel, RING, None, {"mode": mode}) == Odd(mode=mode)
    for wrong in (True, 2, "one"):
        with pytest.raises(dgsuite.InputError, match="mode must be one of 1, two, None"):
            dgsuite.run(kernel, RING, mode=wrong)


GIVEN = [
    ("bf", {}, {"seed": 101, "root": 3}),
    ("bf", {"root": np.int32(2), "seed": np.uint8(4)}, {"seed": 4, "root": 2}),
    (BellmanFord, {"seed": 9}, {"seed": 9, "root": 3}),
    (BellmanFord(seed=7), {}, {"seed": 7, "root": 0}),
    (BellmanFord(seed=7), {"seed": 9, "root": 0}, {"seed": 9, "root": 0}),
    (BellmanFord(root=1), {}, {"seed": 101, "root": 1}),
    (BellmanFord(root=2), {"seed": 2**64 - 1}, {"seed": 2**64 - 1, "root": 2}),
]


@pytest.mark.parametrize(("kernel", "options", "found"), GIVEN)
def test_where_parameters_come_from(kernel, options, found):
    """What is given to a run goes first, then an instance's own or what the graph's file says."""
    graph = dgsuite.Graph.from_networkx(nx.cycle_graph(4), attrs={"root": 3})
    ds = dgsuite.run(kernel, graph, style="serial", **options)
    assert {name: ds.attrs[name] for name in found} == found
    assert all(type(ds.attrs[name]) is int for name in found)


LOUVAIN = {"graph": "planted partition", "kernel": "louvain"}
RANKS = {"graph": "Kronecker, scale 20", "kernel": "pagerank"}
ROAD = {"graph": "road", "kernel": "eccentricity, of=diameter"}
FIGURES = {
    "breadth-first search": ("bfs_peers", "median", {"scale": 20}),
    "PageRank": ("analytics-pagerank", "rounds", RANKS),
    "connected components": ("analytics-more", "rounds", {"kernel": "wcc"}),
    "maximal independent set": ("large", "mis, ", {"nodes": 1_000_000}),
    "Louvain": ("questions-communities", "rounds", LOUVAIN),
    "diameter of a road network": ("questions-distances", "rounds", ROAD),
    "an empty round": ("overhead", "empty clocked round", {"clusters": 2}),
}
"""Where the figures of a row of the README's table come from: result, figure and conditions."""


def test_the_figures_of_the_readme_are_those_of_results():
    table = re.findall(r"^\| (.*?)[,|] (.*ms.*)\|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert [name.strip() for name, _ in table] == list(FIGURES)
    for name, shown in table:
        result, what, conditions = FIGURES[name.strip()]
        rows = json.loads((ROOT / f"benchmarks/results/{result}.json").read_text())["rows"]
        known = {
            _in_words(row)
            for row in rows
            if row["what"].startswith(what) and conditions.items() <= row["conditions"].items()
        }
        figures = re.findall(r"[\d.]+(?: to [\d.]+)? ms|[\d.]+ times [^,|]*\w", shown)
        assert figures
        assert {figure.lower() for figure in figures} <= known, (name, known)


def _in_words(row):
    """A time, or how much less or more of it than another library dgsuite takes."""
    values, peer = np.atleast_1d(row["value"]), row.get("peer", "").lower()
    if row["unit"] != "x":
        return f"{' to '.join(f'{float(f"{v:.3g}"):g}' for v in values)} {row['unit']}"
    (value,) = values[:1]
    if value < 1:
        return f"{float(f'{1 / value:.2g}'):g} times as fast as {peer}"
    return f"{float(f'{value:.2g}'):g} times slower than {peer}"


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_search_of_pages_ranks_what_to_do_first(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<script>{(ROOT / 'docs/scorer.js').read_text()}</script>")
    names = ["changelog", "decisions/0001-votes-are-exact", "kernels/bfs", "howto/faults", "start"]
    asked = [f'Scorer.score(["{name}", "", "", "", 5, ""])' for name in names]

    async def found():
        async with opened(page) as shown:
            return [await shown.ask(each) for each in asked]

    assert asyncio.run(found()) == [-5, -5, 5, 15, 15]
