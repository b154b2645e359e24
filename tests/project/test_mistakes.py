"""The mistakes that docs/howto/kernel.md lists give the messages that it says."""

import re
from dataclasses import dataclass

import networkx as nx
import pytest

import dgsuite
from dgsuite.kernels import bsp
from tests.support.paths import ROOT

PAGE = (ROOT / "docs/howto/kernel.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", PAGE.split("| mistake |")[1], re.MULTILINE))


def program(self, net):
    yield self.tell


def tell(**fields):
    """A phase that broadcasts what is made of the state."""
    return lambda self, c, s, inbox: bsp.broadcast(**{name: f(s) for name, f in fields.items()})


WRONG = {
    "`yield self.tell`": {"program": program},
    "`bsp.broadcast(vote=s.opinion)`": {"tell": tell(vote=lambda s: s.opinion)},
    "`bsp.broadcast(opinion=s.opinion * 0.5)`": {"tell": tell(opinion=lambda s: s.opinion * 0.5)},
    "`bsp.broadcast(opinion=s.opinion[:3])`": {"tell": tell(opinion=lambda s: s.opinion[:3])},
    "`return changed` in place of a vote": {"adopt": lambda self, c, s, inbox: True},
    '`bsp.vote(any="yes")`': {"adopt": lambda self, c, s, inbox: bsp.vote(any="yes")},
    "`c.indices[0] = 3`": {"adopt": lambda self, c, s, inbox: c.indices.__setitem__(0, 3)},
    "`outputs` names `colour`, and the state has none": {"outputs": {"colour": bsp.Output("")}},
}


@pytest.mark.parametrize("mistake", [row for row in ROWS if "---" not in row])
def test_a_mistake_has_the_message_of_the_page(mistake):
    block, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    page = {"__name__": __name__}  # a module that is there, which dataclasses look for
    exec(compile(block, "page", "exec"), page)
    changed = WRONG[mistake]
    for name, method in changed.items():
        if callable(method):
            method.__name__ = name
    kernel = dataclass(frozen=True)(type("Wrong", (page["Majority"],), changed))
    graph = dgsuite.Graph.from_networkx(nx.karate_club_graph(), client=None)
    with pytest.raises(dgsuite.RunError) as error:
        dgsuite.run(kernel, graph, clusters=3, client=None)
    assert str(error.value).endswith(ROWS[mistake])
