"""A kernel that does nothing, round after round."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.base import Kernel, Output, Program, Round, State, vote


@dataclass(frozen=True)
class Empty(Kernel):
    """Rounds of one empty phase, each of which is joined, since the program reads the reply."""

    rounds: int = 100

    name = "empty"
    outputs = {"nothing": Output("zeros")}

    def program(self, net) -> Program:
        for _ in range(self.rounds):
            reply = yield Round(self.tick)
            if not reply.any:
                return

    def start(self, c) -> State:
        return State(nothing=c.zeros())

    def tick(self, c, s, inbox):
        return vote(any=True)
