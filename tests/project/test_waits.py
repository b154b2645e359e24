"""The client waits in one way: see `dgsuite.partition.client.waiting.Watch.until`."""

import ast

import pytest

from tests.support.paths import ROOT

BLOCKS = {
    "gather", "get_dataset", "has_what", "nthreads", "restart", "retry", "run", "run_on_scheduler",
    "scatter", "scheduler_info", "sync", "wait_for_workers", "who_has",
}  # fmt: skip
"""Methods of a client that wait for its cluster."""

IMPORTS = {"as_completed", "fire_and_forget", "progress", "sync", "wait"}
"""Functions of distributed that wait."""

BOUNDED = {"timeout", "asynchronous"}
"""Arguments with which a call does not block for ever."""

ALLOWED = {
    "dgsuite/core/engine/workload.py": {"other.result"},  # of a thread
    "dgsuite/core/workers/plugin.py": {"address.result"},  # it is done
    "dgsuite/studies/report/claims/scc_definitions.py": {"one.result"},  # of a thread
    "partition/client/session.py": {"begun.result"},  # it is done
    "partition/client/waiting.py": {"begun.result", "future.result", "wait"},  # they are done
    "partition/graph/graph.py": {"part.result"},  # it has failed
}


def waits(text):
    """What a module calls that may block for ever, apart from what it hands to `Watch.call`."""
    tree = ast.parse(text)
    handed = {
        each
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and (ast.unparse(call.func).endswith(".call") or BOUNDED & {k.arg for k in call.keywords})
        for each in ast.walk(call)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "distributed":
            found |= {alias.name for alias in node.names} & IMPORTS
        if node in handed:
            continue
        match node:
            case ast.Attribute(attr=name, value=of) if name in BLOCKS:
                if ast.unparse(of).rpartition(".")[2] == "client":
                    found.add(ast.unparse(node))
            case ast.Call(func=ast.Attribute(attr="result"), args=[], keywords=[]):
                found.add(ast.unparse(node.func))
    return found


MODULES = sorted(
    str(path.relative_to(ROOT))
    for package in ("dgsuite", "partition")
    for path in (ROOT / package).rglob("*.py")
)


def test_no_module_waits_in_another_way():
    found = {name: waits((ROOT / name).read_text(encoding="utf-8")) for name in MODULES}
    assert {name: calls for name, calls in found.items() if calls} == ALLOWED


OTHERS = [
    "client.gather(futures)",
    "watch.client.who_has(parts)",
    "partial(self.client.scatter, value)",
    "client.run(len)",
    "future.result()",
    "from distributed import Client, wait",
    "from distributed.utils import sync",
]


@pytest.mark.parametrize("text", OTHERS)
def test_other_ways_are_found(text):
    assert waits(text)
    assert not waits("watch.call(partial(client.run, len)); future.result(timeout=1)")
