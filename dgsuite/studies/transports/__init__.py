"""Transports of the studies, and all transports measured beside each other."""

from dgsuite.studies.transports.throttle import limit

__all__ = ["limit"]
