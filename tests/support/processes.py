"""Processes of Python that tests start."""

import os
import subprocess
import sys

from tests.support.paths import ROOT
from tests.support.patience import PATIENCE


def python(*arguments, cwd=ROOT, preexec_fn=None, **environment):
    """One that has ended, with what it printed; the project is on its path."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        preexec_fn=preexec_fn,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def begun(*arguments, **how):
    """One that goes on; what it says of errors can be read."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    usual = {"env": env, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, arguments)], **usual | how)
