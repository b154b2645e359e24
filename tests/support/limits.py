"""Limits of this process."""

import resource
from contextlib import contextmanager


@contextmanager
def files_of_at_most(nbytes):
    """No file becomes larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
