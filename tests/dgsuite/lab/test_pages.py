"""Pages and diagrams of executions; a real browser shows the page."""

import asyncio

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.quiver import Quiver

import dgsuite
from dgsuite import Crash, Graph, InputError, Network, genval
from dgsuite.core.results.plots import places
from dgsuite.faces.cli.app import app
from dgsuite.studies.lab import Execution, pictures
from dgsuite.studies.lab.page import _layout
from tests.support.browser import BROWSER, opened

PATH = Graph.from_edges(list("abcd"), list("bcde"), relabel=True)

FAULTY = Network(drops=[(0, "b", "a")], crashes={"e": 1})
"""In round 0 the root is not heard by one neighbour; in round 1 the last node crashes."""


def faulty():
    return Execution("bfs", PATH, root="b", network=FAULTY)


@pytest.mark.parametrize("name", ["mis", "by", "lcr", "ds", "floodset"])
def test_messages_are_those_that_are_counted(name):
    """Broadcasts to live links, repeated ones and unicasts, of which some are lost."""
    ring = name in ("lcr", "by")
    graph = Graph.from_edges(np.arange(8), (np.arange(8) + 1) % 8)
    graph = graph if ring else genval.graph("er", 20, m=50, seed=1)
    how = {"network": Network(loss=0.05, crashes=0.02), "max_rounds": 16}
    ds = dgsuite.run(name, graph, style="serial", **how)
    found = np.zeros((2, ds.sizes["round"]), int)
    for moment in Execution(name, graph, **how).moments():
        found[:, moment.step.round] += len(moment.messages), moment.messages.lost.sum()
        last = moment.messages
    assert found[0].tolist() == ds.messages.values.tolist()
    assert found[0].sum() > 0
    if name in ("lcr", "floodset"):  # all neighbours listen to the end, and nothing is repeated
        found[1, -1] -= last.lost.sum()  # nothing reads them, so the run does not count them
        assert found[1].tolist() == ds.lost.values.tolist()


def test_lies_are_as_they_arrive():
    liars = Network(byzantine=dgsuite.Byzantine([0], "constant"))
    triangle = Graph.from_edges([0, 1, 2], [1, 2, 0])
    sent = next(Execution("wcc", triangle, network=liars).moments()).messages
    assert sent.false.tolist() == (sent.sender == 0).tolist()


def test_a_crashed_node_stays_as_it_was():
    partial = Network(crashes=[Crash(2, 1), Crash(3, 2, partial=True)])
    graph = genval.graph("er", 12, m=20, seed=2)
    ds = dgsuite.run("mis", graph, style="serial", network=partial)
    *_, last = Execution("mis", graph, network=partial).moments()
    assert np.array_equal(last.states["in_mis"], ds.in_mis)
    assert np.array_equal(last.crashed, ds.crashed >= 0)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_page_in_a_browser(tmp_path):
    """Stepped through by keys, it shows a message that is lost, and a node that has crashed."""
    faulty().to_html(tmp_path / "run.html")

    async def looked_at():
        async with opened(tmp_path / "run.html") as page:

            async def seen():
                told = await page.ask("document.getElementById('told').textContent")
                shapes = "document.querySelectorAll('#sent path.{}:not(.solid)').length"
                kinds = ("sent", "lost", "unheard")
                return told, *[await page.ask(shapes.format(kind)) for kind in kinds]

            async def crashed():
                shown = "[...document.querySelectorAll('g.at .cross')].map(x => getComputedStyle(x).display)"
                return [i for i, display in enumerate(await page.ask(shown)) if display != "none"]

            assert (await seen())[0] == "start: 0 messages."
            await page.press("ArrowRight")
            told = "round 0, wake: 2 messages, of which 1 lost; 0 nodes changed."
            assert await seen() == (told, 1, 1, 0)
            await page.press("ArrowDown", times=2)
            assert (await seen())[0] == "round 0, wake: b → c (arrives)."
            assert await crashed() == []
            await page.press("PageDown", times=2)
            told = await seen()
            assert told[0].startswith("round 1, visit: 2 messages; 1 node changed; 1 crashed")
            assert told[1:] == (1, 0, 1)
            assert await crashed() == [4]
            await page.press("ArrowLeft")
            assert await crashed() == []
            await page.press("End")
            place = "document.getElementById('step')"
            assert await page.ask(f"{place}.value == {place}.max && {place}.ariaValueText")
            await page.press("Home")
            assert (await seen())[0] == "start: 0 messages."
            ground = "getComputedStyle(document.body).backgroundColor"
            light = await page.ask(ground)
            await page.prefer("dark")
            assert await page.ask(ground) != light
            return page.errors

    assert asyncio.run(looked_at()) == []


