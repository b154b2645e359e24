"""What other platforms lack is taken away, and everything runs."""

import os
import re

import pytest

import dgsuite
from dgsuite import InputError, genval
from dgsuite.base import capabilities
from dgsuite.base.capabilities import CAPABILITIES
from dgsuite.core.transports import fastest
from dgsuite.core.workers.plugin import install
from dgsuite.studies.experiment.clusters import check_protocol
from tests.support.clusters import client_of
from tests.support.everywhere import PLATFORMS, environment, found, talk
from tests.support.paths import ROOT
from tests.support.processes import python

PAGE = ROOT / "docs" / "howto" / "platforms.md"


def leave_out(names, dask_worker=None):
    """Here or on a worker: use some capabilities no more; what was kept for the next run is closed."""
    capabilities.WITHOUT = frozenset(names)
    if dask_worker is not None:
        dask_worker.plugins["dgsuite"].meshes.close()


@pytest.fixture
def without(client, monkeypatch):
    """Takes capabilities from this process and from two workers."""

    def take(names):
        monkeypatch.setattr(capabilities, "WITHOUT", frozenset(names))
        client.run(leave_out, names)

    dgsuite.run("bfs", genval.graph("ring", 12), style="clocked", client=client)  # has the plugin
    yield take
    client.run(leave_out, ())


@pytest.fixture(scope="module")
def graph():
    return genval.graph("er", 600, m=4000, clusters=4, seed=1, client=None)


@pytest.mark.parametrize("names", [*([name] for name in CAPABILITIES), CAPABILITIES])
def test_styles_run_without(names, without, client, graph):
    """On workers that talk over TCP, with the results that they have with everything."""
    expected = dgsuite.run("pagerank", graph, style="serial", iterations=4)
    without([*names])
    for style in ("clocked", "finish_async"):
        ds = dgsuite.run("pagerank", graph, style=style, client=client, iterations=4)
        assert (ds["rank"].values == expected["rank"].values).all()
        assert (ds.messages.values == expected.messages.values).all()
        if style == "clocked":
            scheme, *shared = client.run(talk).popitem()[1].split(", ")
    missing = {name for name in CAPABILITIES if not capabilities.has(name)}
    assert missing >= {*names}
    assert scheme == ("tcp" if missing & {"memory files", "passed files"} else "mpb") == fastest()
    assert ("broadcasts" in shared) == (scheme == "mpb")
    assert ("barrier" in shared) == ("futex" not in missing and scheme == "mpb")


def test_styles_are_imported_where_nothing_is_to_be_had():
    code = "import dgsuite, dgsuite.core.executors.clocked, dgsuite.core.transports.mpb"
    assert python("-c", code, **environment("none-of-all")).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("platform", [*PLATFORMS][::-1])
