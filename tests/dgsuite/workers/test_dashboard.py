"""What Dask's own views show of dgsuite: names of tasks and spans, and a page of the dashboard."""

import sys
from threading import Thread
from types import SimpleNamespace
from urllib.request import urlopen

import dask.array as da
import numpy as np
import pytest
from distributed import SchedulerPlugin
from distributed.utils import key_split

import dgsuite
from dgsuite import Graph, genval
from dgsuite.partition.client.dashboard import add_page
from tests.support.clusters import client_of
from tests.support.faulty import Sleeps
from tests.support.patience import PATIENCE, until


@pytest.fixture(scope="module")
def client():
    with client_of(2) as client:
        client.register_plugin(Recorder())
        yield client


class Recorder(SchedulerPlugin):
    """Remembers the prefix and the span of each task, as the dashboard shows them."""

    name = "recorder"

    def __init__(self):
        self.seen = set()
        self.known = set()

    def update_graph(self, scheduler, *, tasks=(), **kwargs):
        for key in {*tasks} - self.known:
            self.known.add(key)
            task = scheduler.tasks.get(key)
            if task is not None and task.run_spec is not None:  # else it was scattered
                span = task.group.span_id
                self.seen.add((key_split(key), scheduler.extensions["spans"].spans[span].name))


def seen(client):
    """Prefixes of tasks since the last call, by span."""

    def taken(dask_scheduler):
        recorder = dask_scheduler.plugins["recorder"]
        found, recorder.seen = recorder.seen, set()
        return found

    found: dict = {}
    for prefix, span in client.run_on_scheduler(taken):
        found.setdefault(span, set()).add(prefix)
    return found


def ring(client):
    """A graph that is made and kept on the workers."""
    nodes = da.arange(900, chunks=450)
    return Graph.from_edges(nodes, (nodes + 1) % 900, n=900, clusters=2, client=client)


def test_construction_has_names(client):
    """Tasks are those of a graph, in the span of dgsuite, apart from the user's own."""
    src, dst = np.random.default_rng(1).integers(0, 900, (2, 150_000))
    seen(client)
    Graph.from_edges(src, dst, n=900, clusters=4, client=client)
    names = "split received assemble cluster fact_of getattr getitem"
    assert seen(client) == {("dgsuite",): {f"graph_{name}" for name in names.split()}}
    lazy = [da.from_array(ends, chunks=75_000) for ends in (src, dst)]
    graph = Graph.from_edges(*lazy, n=900, directed=True, clusters=4, client=client)
    (prefixes,) = seen(client).values()
    assert {p for p in prefixes if not p.startswith("graph_")} == {"array"}
    for make in (Graph.reversed, Graph.to_undirected, Graph.component):
        make(graph)
        found = seen(client)
        assert {*found} == {("dgsuite",)}
        assert all(p.startswith("graph_") for prefixes in found.values() for p in prefixes)


def test_runs_have_names(client):
    """A kernel begins the names of its tasks."""
    graph = ring(client)
    seen(client)
    ds = dgsuite.run("mis", graph, style="clocked", client=client)
    assert "mis-clocked" in seen(client)["dgsuite",]
    dgsuite.run("bf", graph, form="recursive", style="finish_async", client=client)
    assert seen(client) == {("dgsuite",): {"bf-recursive-async"}}
    assert not genval.validate("mis", graph, ds).violations
    assert seen(client) == {("dgsuite",): {"validate_apply"}}


def test_a_span_of_the_user_holds_all(client):
    from distributed import span

    with span("mine"):
        graph = ring(client)
        dgsuite.run("mis", graph, style="clocked", client=client)
    assert {*seen(client)} == {("mine",)}


def get(client, path):
    """What the scheduler's dashboard answers."""
    with urlopen(client.dashboard_link.replace("/status", path), timeout=PATIENCE) as answer:
        assert answer.headers.get_content_type() == "text/html"
        return answer.read().decode()


def wait_for(client, text):
    """The page, once it shows a text: workers and clients tell the scheduler without waiting."""
    seen = []
    until(lambda: seen.append(get(client, "/dgsuite")) or text in seen[-1])
    return seen[-1]


def test_a_page_shows_runs(client):
    """While they have their turn."""
    dgsuite.run("lcr", ring(client), style="clocked", client=client)
    assert "clocked" not in get(client, "/dgsuite")
    kernel, how = Sleeps(rounds=150), {"style": "clocked", "client": client}
    thread = Thread(target=dgsuite.run, args=(kernel, ring(client)), kwargs=how)
    thread.start()
    found = wait_for(client, "toy-clocked")
    assert client.id in found
    assert ">runs<" in found
    thread.join()
    assert "toy-clocked" not in get(client, "/dgsuite")


def test_pages_of_dask_list_the_page(monkeypatch):
    """Once, where bokeh makes them; Dask keeps the list for each scheduler."""
    listed = {"pages": ["status", "workers"]}
    module = SimpleNamespace(template_variables={"a scheduler": listed}.get)
    monkeypatch.setitem(sys.modules, "distributed.dashboard.scheduler", module)

    class Scheduler(str):
        http_application = SimpleNamespace(add_handlers=lambda *given: None)

    for _ in range(2):
        add_page(Scheduler("a scheduler"))
    assert listed == {"pages": ["status", "workers", "dgsuite"]}
