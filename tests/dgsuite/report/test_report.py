"""The page of results: self-contained, honest, and clear about what is wrong."""

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr

import dgsuite
from dgsuite import genval
from dgsuite.base import netcdf
from dgsuite.studies.experiment.combining import combine
from dgsuite.studies.report.claims.data import claims
from dgsuite.studies.report.claims.evidence import Evidence
from dgsuite.studies.report.claims.judge import judge
from dgsuite.studies.report.claims.verdicts import CHECKS
from dgsuite.studies.report.draw import framed
from dgsuite.studies.report.page import page
from dgsuite.studies.report.results import collect
from dgsuite.studies.report.statistics import Interval, interval, ratio
from dgsuite.studies.report.sweeps import sweep
from tests.support import mains

pytestmark = pytest.mark.usefixtures("quickly_judged")


class Page(HTMLParser):
    """What a page has: its tags, balanced, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sources, self.tags, self.text = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [v for k, v in attrs if k in ("src", "href", "data", "srcset")]
        if tag not in ("meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def runs(kernel, kind, **how):
    graph = genval.graph(kind, 16, family="paper", kernel=kernel)
    ds = dgsuite.run(kernel, graph, style="serial", count_as="clocked", faithful=True, **how)
    return ds.assign_attrs(kind=kind, count_as="clocked", repeat=0, threads=1)


@pytest.fixture
def shown(tmp_path, capsys):
    """The text of the page of some datasets, by the names of their files."""

    def show(**datasets):
        for name, ds in datasets.items():
            dgsuite.save(ds, tmp_path / f"{name}.nc")
        assert mains.report([str(tmp_path)]) == 0
        return (tmp_path / "report.html").read_text()

    return show


def figure(number, some, **how):
    return collect(number, some, **{"command": "c", "setting": "quick"} | how)


@pytest.mark.long
def test_a_page_needs_nothing_else(here, tmp_path):
    some = [runs("bf", "mn"), runs("bf", "mx"), runs("mis", "mn"), runs("mis", "mx")]
    for number in (7, 9, 19):
        made = figure(number, some, command=f"python -m dgsuite.experiment <{number}>")
        dgsuite.save(made, tmp_path / f"figure{number:02}.nc")
    dgsuite.save(some[0], tmp_path / "other.nc")
    done = here(mains.report, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'report.html'}\n"
    page = Page((tmp_path / "report.html").read_text())
    assert page.tags.count("svg") == 3  # two figures, and the rounds of another run
    assert all(s.startswith("#") for s in page.sources)
    assert "script" not in page.tags
    text = " ".join(page.text)
    assert "url(" not in text
    said = """Figure 9. Communication in each round
What the papers say
HJ-FA: iterative, BF, BY, DP, DR, DS, DST, KC, MIS, MST, VC kernels
repeats: 1 instead of 30
Figure 19. Mx-In against Mn-In
In the text of kernels:
python -m dgsuite.experiment <19>
other.nc
where the paper has another number
dgsuite run configs/figure14.toml"""
    assert [words for words in said.splitlines() if words not in text] == []


def test_a_sweep_of_ones_own(shown, not_judged):
    """The title is the sweep's; repeats are a row and a dot, numbers are aligned, and no paper is named."""
    made = [
        runs("bf", kind).assign_attrs(style=style, repeat=repeat, seconds=seconds * factor)
        for kind, factor in (("mn", 1), ("mx", 100))
        for style, times in (("serial", (0.001, 0.002, 0.003)), ("clocked", (0.004,) * 3))
        for repeat, seconds in enumerate(times)
    ]
    ds = combine(made)
    page = shown(mine=ds)
    assert "<title>dgsuite: Results of mine</title>" in page
    assert "IMSuite" not in page
    assert page.count("<svg") == 1
    assert '<td class="number">2 ± 2.48</td><td>mn</td>' in page
    found = sweep("mine.nc", ds)
    assert found.table.heads == ["kernel", "n", "style", "ms", "kind", "messages", "comm", "runs"]
    assert found.table.numeric == {1, 3, 5, 6, 7}
    assert [row[3] for row in found.table.rows] == ["2 ± 2.48", "4 ± 0", "200 ± 248", "400 ± 0"]


@pytest.mark.parametrize("factor", [1, 1000])
def test_frames_hold_error_bars(factor):
    """Caps are within the frame; bars begin at 0, or where values differ much at the base."""
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    shown = [Interval(2.0, 1.5, 3), Interval(3.0 * factor, 2.0 * factor, 3), Interval(0.5, 0.4, 3)]
    floor = framed(ax, "y", shown, base=1)
    low, high = ax.get_ylim()
    assert low <= min(t.mean - t.half for t in shown) < max(t.mean + t.half for t in shown) < high
    assert (floor, ax.get_yscale()) == ((0, "linear") if factor == 1 else (1, "log"))


def test_each_claim_is_a_click_away(shown, not_judged):
    """From the first screen, and from the section of its figure."""
    text = shown(figure09=figure(9, [runs("bf", kind) for kind in ("mn", "mx")]))
    places = Counter(re.findall(r'id="([^"]+)"', text))
    links = Counter(source[1:] for source in Page(text).sources)
    assert set(places.values()) == {1}
    assert links.keys() <= places.keys()
    assert claims().keys() <= links.keys()
    assert links["imsuite.fig9.similar"] >= 3  # the map, the figure, and its own row


