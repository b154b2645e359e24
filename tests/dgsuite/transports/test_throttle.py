"""Throttled transports: what they do to time, and that they do nothing else."""

import time

import dask
import numpy as np
import pytest
from distributed.comm import connect, listen
from distributed.protocol.serialize import to_serialize

import dgsuite
from dgsuite import genval
from dgsuite.studies.transports import throttle
from tests.support.clusters import client_of

SLOW = 50e6


@pytest.fixture
def here():
    """This process's throttle, as it was afterwards."""
    before = throttle.HERE.limit
    yield throttle.HERE
    throttle.HERE.limit = before


async def talk(messages, scheme="tcp"):
    """Send messages over a throttled comm to a listener that says what it got."""
    got = []

    async def handle(comm):
        for _ in messages:
            got.append(await comm.read())
        await comm.write("done")

    listener = await listen(f"throttle+{scheme}://127.0.0.1", handle, deserialize=True)
    comm = await connect(listener.contact_address)
    begin = time.perf_counter()
    for message in messages:
        await comm.write(message)
    assert await comm.read() == "done"
    seconds = time.perf_counter() - begin
    await comm.close()
    listener.stop()
    return got, seconds


@pytest.mark.parametrize("scheme", ["tcp", "uds", "mpb", "mpimpb"])
@pytest.mark.parametrize("scope", ["link", "process"])
async def test_messages_arrive_whole_and_not_too_soon(here, scope, scheme):
    """No machine is fast enough to break the lower bounds; latency comes before each message."""
    here.limit = throttle.make("50 MB", scope=scope)
    sent = [np.arange(k, dtype=np.int64) for k in (0, 1, 1000, 300_000)]
    got, seconds = await talk([{"x": to_serialize(x)} for x in sent], scheme)
    for x, message in zip(sent, got, strict=True):
        np.testing.assert_array_equal(x, message["x"])
    assert seconds > 0.95 * sum(x.nbytes for x in sent) / SLOW
    here.limit = throttle.make(latency="20ms", scope=scope)
    assert (await talk(["a", "b", "c"], scheme))[1] >= 0.06


def test_the_schedule_of_a_bucket():
    bucket = throttle.Bucket()
    bucket.begin(10.0)
    assert bucket.take(100, 100.0, 10.0) == pytest.approx(1.0)
    assert bucket.take(100, 100.0, 10.0) == pytest.approx(2.0)
    bucket.begin(12.0 + throttle.GAP / 2)  # a stream goes on
    assert bucket.take(100, 100.0, 12.0) == pytest.approx(1.0)
    bucket.begin(20.0)  # a pause is lost
    assert bucket.take(100, 100.0, 20.0) == pytest.approx(1.0)
    # a late sender catches up no more than the burst
    assert bucket.take(100, 100.0, 30.0) == pytest.approx(1.0 - throttle.BURST)


WRONG = [
    ({"nominal": 0}, "nominal must be above 0"),
    ({"nominal": "fast"}, "throttle: "),
    ({"nominal": 1e6, "percent": 0}, "percent must be above 0 and at most 100, got 0"),
    ({"nominal": 1e6, "percent": 101}, "percent must be above 0 and at most 100, got 101"),
    ({"nominal": float("nan")}, "nominal must be above 0"),
    ({"latency": -1}, "latency must be at least 0"),
    ({"scope": "host"}, "scope must be 'link' or 'process', got 'host'"),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_bad_limits(values, message):
    with pytest.raises(dgsuite.InputError, match=message):
        throttle.make(**values)


def test_limits_come_from_the_configuration():
    with dask.config.set({"dgsuite.throttle": {"nominal": "1 MB", "percent": 20}}):
        assert throttle.Limit.configured() == throttle.Limit(1e6, 20)
        assert throttle.Limit.configured().rate == 2e5


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["tcp", "mpb"])
def test_a_throttled_cluster_gives_the_same_results_and_counts(scheme):
    with client_of(2, protocol=f"throttle+{scheme}") as client:
        assert client.scheduler.address.startswith(f"throttle+{scheme}://")
        graph = genval.graph("er", 3000, m=20_000, clusters=4, client=client)
        free = dgsuite.run("mis", graph, client=client)
        limit = throttle.limit(client, "2 MB", 50)
        assert set(client.run(lambda: throttle.HERE.limit).values()) == {limit}
        for style in ("clocked", "finish_async"):
            slow = dgsuite.run("mis", graph, client=client, style=style)
            np.testing.assert_array_equal(free.in_mis, slow.in_mis)
            np.testing.assert_array_equal(free.messages, slow.messages)
        slow = dgsuite.run("mis", graph, client=client)
        assert int(slow.wire_bytes.sum()) == int(free.wire_bytes.sum())
        assert slow.attrs["seconds"] > 0.9 * int(slow.wire_bytes.sum()) / 2 / 1e6
        throttle.limit(client)
        assert set(client.run(lambda: throttle.HERE.limit.rate).values()) == {None}


def test_other_clusters_cannot_be_throttled(client):
    with pytest.raises(dgsuite.InputError, match="start it with protocol='throttle\\+tcp'"):
        throttle.limit(client, "1 MB")
