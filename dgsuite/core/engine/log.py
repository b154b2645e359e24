"""The log of a run: a row for each phase, from which every count and time is derived."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.core.engine.network import Target
from dgsuite.core.engine.pairs import CARRIED, PAIR
from dgsuite.core.engine.program import COMMON, COUNTED, SILENT, Step, Tally, reduce_votes
from dgsuite.core.engine.progress import Progress
from dgsuite.kernels.bsp import VOTES, Model, Vote

TIMES = ("compute", "cpu", "exchange")

WHEN = ("round", "turn", "phase", "position", "last")

COUNTS = attrgetter(*COUNTED)

PHASE = [("phase", "i8")]

SENT = np.dtype(PHASE + PAIR.descr)
"""Messages from one cluster to another in a phase: the number of the phase, and a `PAIR`."""

BITS = np.dtype(PHASE + CARRIED.descr)
"""Edges that carry so many bits in a phase: the number of the phase, and a `CARRIED`."""

TABLES = {"traffic": SENT, "bits": BITS}
"""What else is counted in phases: rows by phase, of which there may be none or several."""

ADDED = ("messages", "bytes", "edges")
"""Columns of these that are added where all others are the same."""

SHARED = dict(zip(COMMON, COMMON, strict=True))
"""The log refers to one object for all equal ones of these votes."""


@cache
def row_format(clusters: int) -> tuple[np.dtype, Struct]:
    """A row of the log of some clusters: as a dtype, and as what packs its values."""
    step = [("round", "i8"), ("turn", "i8"), ("phase", "i2"), ("position", "i2"), ("last", "?")]
    counts = [(name, "f8" if name == "toil" else "i8") for name in COUNTED]
    times = [(name, "f8", (clusters,)) for name in TIMES]
    letters = "".join("d" if kind == "f8" else "q" for _, kind in counts)
    return np.dtype([*step, *counts, *times]), Struct(f"=qqhh?{letters}{len(TIMES) * clusters}d")


@dataclass
class Entry:
    """What a site counts and times of tasks of one name and depth, which run in any order."""

    tally: Tally
    compute: NDArray
    cpu: NDArray
    exchange: float = 0.0


Moment = tuple[int, int, int, str]
"""Turn of the program, position in the turn, round or depth, name of the phase or task."""


class Log:
    """What happened, phase by phase, on one site; or, merged, on all.

    ``log["messages"]`` is a column with an entry for each phase: ``round``, ``turn``, ``last``, ``position``
    (see `Step`), ``phase`` (an index into `names`), a count of `Tally`, or one of the times, in seconds,
    shape (phases, clusters):

    * ``compute``: time of each cluster in the phase,
    * ``cpu``: processor time of each cluster in the phase,
    * ``exchange``: time between phases: packing, transfer, waiting, delivery.

    A column is a view: `add` fails while one is held.

    Parameters
    ----------
    clusters
        Number of clusters.
    seconds
        Wall time of all rounds.

    Attributes
    ----------
    votes
        The reduced votes of each phase.
    ticks
        Of a recursive form whose messages take time: the tick of each round.
    """

    def __init__(self, clusters: int, seconds: float = 0.0) -> None:
        self.clusters = clusters
        self.seconds = seconds
        self.votes: list[Vote] = []
        self.ticks: list[int] = []
        self._begun = self._active = self._sent = 0
        self._open: dict[Moment, Entry] = {}
        self._rows = bytearray()
        self._codes: dict[str, int] = {}
        self._notes: dict[str, array[int]] = {}
        self._tables = {name: bytearray() for name in TABLES}

    def __len__(self) -> int:
        return len(self.votes) + len(self._open)

    def __getstate__(self) -> dict[str, Any]:
        self._close()
        return self.__dict__

    @property
    def rows(self) -> NDArray:
        """All columns, as a structured array; a view."""
        self._close()
        return np.frombuffer(self._rows, row_format(self.clusters)[0])

    def __getitem__(self, name: str) -> NDArray:
        return self.rows[name]

    @property
    def names(self) -> list[str]:
        """Names of the phases, in the order in which they first ran."""
        self._close()
        return [*self._codes]

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return max(int(self["round"].max(initial=-1)) + 1, len(self.ticks))

    @property
    def steps(self) -> Iterator[Step]:
        """The phases, one by one, without the values that they took."""
        names = self.names
        columns = [self[name].tolist() for name in ("round", "phase", "last", "turn", "position")]
        return (
            Step(r, names[p], last, turn, position=position)
            for r, p, last, turn, position in zip(*columns, strict=True)
        )

    @property
    def moments(self) -> list[Moment]:
        """The moment of each row."""
        return [(step.turn, step.position, step.round, step.phase) for step in self.steps]

    def add(
        self,
        step: Step,
        tally: Tally,
        compute: Iterable[float],
        cpu: Iterable[float],
        exchange: float,
    ) -> None:
        """Record a phase: a row, and what else was counted."""
        self._active = max(tally.active, self._active if step.round < self._begun else 0)
        self._begun = step.round + 1
        number, code = len(self.votes), self._codes.setdefault(step.phase, len(self._codes))
        head = step.round, step.turn, code, step.position, step.last
        times = *compute, *cpu, *(exchange,) * self.clusters
        self._rows += row_format(self.clusters)[1].pack(*head, *COUNTS(tally), *times)
        self.votes.append(SHARED.get(tally.vote, tally.vote))
        self._sent += tally.messages
        for name, value in tally.notes.items():
            column = self._notes.setdefault(name, array("q"))
            column.extend([0] * (number - len(column)))
            column.append(value)
        for table, found in (("traffic", tally.pairs), ("bits", tally.bits)):
            if found is not None:
                rows = _numbered(number, found.table(), TABLES[table])
                self._tables[table] += rows.tobytes()

    def entry(self, moment: Moment, new_tally: Callable[[], Tally]) -> Entry:
        """What tasks that run in any order are added to. It becomes a row when the log is read, and another
        one begins; `unite` adds the rows of a moment.
        """
        if moment not in self._open:
            times = np.zeros((2, self.clusters))
            self._open[moment] = Entry(new_tally(), *times)
        return self._open[moment]

    @property
    def sent(self) -> int:
        """Messages so far."""
        return self._sent + sum(entry.tally.messages for entry in self._open.values())

    def progress(self) -> Progress:
        """How far the site is."""
        return Progress(self._begun, self._active, self._sent)

    def _close(self) -> None:
        """Make rows of what is open."""
        over, self._open = self._open, {}
        for (turn, position, round_, name), each in over.items():
            step = Step(round_, name, False, turn, position=position)
            self.add(step, each.tally, each.compute, each.cpu, each.exchange)

    def columns(self) -> dict[str, Any]:
        """The log as arrays, numbers and votes; `of` makes it again."""
        self._close()
        return {
            "clusters": self.clusters,
            "seconds": self.seconds,
            "names": self.names,
            "rows": np.array(self._rows, np.uint8),
            "votes": self.votes,
            "notes": {name: np.array(column) for name, column in self._notes.items()},
            **{name: np.array(rows, np.uint8) for name, rows in self._tables.items()},
        }

    @classmethod
    def of(cls, columns: dict[str, Any]) -> Log:
        """The log that `columns` took apart."""
        log = cls(columns["clusters"], columns["seconds"])
        log.votes = columns["votes"]
        log._codes = {name: code for code, name in enumerate(columns["names"])}
        log._rows = bytearray(columns["rows"].tobytes())
        log._notes = {name: array("q", found.tobytes()) for name, found in columns["notes"].items()}
        log._tables = {name: bytearray(columns[name].tobytes()) for name in TABLES}
        return log

    def part(self, clusters: slice) -> Log:
        """The log of a site that goes on from here: the times of its clusters, and, on the site of the first
        cluster, all counts. The parts of all sites merge to the whole.
        """
        own, columns = self.rows, self.columns()
        columns["clusters"] = len(range(self.clusters)[clusters])
        rows = np.zeros(len(self), row_format(columns["clusters"])[0])
        for name in TIMES:
            rows[name] = own[name][:, clusters]
        for name in (*WHEN, *COUNTED) if clusters.start == 0 else WHEN:
            rows[name] = own[name]
        if clusters.start != 0:
            columns |= {"votes": [SILENT] * len(self), "notes": {}}
            columns |= {name: self.table(name)[:0] for name in TABLES}
        part = Log.of({**columns, "rows": rows})
        if len(self):
            part._begun = self.rounds
            part._active = int(rows["active"][rows["round"] == rows["round"][-1]].max())
            part._sent = int(rows["messages"].sum())
        return part

    def at(self, moments: Sequence[Moment]) -> Log:
        """The log with one row for each of some moments. They include all of its own; rows of the same moment
        are added.
        """
        place = {moment: row for row, moment in enumerate(moments)}
        to = np.array([place[moment] for moment in self.moments], np.intp)
        codes = {name: code for code, name in enumerate(dict.fromkeys(m[3] for m in moments))}
        rows = np.zeros(len(moments), row_format(self.clusters)[0])
        for k, name in enumerate(("turn", "position", "round")):
            rows[name] = [moment[k] for moment in moments]
        rows["phase"] = [codes[name] for *_, name in moments]
        for name in (*COUNTED, *TIMES):
            np.add.at(rows[name], to, self[name])
        votes: list[list[Vote]] = [[] for _ in moments]
        for row, vote in zip(to.tolist(), self.votes, strict=True):
            votes[row].append(vote)
        notes = {name: np.zeros(len(moments), np.int64) for name in self._notes}
        for name, column in notes.items():
            np.add.at(column, to, self.noted(name))
        tables = {name: self.table(name).copy() for name in TABLES}
        for table in tables.values():
            table["phase"] = to[table["phase"]]
        found = Log.of(
            {
                "clusters": self.clusters,
                "seconds": self.seconds,
                "names": [*codes],
                "rows": rows,
                "votes": [reduce_votes(each) for each in votes],
                "notes": notes,
                **{name: _added(table) for name, table in tables.items()},
            }
        )
        found.ticks = self.ticks
        return found

    def noted(self, name: str) -> NDArray[np.int64]:
        """What the kernel noted under a name in each phase; 0 where it noted nothing."""
        self._close()
        found = np.zeros(len(self), np.int64)
        column = self._notes.get(name, ())
        found[: len(column)] = column
        return found

    def note(self, name: str, values: Sequence[int]) -> None:
        """Note a quantity of each phase, under a name that no phase uses."""
        self._close()
        self._notes[name] = array("q", values)

    def table(self, name: str) -> NDArray:
        """One of the `TABLES`, by phase: what clusters sent each other in a traced run, or how many edges
        carried how many bits.
        """
        self._close()
        return np.frombuffer(self._tables[name], TABLES[name])

    def by_round(self, values: ArrayLike) -> NDArray:
        """Sum of a quantity of each phase over the phases of each round."""
        each = np.asarray(values)
        out = np.zeros((self.rounds, *each.shape[1:]), each.dtype)
        np.add.at(out, self["round"], each)
        return out

    @property
    def peaks(self) -> NDArray[np.int64]:
        """The greatest vote of each round, or 0."""
        out = np.zeros(self.rounds, np.int64)
        most = [vote.max or 0 for vote in self.votes]
        np.maximum.at(out, self["round"], np.array(most, np.int64))
        return out

    def reductions(self, model: Model) -> NDArray[np.int64]:
        """By round, how many turns have votes that a program of a model may read."""
        read = sum(bit for name, bit in VOTES.items() if model.reads(name))
        voted = np.array([vote.given & read for vote in self.votes], np.int64) > 0
        _, first = np.unique(self["turn"][voted], return_index=True)
        return np.bincount(self["round"][voted][first], minlength=self.rounds)

    def votes_of(self, turn: int) -> list[Vote]:
        """The votes of the phases of a turn."""
        first, end = np.searchsorted(self["turn"], (turn, turn + 1))
        return self.votes[first:end]

    def replies(self, *key: str) -> Iterator[tuple[Step, Vote]]:
        """The last step of each turn of the program, and the turn's reduced votes; or of steps that are equal
        in each attribute of `key`.
        """
        of, rows = attrgetter(*(key or ("turn",))), zip(self.steps, self.votes, strict=True)
        for _, some in groupby(rows, lambda row: of(row[0])):
            steps, votes = zip(*some, strict=True)
            yield steps[-1], reduce_votes(votes)

    def targets(self) -> Iterator[tuple[int, tuple[Target, ...]]]:
        """Of each turn of the program the round, and what the clusters named as targets of an adversary."""
        return ((step.round, vote.targets) for step, vote in self.replies())


def unite(logs: Sequence[Log]) -> Log:
    """The same where tasks ran in any order: a row for each turn, phase and depth."""
    moments = sorted({moment for log in logs for moment in log.moments})
    return merge([log.at(moments) for log in logs])


def _added(table: NDArray) -> NDArray:
    """The rows of a table in order; those of which only numbers to add differ are added."""
    names = table.dtype.names or ()
    when = [name for name in names if name not in ADDED]
    keys, of = np.unique(table[when], return_inverse=True)
    rows = np.zeros(len(keys), table.dtype)
    rows[when] = keys
    for name in set(names).intersection(ADDED):
        np.add.at(rows[name], of, table[name])
    return rows


def _numbered(phase: int, found: NDArray, dtype: np.dtype) -> NDArray:
    """Rows that a phase counted, with its number."""
    rows = np.empty(len(found), dtype)
    rows["phase"] = phase
    for name in found.dtype.names or ():
        rows[name] = found[name]
    return rows


def merge(logs: Sequence[Log]) -> Log:
    """The log of the whole run from those of its sites, in the order of their clusters."""
    if len(logs) == 1:
        return logs[0]
    merged = Log(sum(log.clusters for log in logs), max(log.seconds for log in logs))
    merged._codes, merged.ticks = logs[0]._codes, logs[0].ticks
    dtype, _ = row_format(merged.clusters)
    merged._rows = bytearray(len(logs[0]) * dtype.itemsize)
    rows = np.frombuffer(merged._rows, dtype)
    each = [log.rows for log in logs]
    for name in WHEN:
        rows[name] = each[0][name]
    for name in COUNTED:
        rows[name] = sum(one[name] for one in each)
    for name in TIMES:
        np.concatenate([one[name] for one in each], axis=1, out=rows[name])
    for name in dict.fromkeys(name for log in logs for name in log._notes):
        merged._notes[name] = array(
            "q", np.sum([log.noted(name) for log in logs], axis=0).tobytes()
        )
    for name in TABLES:
        table = np.concatenate([log.table(name) for log in logs])
        merged._tables[name] = bytearray(table[np.argsort(table["phase"], kind="stable")].tobytes())
    merged.votes = [reduce_votes(votes) for votes in zip(*(log.votes for log in logs), strict=True)]
    return merged
