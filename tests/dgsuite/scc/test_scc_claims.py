"""What "X10 on the SCC" says beside our experiment files, the simulated chip, and results."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dgsuite.core.transports.mpb import MPB
from dgsuite.studies.report.claims import scc, scc_definitions, scc_findings
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.verdicts import CHECKS
from dgsuite.studies.transports.chip import MPIMPB, Buffers, OneChunk
from tests.support.claims import shipped


def verdict(name, evidence):
    claim = claims()[name]
    return CHECKS[claim.check](claim, evidence)


def test_every_figure_has_its_file_and_says_in_what_it_departs():
    for number in range(5, 11):
        claim = claims()[f"scc.fig{number}.setup"]
        assert claim.check == "scc_setting"
        found = verdict(claim.id, Evidence())
        assert found.silent == ""
        assert "simulated" in found.ours
        assert found.why


def test_transports_and_buffers_are_those_of_the_files(configs):
    evidence = Evidence(configs=configs)
    names = ("scc.sec3.transports", "scc.sec3.2.payload", "scc.sec3.1.1.sections")
    assert {n: verdict(n, evidence).verdict for n in names} == dict.fromkeys(names, "equal")
    assert "5120 bytes" in verdict("scc.sec3.2.payload", evidence).ours
    path = configs / "scc-bc-figure9.toml"
    path.write_text(path.read_text().replace('"mpi-sock", ', "").replace('"8 KiB"', '"16 KiB"'))
    found = {n: verdict(n, evidence) for n in names}
    assert {v.verdict for v in found.values()} == {"differs"}
    assert "mpi-sock none" in found["scc.sec3.transports"].ours
    # a buffer that is not the chip's has no reason: nothing is said of it in the claim
    assert found["scc.sec3.2.payload"].silent


OF_CHIP = [
    ("sec2.chip", "values", "rows"),
    ("sec2.memory", "values", "memory"),
    ("sec4.1.scc", "fixed", "mesh_hz"),
]


@pytest.mark.parametrize(("name", "group", "key"), OF_CHIP)
def test_the_chip_is_the_papers(name, group, key):
    claim = claims()[f"scc.{name}"]
    assert CHECKS[claim.check](claim, Evidence()).verdict in ("equal", "agrees")
    given = {**claim.data[group], key: claim.data[group][key] + 1}
    wrong = replace(claim, why="", data={**claim.data, group: given})
    assert CHECKS[claim.check](wrong, Evidence()).silent


PLACES = [1, 8, 12, 36, 44, 48]


def betweenness(**seconds):
    """Results at 1 to 48 places, by transport."""
    values = np.array([[list(seconds.values())]], float)
    dearer = 1 + np.arange(len(seconds))
    return xr.Dataset(
        {
            "simulated_seconds": (("workload", "deal", "transport", "places"), values),
            "message_seconds": ("transport", 1e-4 * dearer),
            "byte_seconds": ("transport", 1e-8 * dearer),
            "task_seconds": ("transport", 1e-3 * dearer),
            "balance": (("workload", "deal", "places"), np.full((1, 1, len(PLACES)), 0.9)),
            "work_seconds": ("workload", [40.0]),
            "setup_seconds": ("workload", [0.01]),
            "held_bytes": ("workload", [2e6]),
            "edges": ("workload", [123266]),
        },
        {
            "workload": ["low"],
            "deal": ["block"],
            "transport": [name.replace("_", "-") for name in seconds],
            "places": PLACES,
        },
        {"program": "bc"},
    )


def hartree_fock(seconds, names=("benzene 3-21g", "aspirin 3-21g")):
    """Results by input and transport, under both balances alike."""
    ways = list(seconds[names[0]])
    values = np.array([[[seconds[n][t] for t in ways]] * 2 for n in names], float)
    costs = {
        "counter_operation": [0.0, 1e-4, 2e-4, 3e-4],
        "message": [0.0, 5e-5, 1e-4, 2e-4],
        "matrix": [0.0, 1e-4, 3e-4, 9e-4],
    }
    return xr.Dataset(
        {
            "simulated": (("input", "balance", "transport", "places"), values),
            **{name: ("transport", each[: len(ways)]) for name, each in costs.items()},
            "held_bytes": ("input", [1e6] * len(names)),
        },
        {"balance": ["static", "dynamic"], "transport": ways, "places": PLACES, "input": [*names]},
    )


def linear(one, share=1.0):
    """Seconds at PLACES that a share of the work scales."""
    return [one * (1 - share + share / p) for p in PLACES]


def native(matrix=1.0, fetch=1.0, half=0.05, **seconds):
    """Results of benzene STO-3G: times over those of static on `mpb`, and what a matrix and a fetch cost on
    it over others; sockets are slow and dear.
    """
    names = {"mpb": (1.0, 1.0), "tcp": (1.5, 9.0), **seconds}
    benzene = {t: linear(100) for t in names}
    ds = hartree_fock({"benzene sto-3g": benzene}, ("benzene sto-3g",))
    factors = xr.DataArray(np.transpose([*names.values()]), dims=("balance", "transport"))
    ds["simulated"] = (ds.simulated * factors).transpose(*ds.simulated.dims)
    ds["simulated_low"] = ds.simulated * (1 - half)
    ds["simulated_high"] = ds.simulated * (1 + half)
    costs = {"matrix": matrix, "counter_operation": fetch, "message": 1.0, "setup": 1.0}
    for name, cost in costs.items():
        ds[name] = ("transport", [{"mpb": cost, "tcp": 3.0}.get(t, 1.0) for t in names])
    return ds.drop_vars("held_bytes")


COMPARED = [
    ({}, "agrees", "first at 10 of 10 points, level with the first at 0"),
    ({"mpimpb": (0.95, 2.0)}, "agrees", "first at 5 of 10 points, level with the first at 5"),
    ({"mpimpb": (0.8, 2.0)}, "differs", "behind mpimpb at 5, simulated"),
    ({"mpimpb": (0.95, 2.0), "half": 0.01}, "differs", "behind mpimpb at 5, simulated"),
    ({"mpimpb": (0.95, 2.0), "half": 0.3}, "not checked", ""),
]


@pytest.mark.parametrize(("given", "expected", "told"), COMPARED)
def test_transports_are_compared_with_intervals(given, expected, told):
    """The native one at all places, and at the most places alone; sockets."""
    found = verdict("scc.fig6.rcce-best", Evidence({"a": native(**given)}))
    assert found.verdict == expected
    assert told in found.ours
    assert ("times vary by 60%" in found.why) == (expected == "not checked")
    scales = verdict("scc.fig7.rcce-scales-best", Evidence({"a": native(**given)}))
    assert scales.verdict == expected
    assert expected == "not checked" or "static mpb 6" in scales.ours
    for half, worst in ((0.05, "agrees"), (0.01, "differs")):
        ds = native(mpimpb=(1.6, 2), half=half)
        assert verdict("scc.fig6.sockets-worst", Evidence({"a": ds})).verdict == worst


def benzene(seconds, share):
    """Results of which benzene loses speed-up to messages, and aspirin does not."""
    alone, aspirin = linear(seconds), {"none": linear(100), "tcp": linear(100)}
    times = {"none": alone, "tcp": linear(seconds, share)}
    return hartree_fock({"benzene 3-21g": times, "aspirin 3-21g": aspirin})


def beside_messages(cheap, dear):
    """Results whose messages are cheap and dear beside the work."""
    times = {
        f"{name} 3-21g": {"none": linear(s), "mpb": linear(s, cheap), "tcp": linear(s, dear - less)}
        for name, s, less in (("benzene", 5, 0.1), ("aspirin", 9, 0))
    }
    return hartree_fock(times)


def loads(turn):
    """Results of four workloads, whose balance explains their gains, or is turned round."""
    gains = {"small": 0.9, "medium": 0.95, "low": 0.99, "high": 0.98}
    times = {w: linear(40, share) for w, share in gains.items()}
    parts = [betweenness(mpb=t, mpi=t).assign_coords(workload=[w]) for w, t in times.items()]
    ds = xr.concat(parts, "workload").assign_attrs(program="bc")
    even = xr.DataArray([*gains.values()][::turn], dims="workload")
    return ds.assign(balance=ds.balance * 0 + even)


def searches(*times, names=("mpb", "tcp", "mpi_sock"), dear=False, even=False):
    """Results of betweenness by seconds on some transports, of which the first is dear, or not."""
    ds = betweenness(**dict(zip(names, times, strict=False)))
    if dear:
        ds.byte_seconds[0] = 1.0
    return ds.assign(balance=ds.balance * 0 + 1.0) if even else ds


def full(ds):
    """The same, with more on a place than a core of the chip has room for."""
    return ds.assign(held_bytes=ds.held_bytes + 1e9)


BOTH = ("mpb", "mpimpb", "tcp")
PAIR = ("mpb", "mpi")
FAR, NEAR = linear(60), linear(41)
SLOW, KEPT, LOST = linear(43), linear(40.01, 0.999), linear(40.01, 0.9)
DROPS = [*linear(40)[:-1], 2 * linear(40)[-1]]


@pytest.mark.parametrize(
    ("name", "ds", "expected", "silent", "told"),
    [
        ("fig9.sockets-track", searches(linear(40), linear(40), NEAR), "agrees", False, ""),
        ("fig9.sockets-track", searches(linear(40), linear(40), FAR), "differs", None, ""),
        # the first is the cheapest; or what is sent is dearer on it
        ("fig9a.rcce-slightly", searches(SLOW, linear(42)), "differs", True, ""),
        ("fig9a.rcce-slightly", searches(SLOW, linear(42), dear=True), "differs", False, ""),
        # set-up and deal alone give their speed-up, or messages take a part of it
        ("fig9b.scaling", searches(KEPT, KEPT, names=BOTH, even=True), "differs", False, ""),
        ("fig9b.scaling", searches(LOST, LOST, names=BOTH, even=True), "differs", True, ""),
        ("fig10.large-low", searches(linear(40), linear(40), names=PAIR), "differs", False, ""),
        ("fig10.large-low", searches(DROPS, linear(40), names=PAIR), "differs", True, ""),
        ("fig10.large-low", searches(linear(40), DROPS, names=PAIR), "agrees", False, ""),
        # blocks of a higher load fall less evenly on places, or it is for another reason
        ("fig10.load", loads(1), "differs", False, ""),
        ("fig10.load", loads(-1), "differs", True, ""),
        # dynamic takes most of its time for messages, or for its units
        ("fig6.dynamic-costly", native(mpb=(1, 2), none=(1, 0.9)), "differs", False, "2.00 of static"),
        ("fig6.dynamic-costly", native(mpb=(1, 2), none=(1, 1.1)), "differs", True, "2.00 of static"),
        # what is sent costs more on the native transport, or it is behind all the same
        ("fig6.rcce-best", native(2.0, **{"mpi-sock": (0.8, 1.0)}), "differs", False, ""),
        ("fig6.rcce-best", native(0.9, **{"mpi-sock": (0.8, 1.0)}), "differs", True, ""),
        ("fig6.rcce-best", native(fetch=2.0, **{"mpi-sock": (0.8, 1.0)}), "differs", True, ""),
        ("fig6.rcce-best", native(fetch=2.0, **{"mpi-sock": (1.0, 0.8)}), "differs", False, ""),
        ("fig6.rcce-best", native(fetch=0.9, **{"mpi-sock": (1.0, 0.8)}), "differs", True, ""),
        ("fig5a.aspirin", beside_messages(0.9, 0.9), "differs", False, ""),
        ("fig5a.aspirin", beside_messages(0.9999, 0.9999), "differs", True, ""),
        ("fig5.benzene-why", benzene(5.0, 0.9), "agrees", None, "of the speed-up lost"),
        ("fig5.benzene-why", benzene(5.0, 1.0), "differs", None, "of the speed-up lost"),
        ("fig5.benzene-why", benzene(500.0, 0.9), "differs", None, "of the speed-up lost"),
        ("sec5.conclusion", full(searches(linear(40), NEAR, linear(42), names=BOTH)), "agrees", None, ""),
        ("sec5.conclusion", searches(linear(40), NEAR, linear(42), names=BOTH), "differs", None,
         "sec4.3.2.memory differs"),
        ("sec5.conclusion", searches(SLOW, NEAR, linear(42), names=BOTH), "differs", None, "differs"),
    ],
)  # fmt: skip
def test_findings_follow_the_results(name, ds, expected, silent, told):
    """A reason holds where the results say so, and where it does not nothing explains them."""
    found = verdict(f"scc.{name}", Evidence({"a": ds}))
    assert expected in (None, found.verdict)
    assert silent in (None, bool(found.silent))
    assert silent is None or found.verdict != "differs" or bool(found.why) != silent
    assert told in found.ours


def test_findings_are_all_looked_for():
    kinds = [c for c in claims().values() if c.paper == "scc" and c.kind == "finding"]
    assert all(c.check != "none" for c in kinds)
    assert {r.verdict.verdict for r in judge(Evidence(), kinds)} == {"not checked"}
    assert all(scc.OURS[t] for t in ("RCCE-X10", "mpi-mpb", "mpi-sock", "sockets", "MPI"))
    assert scc_findings.TRACK < 1


def test_definitions_of_programs_hold():
    names = "sec4.2.1.hf fig3.mpi-path sec3.2.2.send sec3.2.1.extensions sec3.2.3.limits"
    for name in names.split():
        assert verdict(f"scc.{name}", Evidence()).verdict == "agrees", name


def test_a_wrong_path_of_messages_is_found(monkeypatch):
    monkeypatch.setattr(MPIMPB, "remote_write", False)
    assert verdict("scc.fig3.mpi-path", Evidence()).silent


ALL = (
    "messages in the sender's own buffer, sends that end when these are read, what comes meanwhile read and "
    "given when asked for, a piece once the one before is read"
)

SENDERS = [
    # who sends to one looks at its flags alone
    (OneChunk, "_ready", MPB._ready, ALL),
    # the next piece over the one before
    (
        OneChunk,
        "_room",
        lambda self: len(self._out) - (self._written - self._start) % len(self._out),
        ALL,
    ),
    (Buffers, "comm_class", MPIMPB, "messages in the sender's own buffer, sends that end"),
]


@pytest.mark.parametrize(("owner", "name", "other", "told"), SENDERS)
def test_a_sender_that_does_otherwise_is_found(owner, name, other, told, monkeypatch):
    """Which receives nothing while it waits, or does not wait between pieces, or has no buffer."""
    monkeypatch.setattr(scc_definitions, "PATIENCE", 1.0)
    monkeypatch.setattr(owner, name, other)
    found = verdict("scc.sec3.2.2.send", Evidence())
    assert found.silent
    assert f": all but {told}" in found.ours


def test_places_that_cannot_connect_end(monkeypatch):
    async def refuses(address):
        raise OSError(address)

    monkeypatch.setattr(scc_definitions, "PATIENCE", 1.0)
    monkeypatch.setattr(scc_definitions, "connect", refuses)
    found = verdict("scc.sec3.2.2.send", Evidence())
    assert found.silent
    assert ALL in found.ours


def when_asked(self):
    """A place reads when it is asked for a message, and while it sends."""
    MPB._ready(self)
    if self._reading is None and self._core is not None and self._core.turn.locked():
        self._take_in()


def test_a_receiver_is_the_papers_if_it_reads_when_asked_alone(monkeypatch):
    """Here a turn of its event loop is enough; one that sets flags early is another's again."""
    found = verdict("scc.sec3.2.2.receive", Evidence())
    assert (found.verdict, found.why) == ("differs", claims()["scc.sec3.2.2.receive"].why)
    monkeypatch.setattr(OneChunk, "_ready", when_asked)
    for name in ("send", "receive"):
        assert verdict(f"scc.sec3.2.2.{name}", Evidence()).verdict == "agrees"
    monkeypatch.setattr(OneChunk, "_thank", lambda self, more: self._tell())
    found = verdict("scc.sec3.2.2.receive", Evidence())
    assert found.ours.endswith(": all but a flag for each piece once it is read")
    assert found.silent