def test_a_page_is_safe_and_needs_nothing_else(tmp_path):
    graph = Graph.from_edges(["</script><b>"], ["x&y"], relabel=True)
    Execution("bfs", graph).to_html(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert "<b>" not in text
    assert "https://" not in text
    assert text.count("http") == text.count("http://www.w3.org/2000/svg")


LOOKS = """[
  document.documentElement.scrollWidth <= innerWidth,
  Math.min(...[...document.querySelectorAll("button")].map(one => one.getBoundingClientRect().height)),
  Math.min(99, ...[...document.querySelectorAll("#picture text")]
    .filter(one => one.getBoundingClientRect().height)
    .map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)),
  picture.getBoundingClientRect().bottom <= 800,
  [...document.querySelectorAll("#sent rect")].length
]"""
"""Whether the page is as wide as the window; heights of the lowest button and text; whether the picture is
seen whole; and how many messages are squares of a matrix.
"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_are_legible(tmp_path, width):
    graphs = (
        genval.graph("cplt", 7),
        genval.graph("grid", 100),
        genval.graph("er", 90, m=400, seed=1),
    )
    for k, graph in enumerate(graphs):
        Execution("bfs", graph).to_html(tmp_path / f"{k}.html")

    async def looked_at(k):
        async with opened(tmp_path / f"{k}.html") as page:
            size = {"height": 800, "deviceScaleFactor": 1, "mobile": False}
            await page.call("Emulation.setDeviceMetricsOverride", width=width, **size)
            await page.ask("show(2), new Promise(requestAnimationFrame).then(() => 1)")
            return await page.ask(LOOKS)

    for k in range(len(graphs)):
        fits, button, text, whole, squares = asyncio.run(looked_at(k))
        assert fits
        assert button >= 32
        assert text >= 8.99
        assert whole
        assert (squares > 0) == (k == 2)


def test_the_diagram_has_all_messages_and_crashes():
    figure = faulty().space_time()
    ax = figure.axes[0]
    drawn = {artist.get_label(): artist for artist in ax.collections}
    sent = [moment.messages for moment in faulty().moments()]
    lost = sum(int(one.lost.sum()) for one in sent)
    unheard = sum(int(one.unheard.sum()) for one in sent)
    (arrows,) = (artist for artist in ax.collections if isinstance(artist, Quiver))
    assert sum(map(len, sent)) - lost - unheard == arrows.N
    assert (len(drawn["lost"].get_offsets()), lost) == (1, 1)
    assert len(drawn["receiver is down"].get_offsets()) == unheard > 0
    assert drawn["crash"].get_offsets().tolist() == [[2, 4]]


def test_what_happened_before_what_is_marked():
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    (ax,) = Execution("bfs", path, root=3).space_time(after=(3, 0)).axes
    marked = [
        {node for (_, node), _ in a.get_segments()} for a in ax.collections if a.get_alpha() == 0.4
    ]
    assert [len(nodes) for nodes in marked] == [1, 2, 3, 4]
    with pytest.raises(InputError, match="nodes are below 4, and phases below 4"):
        Execution("bfs", path).space_time(after=(4, 0))


def test_layouts_of_trees_grids_and_what_is_neither():
    tree = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 4])
    far = np.hypot(*places(tree).T).round(6).tolist()
    assert far == [0, 1, 1, 1, 2]
    grid = genval.graph("grid", 12)
    assert {*map(tuple, places(grid).tolist())} == {(x, -y) for x in range(4) for y in range(3)}
    assert _layout(genval.graph("er", 100, m=300, seed=1))["matrix"]
    assert not _layout(genval.graph("grid", 100))["matrix"]


def test_states_are_drawn_round_by_round():
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    figure = Execution("bfs", path).draw()
    assert [ax.get_title() for ax in figure.axes] == ["before", "round 0", "round 1", "round 2"]
    written = [[int(text.get_text()) for text in ax.texts] for ax in figure.axes]
    assert written == [[0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 2, -1], [0, 1, 2, 3]]
    search = Execution("bfs", path, network={"crashes": {2: 1}})
    first, then = search.draw("parent", rounds=[0, 1]).axes
    assert [int(text.get_text()) for text in then.texts] == [0, 0, -1, -1]
    assert [len(ax.collections[2].get_offsets()) for ax in (first, then)] == [0, 1]
    with pytest.raises(InputError, match="unknown field 'levle'; did you mean 'level'"):
        search.draw("levle")
    with pytest.raises(InputError, match="there is no round 9"):
        search.draw(rounds=[9])


def test_what_is_too_large_to_show(tmp_path, monkeypatch):
    large = Execution("bfs", Graph.from_edges(np.arange(300), np.arange(1, 301)))
    with pytest.raises(InputError, match="an execution on 301 nodes is too large to show"):
        large.to_html(tmp_path / "run.html")
    with pytest.raises(InputError, match="up to 300"):
        large.space_time()
    with pytest.raises(InputError, match="does not exist"):
        faulty().to_html(tmp_path / "none" / "run.html")
    monkeypatch.setattr(pictures, "MOST_MESSAGES", 10)
    with pytest.raises(InputError, match=r"too long to show: by round 0 .* max_rounds=1"):
        faulty().to_html(tmp_path / "run.html")
    assert not list(tmp_path.iterdir())


def test_a_page_from_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = ["--n", "16", "--no-validate", "--network", "loss=0.2"]
    done = CliRunner().invoke(app, ["kernel", "mis", "grid", *how, "--page", "run.html"])
    assert done.exit_code == 0, done.output
    assert "Network(loss=0.2)" in (tmp_path / "run.html").read_text()
    wrong = ["kernel", "bf", "grid", *how[:2], "--form", "recursive", "--page", "other.html"]
    with pytest.raises(InputError, match="--page shows a run of --form iterative"):
        app(wrong, standalone_mode=False)
    assert not (tmp_path / "other.html").exists()
