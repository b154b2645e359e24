"""Numbers of the exchanges of a run that are not of a phase. Those of phases begin at 0."""

from dgsuite.core.engine.checkpoint import EXCHANGES

READY = -1
"""All tasks are ready for the first phase."""

CHECK = -2
"""All tasks have kept the mesh of the run before."""

CLOSING = -3
"""All tasks have what they wait for, so comms may be closed."""

TELLING = -4
"""Each task tells all others something of itself."""

OFFER, TAKEN = -5, -6
"""One task makes memory for all; all tell whether they have it."""

SHARE = -7
"""Tasks agree on whether to share memory."""

RESUMING = range(-7 - EXCHANGES, -7)
"""What a checkpoint has of the last phase is sent once more."""
