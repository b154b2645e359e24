"""Every kernel that sends between nodes can be looked at phase by phase."""

import pytest

import dgsuite
from dgsuite.studies.lab import Execution
from tests.support.cases import COMMUNITIES, NAMES
from tests.support.small_graphs import typical


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COMMUNITIES])
def test_an_execution_is_that_of_a_run(name):
    case = typical(name)
    kernel, graph = case.make(), case.graph(4)
    ds = dgsuite.run(kernel, graph, style="serial")
    execution = Execution(kernel, graph)
    moments = [*execution.moments()]
    assert sum(len(moment.messages) for moment in moments) == int(ds.messages.sum())
    for output, values in execution.outputs().items():
        assert values.tolist() == ds[output].values.tolist()
