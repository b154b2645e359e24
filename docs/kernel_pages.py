"""A page for each kernel, and a gallery of their pictures, made from the code.

`make` writes the pages into docs/kernels/ before Sphinx reads them. What they say is in
docstrings; pictures are drawn while pages are read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from docutils import nodes
from matplotlib.figure import Figure
from sphinx.util.docutils import SphinxDirective

import dgsuite
from answer_pictures import answer
from dgsuite.core.results import plots
from dgsuite.core.running.catalogue import (
    costs,
    networks_of,
    parameters,
    sections,
    summary,
)
from dgsuite.kernels import KERNELS, forms_of
from dgsuite.partition.clusters.grid import arrange

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.kernels import Kernel

HERE = Path(__file__).parent
MADE = HERE / "kernels"

PAGE = """\
# {name}

{summary}

| kernel | `{name}` |
|---|---|
| takes | {takes} |
| [networks](../howto/faults.md) | {networks} |
| runs as | {forms} |
{costs}

[Letters](../kernels.md#letters) says what `n`, `m`, `arcs` and the others are.

```{{outputs}} {name}
```

## How it works

```{{eval-rst}}
.. automodule:: {module}
   :no-index:
```

## Round by round

A run on a graph of 16 nodes. Nodes that send are red, and so is what they send.

```{{picture}} {name}
```

## Reference

```{{eval-rst}}
.. autoclass:: dgsuite.kernels.{cls}
```
"""

GALLERY = """\
# Gallery

What each kernel finds of a graph of 16 nodes, by question. Each node has what
was found of it. Nodes that have the same node as their answer, such as those of
a component, have the same colour; other numbers are a scale from light to dark,
and truth values a colour alone. Each heading leads to the page of its kernel,
which shows what is sent, round by round.

"""

ROW = re.compile(r"^\| (`[^|]*) \| ([^|]*) \|", re.MULTILINE)
"""A row of docs/kernels.md: names of kernels, and what they find."""


def gallery() -> Iterator[str]:
    """The sections of docs/kernels.md, with a picture of what each kernel finds."""
    listed = (HERE / "kernels.md").read_text().partition("## Letters")[0]
    for section in listed.split("\n## ")[1:]:
        yield f"## {section.partition('\n')[0]}\n\n"
        for names, what in ROW.findall(section):
            for name in re.findall(r"`(\w+)`", names):
                yield f"### [{name}]({name}.md)\n\n{what[0].upper()}{what[1:]}.\n\n"
                yield f"```{{answer}} {name}\n```\n\n"


def make(app: Any) -> None:
    """Write the pages that have changed."""
    MADE.mkdir(exist_ok=True)
    pages = {f"{name}.md": page(name) for name in KERNELS}
    pages["gallery.md"] = GALLERY + "".join(gallery())
    for file in {file.name for file in MADE.iterdir()} - pages.keys():
        (MADE / file).unlink()
    for file, text in pages.items():
        path = MADE / file
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def page(name: str) -> str:
    """The page of a kernel."""
    kernel = KERNELS[name]
    return PAGE.format(
        name=name,
        summary=summary(kernel),
        takes=takes(kernel),
        networks=networks_of(kernel),
        forms=forms(kernel),
        costs="\n".join(
            f"| {what.lower()} | {said} |"
            for what, said in costs(kernel).items()
        ),
        module=kernel.__module__,
        cls=kernel.__name__,
    )


def takes(kernel: type[Kernel]) -> str:
    """What graphs a kernel takes."""
    directed = not kernel.undirected or kernel.both_ways
    needs = "".join(f", {need}" for need in kernel.needs)
    return (
        "directed and undirected graphs" if directed else "undirected graphs"
    ) + needs


def forms(kernel: type[Kernel]) -> str:
    """In what forms a kernel runs."""
    found = ["iterative"]
    found += [
        f'{form} (`form="{form}"`)'
        for form in forms_of(kernel.name)
        if form != kernel.form
    ]
    found += ["IMSuite's (`faithful=True`)"] * (
        kernel.both_forms() is not None
    )
    return ", ".join(found)


def example(kernel: type[Kernel]) -> dgsuite.Graph:
    """A graph of 16 nodes that the kernel takes, each a cluster of its own."""
    network = nx.connected_watts_strogatz_graph(16, 4, 0.3, seed=2)
    if "ring" in kernel.needs:
        network = nx.cycle_graph(16)
    elif "complete" in kernel.needs:
        network = nx.complete_graph(16)
    elif "tree" in kernel.needs:
        network = nx.full_rary_tree(2, 16)
    elif kernel.name == "scc":
        network = nx.gnp_random_graph(16, 0.12, seed=4, directed=True)
    graph = dgsuite.Graph.from_networkx(network, clusters=16)
    return arrange(graph) if kernel.name == "bfs2d" else graph


@cache
def run(name: str) -> tuple[dgsuite.Graph, xr.Dataset]:
    """The run that a kernel's page shows."""
    graph = example(KERNELS[name])
    return graph, dgsuite.run(name, graph, style="serial")


@cache
def drawn(name: str) -> str:
    """The picture of that run."""
    _, ds = run(name)
    alt = f"{name}: {ds.sizes['round']} rounds on 16 nodes, and what is sent in them"
    figure = Figure(figsize=(8, 2.5))
    ds.dgsuite.plot.communication(figure.subplots())
    return plots.svg(figure, alt)


class Picture(SphinxDirective):
    """The picture of a kernel's run."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.env.app.builder.format != "html":
            return []
        markup = (
            f'<div class="kernel-picture">{drawn(self.arguments[0])}</div>'
        )
        return [nodes.raw("", markup, format="html")]


class Answer(SphinxDirective):
    """The graph of a kernel's run with its first output by node, if it has one."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        graph, ds = run(name)
        outputs = KERNELS[name].outputs
        by_node = [each for each in outputs if ds[each].dims == ("node",)]
        if self.env.app.builder.format != "html" or not by_node:
            return []
        first = by_node[0]
        groups = outputs[first].nodes or outputs[first].identifiers
        drawn = answer(graph.to_networkx(), ds[first].values, groups)
        alt = f"{name}: {ds[first].attrs['long_name']}"
        caption = f"<figcaption>{escape(alt)}</figcaption>"
        markup = f'<figure class="kernel-answer">{plots.svg(drawn, alt)}{caption}</figure>'
        return [nodes.raw("", markup, format="html")]


class Outputs(SphinxDirective):
    """A table of a kernel's outputs."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.env.app.builder.format != "html":
            return []
        _, ds = run(self.arguments[0])
        rows = [
            f"| `{name}` | {', '.join(ds[name].dims)} | {ds[name].dtype} | {ds[name].attrs['long_name']} |"
            for name in KERNELS[self.arguments[0]].outputs
        ]
        head = [
            "| output | dimensions | dtype | what it is |",
            "|---|---|---|---|",
        ]
        return self.parse_text_to_nodes("\n".join(head + rows))


def explained(
    app: Any, what: str, name: str, kernel: Any, options: Any, lines: list[str]
) -> None:
    """Have the reference of a kernel describe parameters that its bases have, with types."""
    if kernel in KERNELS.values():
        said = sections(kernel)
        text = (
            f"{said['']}\n\nParameters\n----------\n{parameters(kernel)}\n\n"
        )
        lines[:] = (
            f"{text}Examples\n--------\n{said['Examples']}\n".splitlines()
        )


def signed(
    app: Any, what: str, name: str, kernel: Any, *_: Any
) -> tuple[str, str] | None:
    """Have the reference of a kernel show its parameters and their defaults."""
    if kernel not in KERNELS.values():
        return None
    signature = str(inspect.signature(dgsuite.list_kernels()[kernel.name]))
    return signature.replace("graph, *, ", "").replace(", **options", ""), ""


def linked(app: Any, page: str, source: list[str]) -> None:
    """Have the list of kernels lead to their pages."""
    if page == "kernels":
        names = rf"`({'|'.join(sorted(KERNELS))})`(?=[^|]*\|[^|]*\|)"
        source[0] = re.sub(names, r"[`\1`](kernels/\1.md)", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("picture", Picture)
    app.add_directive("outputs", Outputs)
    app.add_directive("answer", Answer)
    app.connect("builder-inited", make)
    app.connect("source-read", linked)
    app.connect("autodoc-process-signature", signed)
    app.connect(
        "autodoc-process-docstring", explained, priority=100
    )  # before napoleon
    return {"parallel_read_safe": False}
