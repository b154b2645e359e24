"""The notebooks of docs/ run in a kernel; that of scalability on fewer workers than it stands there with."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

DOCS = ROOT / "docs"
SMALL = {
    "BANDWIDTHS = [20, 30, 40, 60, 100]": "BANDWIDTHS = [5, 100]",
    "WORKERS = [2, 3, 4, 6]": "WORKERS = [2, 3, 4, 5]",
    "SCALE = 14": "SCALE = 11",
}


def run(notebook):
    """Execute a notebook, which must not warn; what its cells put out, as text."""
    NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3").execute(cwd=str(DOCS))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    said = [out.text for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    assert not [text for text in said if "Warning" in text]
    return [
        "".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)
        for cell in code
    ]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_scalability():
    notebook = nbformat.read(DOCS / "scalability.ipynb", 4)
    setup = next(cell for cell in notebook.cells if "SCALE = 14" in cell.source)
    for there, here in SMALL.items():
        assert there in setup.source
        setup.source = setup.source.replace(there, here)
    run(notebook)


NOTEBOOKS = [
    ("parquet", "account-"),
    ("one_word", "'dominating_set' is not implemented by 'dgsuite' backend"),
    ("studying", "to other clusters"),
]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "said"), NOTEBOOKS)
def test_notebooks(name, said):
    """They end without an error, and are kept without outputs, which would name a machine."""
    notebook = nbformat.read(DOCS / f"{name}.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert any(said in text for text in run(notebook))
