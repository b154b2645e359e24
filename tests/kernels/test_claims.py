"""What docstrings say of rounds, exchanges and messages is listed, and holds on larger graphs."""

import json
import re

import networkx as nx
import pytest

import dgsuite
from dgsuite.__main__ import main
from dgsuite.core.running.catalogue import claims
from dgsuite.kernels import KERNELS
from tests.kernels.test_costs import assert_claims, fits
from tests.support.small_graphs import Case, suited

LARGE = [
    nx.path_graph(500),
    nx.star_graph(499),
    nx.random_labeled_tree(500, seed=500),
    nx.convert_node_labels_to_integers(nx.grid_2d_graph(10, 50)),
    nx.connected_watts_strogatz_graph(500, 6, 0.3, seed=500),
    nx.complete_graph(60),
    nx.cycle_graph(500),
]
MANY_EDGES = 10_000
"""Of a complete graph of 500 nodes, on which some kernels take minutes."""

CLAIMED = sorted(
    name for name, kernel in KERNELS.items() if any(one.bound for one in claims(kernel).values())
)


@pytest.mark.long
@pytest.mark.parametrize("name", CLAIMED)
def test_runs_take_what_docstrings_say(name):
    for number, net in enumerate(suited(name, LARGE)):
        if net.number_of_edges() > MANY_EDGES:
            continue
        case = Case(name, net, number)
        kernel, graph = case.make(), case.graph()
        assert_claims(kernel, graph, dgsuite.run(kernel, graph, style="serial"))


def test_a_count_that_denies_a_claim_is_seen():
    said = claims(KERNELS["lcr"])["rounds"]
    assert said == ("exactly", "2 * n")
    assert [fits(count, said, {"n": 5}) for count in (9, 10, 11)] == [False, True, False]
    atmost = said._replace(status="at most")
    assert [fits(count, atmost, {"n": 5}) for count in (9, 10, 11)] == [True, True, False]


def test_the_table_of_claims(capsys):
    assert main(["kernels", "--claims"]) == 0
    header, *rows = (re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines())
    assert header[:5] == ["kernel", "model", "rounds", "exchanges", "messages"]
    assert header[5:] == ["bits at n = 1,024, 1,048,576"]
    table = {row[0]: row[1:] for row in rows}
    assert table.keys() == KERNELS.keys()
    atmost = "at most n * (n + 1) / 2 + n"
    row = ["CONGEST", "exactly 2 * n", "exactly rounds", atmost, "at most 11, 21"]
    assert table["lcr"] == row
    assert table["by"][1] == "expected"
    assert table["leiden"][1:4] == ["measured"] * 3
    assert main(["kernels", "--claims", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lcr"]["rounds"] == ["exactly", "2 * n"]
