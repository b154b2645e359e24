"""How the pages are made: `make docs`."""

import os
import re
import sys
import zlib
from importlib.metadata import version as installed
from os.path import relpath
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # for the extension beside this file

project = "dgsuite"
version = release = installed("dgsuite")
project_copyright = "the authors of dgsuite"

extensions = [
    "kernel_pages",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navbar_center": []
}  # there is one list of all pages, at the left
templates_path = html_static_path = ["theme"]
html_css_files = ["pages.css"]
html_sidebars = {"**": ["pages.html"]}
html_search_scorer = str(HERE / "scorer.js")
html_title = f"dgsuite {version}"
html_baseurl = os.environ.get(
    "READTHEDOCS_CANONICAL_URL", ""
)  # the host that builds the pages names it

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # tests/project/test_notebook.py runs it

autodoc_member_order = "bysource"
autodoc_typehints = (
    "none"  # signatures have them, and docstrings say what they mean
)
# Examples run in an empty folder, so they may write files.
doctest_global_setup = """
import os, tempfile
_folder, _before = tempfile.TemporaryDirectory(), os.getcwd()
os.chdir(_folder.name)
"""
doctest_global_cleanup = """
os.chdir(_before)
_folder.cleanup()
"""
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = True  # so that types lead to their pages
napoleon_attr_annotations = (
    False  # signatures have them, and some types make no valid text
)

ELSEWHERE = {
    "dask": (
        "https://docs.dask.org/en/stable/",
        {
            f"dask.{name}": "generated/$.html#$"
            for name in ("array.Array", "bag.Bag", "dataframe.DataFrame")
        },
    ),
    "distributed": (
        "https://distributed.dask.org/en/stable/",
        {"distributed.Client": "api.html#$"},
    ),
    "networkx": (
        "https://networkx.org/documentation/stable/",
        {"networkx.Graph": "reference/classes/graph.html#$"},
    ),
    "xarray": (
        "https://docs.xarray.dev/en/stable/",
        {"xarray.Dataset": "generated/$.html#$"},
    ),
}
"""Classes of other projects, and where their pages are: pages are made without the internet."""


def inventory(name, classes):
    """Write what Sphinx reads of another project; return its path."""
    lines = "".join(
        f"{known} py:class 1 {where.replace('$', known)} -\n"
        for known, where in classes.items()
    )
    head = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    file = ROOT / "build" / "inventories" / f"{name}.inv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(head.encode() + zlib.compress(lines.encode()))
    return str(file)


intersphinx_mapping = {
    name: (url, inventory(name, classes))
    for name, (url, classes) in ELSEWHERE.items()
}

PAGES = {
    "index": "README.md",
    "benchmarks": "benchmarks/README.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
    "changelog": "CHANGELOG.md",
}
"""Pages that are files from elsewhere. The index keeps its own text below, the others their toctree."""


def setup(app):
    app.connect("source-read", read)


def read(app, page, source):
    """Begin a page with its file, and have links between files lead to their pages."""
    parts = [(HERE / f"{page}.md", source[0])]
    if page in PAGES:
        file = ROOT / PAGES[page]
        app.env.note_dependency(str(file), docname=page)
        own, below = parts[0]
        below = (
            below if page == "index" else below[below.find("```{toctree}") :]
        )
        parts = [
            (file, file.read_text()),
            (own, below if "toctree" in below else ""),
        ]
    source[0] = "\n".join(led(text, file, page) for file, text in parts)


def led(text, file, page):
    """The text of a file, its links those of a page."""
    pages = {ROOT / name: page for page, name in PAGES.items()}

    def found(target):
        there = (file.parent / target).resolve()
        there = HERE / f"{pages[there]}.md" if there in pages else there
        return (
            relpath(there, (HERE / page).parent)
            if HERE in there.parents
            else None
        )

    def lead(link):
        image, words, target = link.groups()
        path = found(target)
        return words if path is None else f"{image}[{words}]({path})"

    text = re.sub(r"(!?)\[([^]]*)\]\((?!https?:|#)([^)]*)\)", lead, text)
    return re.sub(
        r'(<img src=)"([^"]*)"', lambda at: f'{at[1]}"{found(at[2])}"', text
    )
