"""Executors that run the clusters of a site in a chosen order, or stop one of them amid what they share."""

import sys
import threading
from contextlib import contextmanager
from random import Random

from dgsuite.base import once
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE

FOLDERS = ("base", "core/engine", "core/recursion", "studies/network")
SHARED = [str(ROOT / "partition"), *(str(ROOT / "dgsuite" / name) for name in FOLDERS)]
"""Folders whose code reads what clusters share."""


def called(function, items, order):
    """What a function returns for each item; it is called in the given order of their places."""
    found = {k: function(items[k]) for k in order}
    return [found[k] for k in range(len(items))]


class Shuffled:
    """Runs all calls in one thread, in a random order."""

    def __init__(self, seed):
        self.random = Random(seed)

    def map(self, function, items):
        items = list(items)
        return called(function, items, self.random.sample(range(len(items)), len(items)))


class Ordered:
    """Runs all calls in one thread, in one order of the first few of them."""

    def __init__(self, order):
        self.order = order

    def map(self, function, items):
        items = list(items)
        order = (*self.order, *range(len(self.order), len(items)))
        return called(function, items, [k for k in order if k < len(items)])


class Preempting:
    """Stops one call of each lot at a line of the engine, at which it has stopped none before, and lets
    another thread make all other calls meanwhile, as far as locks let it.

    Attributes
    ----------
    lines
        Where calls have been stopped.
    waited
        How often the other thread waited for the one that was stopped.
    """

    def __init__(self, seed=0):
        self.random = Random(seed)
        self.lines = set()
        self.waited = 0

    def map(self, function, items):
        items = list(items)
        order = self.random.sample(range(len(items)), len(items))
        found, failed = {}, []

        def call(numbers):
            try:
                for k in numbers:
                    found[k] = function(items[k])
            except BaseException as error:
                failed.append(error)

        others = threading.Thread(target=call, args=(order[1:],), daemon=True)
        moved = threading.Event()  # the others have ended, or wait
        begun = False

        def run_others():
            nonlocal begun
            begun = True
            others.start()
            while others.is_alive() and not moved.wait(0.001):
                pass

        def trace(frame, event, _):
            if begun or not frame.f_code.co_filename.startswith(tuple(SHARED)):
                return None
            where = frame.f_code.co_filename, frame.f_lineno
            if event == "line" and where not in self.lines:
                self.lines.add(where)
                sys.settrace(None)
                with noticing(others, moved):
                    run_others()
                self.waited += moved.is_set()
                return None
            return trace

        def traced():
            sys.settrace(trace)
            try:
                call(order[:1])
            finally:
                sys.settrace(None)

        first = threading.Thread(target=traced, daemon=True)
        first.start()
        first.join(PATIENCE)
        if not begun:
            others.start()
        others.join(PATIENCE)
        assert not first.is_alive()
        assert not others.is_alive()
        if failed:
            raise failed[0]
        return [found[k] for k in range(len(items))]


@contextmanager
def noticing(thread, event):
    """Set an event when a thread is about to wait for a lock of `dgsuite.base.once`."""
    enter = once.Lock.__enter__

    def enter_noticed(lock):
        if threading.current_thread() is not thread:
            return enter(lock)
        if not lock._lock.acquire(blocking=False):
            event.set()
            return enter(lock)
        return None

    once.Lock.__enter__ = enter_noticed
    try:
        yield
    finally:
        once.Lock.__enter__ = enter
