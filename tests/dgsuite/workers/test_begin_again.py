"""When a run begins again, and with which workers, as a scheduler of our own tells."""

from contextlib import nullcontext
from types import SimpleNamespace

import dask
import pytest

from dgsuite.base.errors import RunError, WorkerLost
from dgsuite.core.workers import recovery


def worker(silent=0.0, status="running", epoch="first"):
    return {"silent": silent, "status": status, "epoch": epoch}


GONE, HERE = worker(silent=99.0), worker()


@pytest.fixture
def scheduler(monkeypatch):
    """Says what it is told to, a time each, and then the last; its clock goes on while somebody sleeps."""
    said = SimpleNamespace(looks=[], asked=[], now=0.0)

    def look():
        return said.looks.pop(0) if len(said.looks) > 1 else said.looks[0]

    session = SimpleNamespace(
        workers=lambda: setattr(said, "last", look()) or said.last,
        ask=lambda what, **how: said.asked.append((what, how.get("workers"))),
    )

    def sleep(seconds):
        said.now += max(seconds, 0.25)

    monkeypatch.setattr(recovery, "Session", SimpleNamespace(of=lambda client: session))
    monkeypatch.setattr(recovery, "ordered_states", lambda client: dict(sorted(said.last.items())))
    monkeypatch.setattr(recovery, "timeout", lambda: 10.0)
    clock = SimpleNamespace(monotonic=lambda: said.now, sleep=sleep)
    monkeypatch.setattr(recovery, "time", clock)
    watch = SimpleNamespace(explain_errors=nullcontext)
    monkeypatch.setattr(recovery, "Watch", lambda *given: watch)
    return said


def test_a_frozen_worker_is_started_anew_before_a_run_begins_again(scheduler):
    anew = worker(epoch="second")
    scheduler.looks = [{"a": GONE, "b": HERE}, {"a": GONE, "b": HERE}, {"b": HERE}, {"b": HERE}]
    scheduler.looks.insert(2, {"a": anew, "b": HERE})
    assert recovery.usable(None, "a run") == {"a": anew, "b": HERE}
    assert scheduler.asked == [("dgsuite_renew", ["a"])]


def test_workers_that_seem_frozen_once_are_left_alone(scheduler):
    scheduler.looks = [{"a": GONE, "b": GONE}, {"a": HERE, "b": HERE}]
    assert recovery.usable(None, "a run") == {"a": HERE, "b": HERE}
    assert scheduler.asked == []


def test_workers_that_run_and_are_not_avoided(scheduler):
    scheduler.looks = [{"b": HERE, "a": worker(status="closing"), "c": worker(epoch="third")}]
    assert [*recovery.usable(None, "a run")] == ["b", "c"]
    assert [*recovery.usable(None, "a run", {"third"})] == ["b"]
    assert [*recovery.usable(None, "a run", {"first", "third"})] == ["b", "c"]


@pytest.mark.parametrize(("looks", "seconds"), [({}, 10), ({"a": GONE}, 70), ({"a": None}, 10)])
def test_a_run_does_not_wait_for_workers_for_ever(scheduler, looks, seconds):
    """But longer where Dask is to kill one that is frozen."""
    scheduler.looks = [{name: state or worker(status="paused") for name, state in looks.items()}]
    with pytest.raises(RunError, match="a run: no worker is left"):
        recovery.usable(None, "a run")
    assert seconds < scheduler.now < seconds + 1


ALWAYS = [(0, "", 1), (1, "", 2), (3, "", 4), (5, "Dask killed a", 2)]


@pytest.mark.parametrize(("most", "memory", "times"), ALWAYS)
def test_a_run_that_always_loses_a_worker_ends(scheduler, monkeypatch, most, memory, times):
    begun = []
    monkeypatch.setattr(recovery, "_killed_for_memory", lambda *given: memory)
    scheduler.looks = [{"a": HERE, "b": worker(epoch="second")}]
    scheduler.last = scheduler.looks[0]

    def attempt(states):
        begun.append([*states])
        assert len(begun) <= times
        raise WorkerLost("worker a was lost", "a")

    with dask.config.set({recovery.SETTING: most}), pytest.raises(RunError) as error:
        recovery.recovered(attempt, object(), "a run")
    assert begun == [["a", "b"], *[["b"]] * (times - 1)]
    if most:
        assert f"it was begun {times} times, and lost a worker each time" in str(error.value)
    else:
        assert isinstance(error.value, WorkerLost)
    assert memory in str(error.value)


def test_a_run_begins_on_the_workers_as_they_are(scheduler):
    """Dask's paused workers will go on; only a run that begins again does without them."""
    scheduler.looks = [{"a": worker(status="paused")}]
    scheduler.last = scheduler.looks[0]
    assert recovery.recovered(list, object(), "a run") == ["a"]
    assert scheduler.now == 0
