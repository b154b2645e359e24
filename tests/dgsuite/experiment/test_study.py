"""``dgsuite study``: steps in processes of their own, kept results, and what fails."""

import json
import signal
import time
from hashlib import sha256

import psutil
import pytest

from dgsuite.__main__ import main
from dgsuite.faces.cli.app import app
from dgsuite.studies import study
from dgsuite.studies.experiment import shipped
from dgsuite.studies.study import NOTES, STEPS, Step, Study, chosen
from tests.support.patience import PATIENCE
from tests.support.processes import begun


def test_every_figure_that_ships_is_a_step():
    figures = {name for name in shipped.names() if "figure]" in shipped.find(name).read_text()}
    steps = [step.name for step in STEPS]
    assert figures <= set(steps) <= {*shipped.names(), "scalability-simulated"}
    assert len(steps) == len(set(steps))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_steps_are_commands_that_there_are(step, full, tmp_path, capsys):
    """With options that they have; --help ends them before they run."""
    with pytest.raises(SystemExit) as ended:
        app.main([*step.arguments(tmp_path, full), "--help"])
    assert ended.value.code == 0
    assert "Usage: " in capsys.readouterr().out


def test_a_study_goes_on_where_it_ended(tmp_path, capfd, not_judged):
    """Called in this process; its step is one of its own, and says where its results are."""
    found = []
    for _ in range(2):
        assert main(["study", "figure09", "-o", str(tmp_path)]) == 0
        found.append(capfd.readouterr())
    first, again = found
    assert first.out.splitlines() == [str(tmp_path / n) for n in ("figure09.nc", "report.html")]
    assert "1 of 1: figure09" in first.err
    note = json.loads((tmp_path / NOTES).read_text())["figure09"]
    assert note["minutes"] > 0
    assert note["sha256"] == sha256((tmp_path / "figure09.nc").read_bytes()).hexdigest()
    assert again.out.splitlines() == [str(tmp_path / "report.html")]
    assert main(["study", "--all", "--dry-run", "-o", str(tmp_path)]) == 0
    told = capfd.readouterr().out.splitlines()
    assert len(told) == len(STEPS)
    assert [line.split()[0] for line in told if line.endswith("done")] == ["figure09"]
    assert main(["study", "-o", str(tmp_path)]) == 0  # without names it lists them
    assert capfd.readouterr().out.splitlines() == told
    (tmp_path / "figure09.nc").unlink()
    assert not Study(tmp_path).done(chosen(["figure09"])[0])


WRONG = [
    (["figure09", "--all"], "give either names of steps or --all"),
    (["figure9"], "unknown step 'figure9'; did you mean 'figure09'"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_arguments(here, arguments, said):
    done = here(main, "study", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_step_that_fails_does_not_keep_the_others_from_running(tmp_path, monkeypatch):
    steps = [Step("nothing", "run", 1), chosen(["figure09"])[0]]
    less = 'run=[{kernel="mis", style="serial", count_as="clocked", n=64, kind="mn"}]'
    options = ["-q", "--set", less, "--set", "experiment.plot=false"]
    whole = Study(tmp_path)
    assert whole.estimate(steps) == 1 + steps[1].minutes
    ended = [(step.name, bool(status)) for step, status in whole.run(steps, options)]
    assert ended == [("nothing", True), ("figure09", False)]
    assert [whole.done(step) for step in steps] == [False, True]
    notes = json.loads((tmp_path / NOTES).read_text())
    assert whole.minutes(steps[1]) == notes["figure09"]["minutes"]
    monkeypatch.setattr(study, "fingerprint", lambda: "other")
    assert not Study(tmp_path).done(steps[1])


def test_a_signal_ends_the_step_too(tmp_path):
    """Also where SIGINT is ignored, as in a shell's background job."""
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    command = ["-m", "dgsuite", "study", "figure14", "-o", tmp_path]
    with begun(*command, preexec_fn=ignore) as running:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not psutil.Process(running.pid).children():
            time.sleep(0.1)
        inner = psutil.Process(running.pid).children()
        time.sleep(3)
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 128 + signal.SIGTERM
        _, alive = psutil.wait_procs(inner, timeout=30)
        assert inner
        assert not alive
        assert "the same command goes on from here" in running.stderr.read()