def test_the_page_has_what_runs_on(platform):
    """Of each platform but this one with our code's sight of the system cut to what is there."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    head = [i for i, row in enumerate(rows) if PLATFORMS[platform] in row][-1]
    column = rows[head].index(PLATFORMS[platform])
    runs = found(platform)
    for how, result in runs.items():
        cell = next(row[column] for row in rows[head:] if row[0] == how)
        if result.startswith("protocol"):
            assert cell == "refused"
            assert result.endswith("; use tcp://")
        else:
            assert cell == ("same results" if result == runs["serial"] else result)


@pytest.mark.parametrize("scheme", ["uds", "mpb", "mpimpb", "throttle+mpb"])
def test_what_cannot_be_had_says_what_is_missing(scheme, monkeypatch):
    monkeypatch.setattr(capabilities, "WITHOUT", frozenset({"passed files"}))
    with pytest.raises(InputError, match=rf"{re.escape(scheme)}:// needs Unix .*; use tcp://"):
        check_protocol(scheme)


def test_capabilities_are_left_out_by_the_environment():
    code = "from dgsuite.base import capabilities; print(capabilities.has('file locks'))"
    assert python("-c", code, DGSUITE_WITHOUT="futex, file locks").stdout == "False\n"
    said = python("-c", code, DGSUITE_WITHOUT="fast").stderr
    assert said.strip().endswith(f"one of: {', '.join(sorted(CAPABILITIES))}")


OFTEN = {
    "os": "memfd_create sched_getaffinity sched_setaffinity geteuid getuid killpg register_at_fork fork "
    "O_NOFOLLOW O_NONBLOCK O_CLOEXEC fchmod name uname",
    "signal": "SIGKILL pthread_sigmask pthread_kill alarm setitimer",
    "socket": "AF_UNIX SO_PEERCRED send_fds recv_fds",
    "sys": "platform",
    "ctypes": "CDLL",
}
"""Names that not every platform has, or that tell one from another."""

BEHIND = {
    "dgsuite/base/command.py": "what has signals of one thread",
    "dgsuite/base/threads.py": "what has processors of its own",
    "dgsuite/core/transports/local.py": "a scheme that needs passed files",
    "dgsuite/core/transports/memory.py": "memory of either kind",
    "dgsuite/core/transports/mpb.py": "a scheme that needs passed files",
    "dgsuite/core/workers/processor.py": "what has processors of its own",
    "dgsuite/studies/experiment/clusters.py": "what has processors, or masks",
    "dgsuite/studies/experiment/namespaces.py": "network namespaces, which are Linux's",
    "dgsuite/base/compiling.py": "what has locks",
    "partition/client/session.py": "what has fork",
    "dgsuite/base/netcdf_trial.py": "a program that imports nothing of the project",
}
"""Files that use such names behind a question to `capabilities`, and of what."""


def test_code_asks_for_what_not_every_platform_has():
    """Nothing else names it, and imports of modules that Windows lacks are behind a question, too."""
    names = (rf"{module}\.(?:{rest.replace(' ', '|')})" for module, rest in OFTEN.items())
    seen = re.compile(rf"(?<![\w.])(?:{'|'.join(names)}|import (?:fcntl|resource))\b")
    used = {
        path.relative_to(ROOT).as_posix()
        for package in ("dgsuite", "partition", "kernels", "genval")
        for path in (ROOT / package).rglob("*.py")
        if seen.search(path.read_text(encoding="utf-8"))
    }
    assert used == {*BEHIND, "dgsuite/base/capabilities.py"}


def refused(*given, **more):
    raise PermissionError(13, "Permission denied")


REFUSED = {
    "memory files": "os.memfd_create",
    "passed files": "socket.send_fds",
    "affinity": "os.sched_setaffinity",
    "file locks": "fcntl.flock",
    "signal masks": "signal.pthread_sigmask",
    "signals": "os.killpg",
}
"""Of each capability, something that it uses, and a system may forbid."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_system_has_and_forbids_is_not_there(name, monkeypatch):
    """As where a kernel is hardened, or in a sandbox."""
    probe = CAPABILITIES[name].probe
    assert probe() == capabilities.has(name)
    monkeypatch.setattr(REFUSED[name], refused)
    assert not probe()
    monkeypatch.setattr(capabilities, "c_function", lambda name: lambda *given: -1)
    assert not CAPABILITIES["futex"].probe()


def forbid():
    """On a worker: the system refuses memory files from now on, and what was asked is asked again."""
    os.memfd_create = refused
    capabilities._found.cache_clear()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="there are none to forbid")
def test_clocked_runs_go_by_tcp_where_memory_files_are_forbidden(graph, monkeypatch):
    expected = dgsuite.run("pagerank", graph, style="serial", iterations=4)
    monkeypatch.setattr(os, "memfd_create", refused)
    capabilities._found.cache_clear()
    try:
        with client_of(2, set_as_default=False) as client:
            install(client)
            client.run(forbid)
            ds = dgsuite.run("pagerank", graph, style="clocked", client=client, iterations=4)
            assert {said.split(", ")[0] for said in client.run(talk).values()} == {"tcp"}
        with pytest.raises(InputError, match=r"mpb:// needs unnamed memory .* or forbids"):
            check_protocol("mpb")
    finally:
        capabilities._found.cache_clear()
    assert (ds["rank"].values == expected["rank"].values).all()
    assert (ds.messages.values == expected.messages.values).all()
