"""Change the project's code in many small ways, and see whether the tests notice.

    python -m tests.mutation --count 300 --seed 1
    python -m tests.mutation --count 300 --seed 1 --survivors --seconds 900 --every-layer
    python -m tests.mutation --count 300 --seed 1 --score

The changes are made in a copy of the tree, one at a time. A row of the table says what came of each; a run
that is broken off goes on where it ended. A change is caught if a test fails or does not end, and none of
these tests fails without the change, as --confirm finds out. Changes of `tests/data/equivalent.toml` make no
difference that a test could see; the file says why.

The order is one of chance, so the first changes of a seed are a fair sample of all.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from contextlib import closing
from itertools import islice
from pathlib import Path

from dgsuite.base.wilson import wilson
from tests.mutation import choice
from tests.mutation.changes import Change, drawn
from tests.mutation.copy import Copy
from tests.support.paths import DATA, ROOT

UNCHANGED = "tests/dgsuite/engine/test_log.py"
"""Tests that pass without a change, and start no processes."""


def equivalents() -> list[dict[str, str]]:
    return tomllib.loads((DATA / "equivalent.toml").read_text())["change"]


def reason(change: Change, known: list[dict[str, str]]) -> str | None:
    """Why a change makes no difference, if it is known to make none."""
    for each in known:
        if each["path"] == change.path and each["after"] == " ".join(change.after.split()):
            line = (ROOT / change.path).read_text().splitlines()[change.line - 1]
            if each["line"] in line:
                return each["why"]
    return None


def rows_of(table: Path) -> dict[str, dict]:
    """The last row of each change."""
    rows = map(json.loads, table.read_text().splitlines()) if table.exists() else ()
    return {row["change"]: row for row in rows}


def score(changes: list[Change], rows: dict[str, dict]) -> int:
    """Say how many were caught, and list the others; returns how many survived."""
    known, count = equivalents(), Counter()
    for i, change in enumerate(changes):
        row, why = rows.get(str(change)), reason(change, known)
        what = "equivalent" if why else "untried" if row is None else row["outcome"]
        count[what] += 1
        if why:
            print(f"{i} equivalent: {change} ({why})")
        elif what == "survived":
            print(f"{i} survived {row['ran']} of {row['of']} tests: {change}")
    tried = count["caught"] + count["survived"]
    _, low, high = wilson(count["caught"], tried) if tried else (0.0, 0.0, 1.0)
    print(
        f"{count['caught']} of {tried} caught (95 % interval of the share: {low:.0%} to {high:.0%}), "
        f"{count['equivalent']} equivalent, {count['untried']} untried"
    )
    return count["survived"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--count", type=int, default=300)
    option("--seed", type=int, default=1)
    option("--within", nargs="+", default=[""], metavar="FOLDER", help="change these alone")
    option("--seconds", type=float, default=60, help="of processor time, for the tests of a change")
    option("--folder", type=Path, default=ROOT / "build" / "mutation")
    option("--survivors", action="store_true", help="try those again that survived")
    option(
        "--every-layer", action="store_true", help="with the tests that `make test` leaves out, too"
    )
    option("--only", type=int, nargs="+", metavar="NUMBER", help="try these, also again")
    option("--tests", nargs="+", metavar="FILE", help="instead of those that could notice")
    option("--confirm", action="store_true", help="run the tests that failed without a change")
    option("--score", action="store_true", help="say what came of the changes so far")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    given.folder = given.folder.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    table = given.folder / f"changes-{given.seed}.jsonl"
    changes, rows = list(islice(drawn(ROOT, given.seed, given.within), given.count)), rows_of(table)
    if given.score:
        return score(changes, rows) > 0
    with closing(Copy(given.folder, given.every_layer)) as tree:
        row = tree.run(None, [UNCHANGED], 600)
        if row["failed"] or not row["ran"]:
            sys.exit(f"tests fail without a change, too; see {tree.output}")
        if given.confirm:
            return confirm(tree, rows)
        for i, change in enumerate(changes):
            if not due(i, change, rows.get(str(change)), given):
                continue
            files = given.tests or choice.files(ROOT, change.path)
            row = tree.run(change, files, given.seconds)
            outcome = "caught" if row["failed"] else "survived"
            row = {"number": i, "change": str(change), "outcome": outcome, **row}
            with table.open("a") as file:
                file.write(json.dumps(row) + "\n")
            tests = f"{row['ran']} of {row['of']} tests"
            print(f"{i} {outcome} in {row['seconds']} s, {tests}: {change}", flush=True)
    return score(changes, rows_of(table)) > 0


def due(i: int, change: Change, row: dict | None, given: argparse.Namespace) -> bool:
    """Whether a change is to be tried."""
    if given.only is not None:
        return i in given.only
    if reason(change, equivalents()):
        return False
    return row is None or (given.survivors and row["outcome"] == "survived")


def confirm(tree: Copy, rows: dict[str, dict]) -> int:
    """Run the tests that failed, without a change, and name those that fail."""
    names = {row["failed"][0] for row in rows.values() if row["outcome"] == "caught"}
    tests = sorted(name for name in names if "::" in name)
    row = tree.run(None, sorted({name.partition("::")[0] for name in tests}), 3600, only=tests)
    print(f"{row['ran']} tests; without a change these fail:", *row["failed"], sep="\n")
    return len(row["failed"]) > 0


if __name__ == "__main__":
    sys.exit(main())
