"""Has pytest run the tests that a change concerns until one fails, or the time is over."""

import json
import os
import re
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings

GIVEN = json.loads(os.environ["DGSUITE_MUTATION"])
"""`kernels` that the change concerns, of `all_kernels`; `seconds` of processor time, `until` at most;
whether tests with workers come last; `only` some tests; a file for the `outcome`."""

CLIENTS = {"client", "client_of_one", "many", "mortal", "own_client", "shape", "three", "threaded"}
"""Fixtures that start processes."""

outcome = {"failed": [], "ran": 0, "of": 0, "whole": True}

settings.register_profile(
    "mutation",
    deadline=None,
    max_examples=10,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # what fails need not be made small
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def named(item) -> set[str]:
    """Kernels in the parameters of a test."""
    words = re.split(r"[\[\]\-, ]", item.name)[1:]
    return set(words) & set(GIVEN["all_kernels"])


def pytest_collection_modifyitems(session, config, items):
    if GIVEN["only"]:
        items[:] = [item for item in items if item.nodeid in GIVEN["only"]]
        return
    mine = set(GIVEN["kernels"])
    items[:] = [item for item in items if not named(item) or named(item) & mine]
    seen = Counter()
    order = {}
    for item in items:  # a case of each test, then another one of each
        starts = bool(CLIENTS & set(item.fixturenames)) and GIVEN["workers_last"]
        order[item] = starts, seen[item.originalname, item.path]
        seen[item.originalname, item.path] += 1
    items.sort(key=order.get)
    outcome["of"] = len(items)


def pytest_collectreport(report):
    if report.failed:
        outcome["failed"].append(report.nodeid)


def pytest_runtest_logreport(report):
    if report.failed:
        outcome["failed"].append(report.nodeid)
    outcome["ran"] += report.when == "call"


def pytest_runtest_logfinish(nodeid, location):
    outcome["last"] = nodeid


def pytest_runtest_protocol(item, nextitem):
    if time.process_time() > GIVEN["seconds"] or time.time() > GIVEN["until"]:
        item.session.shouldstop = "the time is over"
        outcome["whole"] = False
    Path(GIVEN["outcome"]).write_text(json.dumps({**outcome, "running": item.nodeid}))


def pytest_sessionfinish(session):
    Path(GIVEN["outcome"]).write_text(json.dumps({**outcome, "running": None}))
