"""Install the wheel in an empty environment, and try it away from the checkout.

Commands: python -m tests.wheel [--python PYTHON] [--wheel FILE] [--all]

``--all`` installs extras as well, and runs the quickstart experiment and the examples of pages.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.paths import ROOT

HERE = Path(__file__).parent

PAGES = ("README.md", "docs/howto/save.md", "docs/networkx.md")
"""Pages whose examples run with `--all`."""

UV = [sys.executable, "-m", "uv", "--quiet"]


def call(command, folder, what=""):
    """What a command prints; the text of one that fails is shown."""
    outer = ("PYTHONPATH", "VIRTUAL_ENV")
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{what or ' '.join(map(str, command))}: failed\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(folder):
    """A wheel of what is committed."""
    source = Path(folder) / "source"
    source.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x"], input=archive, cwd=source, check=True)
    call([*UV, "build", "--out-dir", Path(folder) / "dist", source], folder)
    (wheel,) = (Path(folder) / "dist").glob("*.whl")
    return wheel


def environment(folder, python, *requirements):
    """The Python of a new environment in which these are installed, and nothing else."""
    call([*UV, "venv", "--python", python, folder], ROOT)
    own = Path(folder) / "bin" / "python"
    call([*UV, "pip", "install", "--python", own, *requirements], ROOT)
    return own


def run(python, program, folder):
    """What a program of this folder prints, started away from the checkout."""
    shutil.copy(HERE / program, folder)
    return call([python, program], folder).strip()


def run_page(python, page, folder):
    """Run the examples of a page; they print what it says."""
    said = (ROOT / page).read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", said, re.DOTALL | re.MULTILINE)
    (folder / "page.py").write_text("\n".join(blocks), "utf-8")
    printed = call([python, "page.py"], folder, page).splitlines()
    if wrong := [line for line in printed if line not in said]:
        sys.exit(f"{page}: prints what it does not say: {wrong}")


def try_core(wheel, python, folder):
    """The wheel and its dependencies alone."""
    (folder / "core").mkdir(parents=True)
    own = environment(folder / "core-env", python, wheel)
    print(run(own, "core.py", folder / "core"), flush=True)
    run_page(own, "README.md", folder / "core")


def try_all(wheel, python, folder):
    """With extras."""
    (folder / "all").mkdir(parents=True)
    own = environment(folder / "all-env", python, f"dgsuite[complete] @ {wheel.as_uri()}")
    call([own.with_name("dgsuite"), "run", "quickstart"], folder / "all")
    if not (folder / "all/results/quickstart.png").is_file():
        sys.exit("dgsuite run quickstart drew no picture")
    for page in PAGES:
        run_page(own, page, folder / "all")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="of the environments")
    parser.add_argument("--wheel", type=Path, help="in place of one of what is committed")
    parser.add_argument("--all", action="store_true", help="also with extras")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dgsuite-wheel-") as scratch:
        folder = Path(scratch)
        wheel = build(folder) if given.wheel is None else given.wheel.resolve()
        print(f"{wheel.name}, {call([given.python, '-V'], folder).strip()}", flush=True)
        try_core(wheel, given.python, folder)
        if given.all:
            try_all(wheel, given.python, folder)
        print("ok")


if __name__ == "__main__":
    main()
