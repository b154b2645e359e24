"""The counter that places share."""

import sys
from itertools import chain

import pytest

import dgsuite
from dgsuite.core.workers.placement import new_run
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.studies.chem import counters
from tests.support.clusters import assert_nothing_held, client_of

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared on Linux alone")


@pytest.mark.few(2)
@pytest.mark.parametrize("protocol", ["tcp", pytest.param("mpb", marks=LINUX)])
def test_workers_count_together(protocol):
    """On any transport, with a question for each number of another worker."""
    with client_of(2, protocol=protocol) as client:
        counters.install(client)
        places, run = worker_addresses(client), new_run()
        epoch = Session.of(client).workers()[places[0]]["epoch"]

        def fetched():
            ask = counters.counter(run, places[0], epoch, 2)
            return [ask()() for _ in range(100)]

        def asked(dask_worker):
            """Have a worker note that it is asked for a number."""
            handlers, dask_worker.asked = dask_worker.handlers, 0
            original = handlers["dgsuite_count"]

            def noted(**arguments):
                dask_worker.asked += 1
                return original(**arguments)

            handlers["dgsuite_count"] = noted

        client.run(asked)
        tasks = [client.submit(fetched, workers=[place], pure=False) for place in places]
        assert sorted(chain.from_iterable(client.gather(tasks))) == list(range(2, 202))
        questions = client.run(lambda dask_worker: dask_worker.asked, workers=[places[0]])
        assert questions[places[0]] == 100
        del tasks
        assert_nothing_held(client)
        with pytest.raises(dgsuite.RunError, match="is over"):
            client.submit(fetched, workers=[places[1]], pure=False).result()
