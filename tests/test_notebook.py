"""The notebook of docs/ runs in a kernel, on fewer workers than it stands there with."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "scalability.ipynb"
SMALL = {
    "BANDWIDTHS = [20, 30, 40, 60, 100]": "BANDWIDTHS = [5, 100]",
    "WORKERS = [2, 3, 4, 6]": "WORKERS = [2, 3, 4, 5]",
    "SCALE = 14": "SCALE = 11",
}


@pytest.mark.timeout(300)
def test_scalability():
    notebook = nbformat.read(NOTEBOOK, 4)
    setup = next(cell for cell in notebook.cells if "SCALE = 14" in cell.source)
    for there, here in SMALL.items():
        assert there in setup.source
        setup.source = setup.source.replace(there, here)
    NotebookClient(notebook, timeout=200, kernel_name="python3").execute(cwd=str(NOTEBOOK.parent))