def spoilt(number, spoil):
    """Makes a dataset in a folder that is not as ours."""

    def make(folder):
        run = runs("bf", "mn")
        dgsuite.save(spoil(figure(number, [run]) if number else run), folder / "a.nc")

    return make


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f.rmdir(), "results' does not exist"),
        (lambda f: None, "holds no results (*.nc)"),
        (lambda f: (f / "a.nc").write_text("no NetCDF"), "a.nc: not a NetCDF file"),
        (
            lambda f: netcdf.write(xr.Dataset({"a": 1}), f / "a.nc"),
            "a.nc: not a dataset of dgsuite",
        ),
        (spoilt(0, lambda ds: ds.assign_attrs(figure=99)), "no figure 99; those that are: 7,"),
        (spoilt(9, lambda ds: ds.assign_attrs(figure="nine")), "cannot be shown: invalid literal"),
        (spoilt(9, lambda ds: ds.drop_vars("count_as")), "'count_as' is missing or unknown"),
        (spoilt(19, lambda ds: ds.drop_vars("seconds")), "'seconds' is missing or unknown"),
        (spoilt(7, lambda ds: ds.drop_dims("cell")), "'cell_kernel' is missing or unknown"),
        (spoilt(0, lambda ds: ds[[]].assign(messages="many")), "must be numbers, not <U4"),
    ],
)
def test_bad_folders(tmp_path, make, message, capsys, not_judged):
    """What is not as ours is named with the reason."""
    folder = tmp_path / "results"
    folder.mkdir()
    make(folder)
    assert mains.report([str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert not list(tmp_path.rglob("*.html"))


def test_what_cannot_be_read_is_left_out(tmp_path, capsys, shown, not_judged):
    good = runs("bf", "mn")
    dgsuite.save(good, tmp_path / "cut.nc")
    (tmp_path / "cut.nc").write_bytes((tmp_path / "cut.nc").read_bytes()[:2000])
    text = shown(good=good, foreign=good.assign_attrs(figure=99))
    cut, foreign = capsys.readouterr().err.splitlines()
    assert cut.startswith(f"left out: {tmp_path / 'cut.nc'}: not a NetCDF file")
    assert foreign.startswith(f"left out: {tmp_path / 'foreign.nc'}: there is no figure 99")
    (section,) = re.findall(r"<h2>Left out</h2>.*?</section>", text, re.DOTALL)
    assert "foreign.nc: there is no figure 99; those that are: 7," in section
    assert "good.nc" in text.replace(section, "")


@pytest.mark.parametrize("folder", ["no", "/proc"])
def test_no_place_for_the_page(tmp_path, capsys, folder):
    dgsuite.save(runs("bf", "mn"), tmp_path / "a.nc")
    assert mains.report([str(tmp_path), "--output", str(tmp_path / folder / "page.html")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{folder} " in line


@pytest.mark.parametrize("kind", [AttributeError, TypeError, IndexError, ZeroDivisionError])
@pytest.mark.parametrize("where", ["sweep", "judge"])
def test_a_mistake_of_ours_is_no_reason_to_leave_a_file_out(tmp_path, monkeypatch, where, kind):
    """Nor to know nothing of a claim."""

    def fails(*given):
        raise kind("a mistake")

    good, claim = {"good.nc": runs("bf", "mn")}, next(iter(claims().values()))
    monkeypatch.setattr("dgsuite.studies.report.page.sweep", fails)
    monkeypatch.setitem(CHECKS, claim.check, fails)
    with pytest.raises(kind, match="a mistake"):
        page(good) if where == "sweep" else judge(Evidence(good), [claim])


def test_each_figure_names_its_own_machine_and_care(shown, not_judged):
    """Names that are markup are shown."""
    some = [runs("bf", kind).assign_attrs(kernel="[/b]<i>$_") for kind in ("mn", "mx")]
    nine, nineteen = (
        figure(number, some, fresh=1, warmup=warmup).assign_attrs(machine=machine)
        for number, machine, warmup in ((9, "an abacus, 9 p", 0), (19, "a sundial, 19 p", 1))
    )
    parts = Page(shown(figure9=nine, figure19=nineteen)).text
    assert " ".join(parts).count("[/B]<I>$_") >= 4
    text = "".join(parts)
    _, nine, nineteen = re.split(r"(?=Figure 9\. )|(?=Figure 19\. )", text)
    assert "Machine: an abacus, 9 p" in nine
    assert "Machine: a sundial, 19 p" in nineteen
    assert "1 of each, on worker processes of their own; quick setting" in nine
    assert "processes of their own, after a run that does not count; quick" in nineteen


def test_intervals():
    """Student's t of two degrees of freedom, by the table: 4.3027."""
    found = interval([1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.half == pytest.approx(4.3027 / np.sqrt(3), rel=1e-4)
    assert np.isnan(interval([7.0]).half)
    both = ratio(found, interval([4.0, 4.0, 4.0]))
    assert both.mean == 0.5
    assert both.half == pytest.approx(found.half / 4)
    rng = np.random.default_rng(5)
    held = [abs(i.mean - 3) <= i.half for i in map(interval, rng.normal(3, 1, (4000, 5)))]
    assert np.mean(held) == pytest.approx(0.95, abs=0.01)
    assert re.fullmatch(r"2 ± 2\.5", str(found))