@pytest.mark.parametrize(
    ("name", "came", "told"),
    [
        ("sec3.2.1.extensions", [True, False, True], "all but a message of any place"),
        ("sec3.2.1.extensions", [False, True, True], "all but a probe that does not wait"),
        ("sec3.2.1.extensions", [True, True, False], "all but its kind and size"),
        ("sec3.2.3.limits", (0.1, 0.2, False), "0.2 ms behind 1048576 bytes"),
        ("sec3.2.3.limits", (0.2, 0.1, True), "0.1 ms behind 1048576 bytes"),
    ],
)
def test_messages_that_come_otherwise_are_found(monkeypatch, name, came, told):
    monkeypatch.setattr(scc_definitions, "talked", lambda *talks: [came, True, True])
    found = verdict(f"scc.{name}", Evidence())
    assert found.verdict == "differs"
    assert told in found.ours


@pytest.mark.parametrize(
    ("name", "at", "lacks"),
    [
        ("sec3.2.1.extensions", (0, 2), "a send while another comes"),
        ("sec3.2.2.send", (0, 1), "sends that end when these are read"),
        ("sec3.2.2.send", (0, 2), "what comes meanwhile read and given when asked for"),
        ("sec3.2.2.send", (0, 3), "a piece once the one before is read"),
        ("sec3.2.2.receive", (1, 2), "whole messages"),
    ],
)
def test_what_is_not_seen_is_told(monkeypatch, name, at, lacks):
    so = [[True] * 4, [True] * 3, None]
    so[at[0]][at[1]] = False
    monkeypatch.setattr(scc_definitions, "_sent_and_received", lambda: so)
    found = verdict(f"scc.{name}", Evidence())
    assert found.silent
    assert found.ours.endswith(f": all but {lacks}")


def test_a_buffer_of_another_size_is_found(monkeypatch):
    monkeypatch.setitem(scc_definitions.AS_ON_THE_CHIP, "places", 40)
    assert verdict("scc.sec3.2.2.send", Evidence()).silent
    assert verdict("scc.sec3.2.2.receive", Evidence()).silent


@pytest.mark.long
def test_a_wrong_fock_matrix_is_found(monkeypatch):
    pytest.importorskip("pyscf")
    from dgsuite.studies.chem import fock

    monkeypatch.setattr(fock.Fock, "matrix", lambda self: self.coulomb + self.coulomb.T)
    assert verdict("scc.sec4.2.1.hf", Evidence()).silent


def test_more_work_than_brandes_is_found(monkeypatch):
    ran = xr.Dataset({"scanned": 10**7})
    monkeypatch.setattr(scc_definitions.dgsuite, "run", lambda *_, **__: ran)
    assert verdict("scc.sec4.2.2.brandes", Evidence(shipped())).silent
