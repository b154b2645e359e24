"""Nodes of event-driven kernels as textbooks have them, each a class: see `tests.support.by_events.world`."""

from tests.support.by_events import consensus, mutex, register, small

PROGRAMS = {
    "abd": register.ABD,
    "bracha": small.Bracha,
    "chandra_toueg": consensus.ChandraToueg,
    "itai_rodeh": small.ItaiRodeh,
    "lamport_mutex": mutex.LamportMutex,
    "paxos": consensus.Paxos,
    "raft": consensus.Raft,
    "ricart_agrawala": mutex.RicartAgrawala,
}
"""By the name of the kernel."""
