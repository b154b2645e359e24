"""Asynchronous algorithms: nodes act on messages and timers, tick by tick."""
