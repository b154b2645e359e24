"""Forged checkpoints and results: right checksums, wrong content. An error names the file."""

import io
import json

import dask
import h5py
import numpy as np
import pytest

import dgsuite
from dgsuite import InputError
from dgsuite.base import netcdf
from dgsuite.core.engine.checkpoint import state_of
from dgsuite.kernels import KERNELS
from tests.support import forging


def run(folder, **given):
    graph = dgsuite.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], clusters=2)
    with dask.config.set({"dgsuite.checkpoint.every": 0}):
        return dgsuite.run("bfs", graph, style="serial", checkpoint=str(folder), **given)


@pytest.fixture
def stopped(tmp_path):
    """A folder with one checkpoint of a run that was broken off."""
    with pytest.raises(dgsuite.RunError):
        run(tmp_path, max_rounds=2)
    newest = max(path.name[:14] for path in tmp_path.glob("phase-*"))
    for path in tmp_path.glob("phase-*"):
        if not path.name.startswith(newest):
            path.unlink()
    return tmp_path


def forge(folder, pattern, change):
    """Change the arrays of the file, or the facts of the list, with such a name."""
    (path,) = folder.glob(pattern)
    found = {each.name: each.read_bytes() for each in folder.iterdir()}
    if path.suffix == ".json":
        whole = json.loads(found[path.name])
        change(whole["checkpoint"])
        found[path.name] = forging.signed(whole)
    else:
        with np.load(io.BytesIO(found[path.name])) as arrays:
            held = dict(arrays)
        change(held)
        out = io.BytesIO()
        np.savez(out, **held)
        found[path.name] = out.getvalue()
        found = forging.settled(found)
    for name, content in found.items():
        (folder / name).write_bytes(content)


def in_tree(key, change):
    """A change of the tree of values, as text of JSON, of an archive."""

    def changed(arrays):
        tree = json.loads(arrays[key].tobytes())
        text = json.dumps(change(tree, arrays) or tree)
        arrays[key] = np.frombuffer(text.encode(), np.uint8)

    return changed


def attribute(name, function):
    """A change of an array of the first cluster's state."""

    def change(tree, arrays):
        found = dict(tree["dict"])
        held = found["state"]["attributes"][name]
        key = f"0.a{held['array']}"
        arrays[key] = function(arrays[key])

    return in_tree("0.tree", change)


def state(function):
    def change(tree, arrays):
        found = dict(tree["dict"])
        function(found["state"])

    return in_tree("0.tree", change)


def of_class(name):
    return state(lambda found: found.update({"class": name}))


def log(name, value):
    return in_tree("about", lambda tree, arrays: {**tree, name: value})


def rows(name, value):
    from dgsuite.core.engine.log import row_format

    def change(arrays):
        table = np.frombuffer(arrays["rows"].tobytes(), row_format(2)[0]).copy()
        table[name][-1] = value
        arrays["rows"] = np.frombuffer(table.tobytes(), np.uint8)

    return change


CASES = {
    "dtype of a state": ("*states*", attribute("level", np.float64), "level must have dtype int32"),
    "length of a state": ("*states*", attribute("level", lambda v: v[1:]), "level must have dtype"),
    "dimensions": ("*states*", attribute("level", lambda v: v[None]), "level must have dtype"),
    "an attribute": ("*states*", state(lambda s: s["attributes"].pop("level")), "has no 'level'"),
    "another class": (
        *("*states*", of_class("dgsuite.kernels.bsp.state:ClusterState")),
        "a state must be a|is damaged or forged",
    ),
    "a class of the system": ("*states*", of_class("os:stat_result"), "not a class of the kernel"),
    "its class": (
        *("*states*", state(lambda s: s["attributes"].update(__class__=1))),
        "has no attribute '__class__'",
    ),
    "votes": ("*log*", log("votes", [[1, 0, None, None, 0]]), "is no vote"),
    "no votes": ("*log*", log("votes", []), "a vote for each phase"),
    "names": ("*log*", log("names", []), "phases must have names"),
    "rounds": ("*log*", rows("round", 2**40), "each round of the log must follow"),
    "phases": ("*log*", rows("phase", -1), "phases must have names"),
    "offsets": ("*site*", lambda facts: facts.update(offsets=[0, 9, 6]), "offsets must go"),
    "nodes": ("*site*", lambda facts: facts.update(offsets=[0, 3, 7]), "offsets must end at 6"),
    "more clusters": ("*site*", lambda facts: facts.update(clusters=[0, 3]), "of 3 clusters"),
    "other clusters": ("*site*", lambda facts: facts.update(clusters=[1, 2]), "follow each other"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_forged_checkpoint_is_refused(stopped, case):
    pattern, change, message = CASES[case]
    forge(stopped, pattern, change)
    with pytest.raises(InputError, match=message) as error:
        run(stopped)
    assert str(stopped) in str(error.value)


def test_an_entry_elsewhere_is_left_out(stopped, caplog):
    forge(stopped, "*site*", lambda facts: facts["states"].update(file="../states-0.npz"))
    assert run(stopped).level.values.tolist() == [0, 1, 2, 3, 4, 5]
    assert "'../states-0.npz'; files have names such as" in caplog.text


@pytest.fixture
def result(tmp_path):
    path = tmp_path / "r.nc"
    graph = dgsuite.Graph.from_edges(["a", "b"], ["b", "c"], relabel=True)
    dgsuite.save(dgsuite.run("bfs", graph, style="serial"), path)
    return path


def changed(path, change):
    made = io.BytesIO(path.read_bytes()[: -netcdf.TRAILER])
    with h5py.File(made, "a") as file:
        change(file)
    path.write_bytes(forging.sealed(made.getvalue()))


def lengthened(file):
    """A value more than nodes, of a variable by node."""
    values = file["level"][:]
    del file["level"]
    file.create_dataset("level", data=np.append(values, 0)).dims[0].attach_scale(file["node"])


RESULTS = {
    "lengths": (lengthened, "level has shape"),
    "dimensions that are no references": (
        lambda file: file["level"].attrs.__setitem__("DIMENSION_LIST", [1]),
        "the dimensions of /level are no references",
    ),
    "many bytes": (
        lambda file: file.create_dataset("x", (2**40,), "f8", chunks=(1024,), compression="gzip"),
        "it declares .* bytes of arrays",
    ),
    "text": (lambda file: file.attrs.__setitem__("kernel", 5), "attribute kernel cannot be"),
    "a size": (lambda file: file.attrs.__setitem__("n", "many"), "attribute n cannot be 'many'"),
    "sizes": (lambda file: file.attrs.__setitem__("cluster_sizes", "[-1]"), "cluster_sizes cannot"),
}


@pytest.mark.parametrize("case", RESULTS)
def test_a_forged_result_is_refused(result, case):
    change, message = RESULTS[case]
    changed(result, change)
    with pytest.raises(InputError, match=message) as error:
        dgsuite.open(result)
    assert str(result) in str(error.value)


@pytest.mark.parametrize("name", ["n", "workers", "title", "seconds"])
def test_a_summary_names_what_is_missing(result, name):
    changed(result, lambda file: file.attrs.__delitem__(name))
    with pytest.raises(InputError, match=f"without the attribute .{name}. is not of a run"):
        dgsuite.open(result).dgsuite.summary()


def test_a_summary_names_a_variable_that_is_missing(result):
    ds = dgsuite.open(result)
    for wrong in (ds.drop_vars("exchange_seconds"), ds.sum("cluster", keep_attrs=True)):
        with pytest.raises(InputError, match="seconds by round and cluster"):
            wrong.dgsuite.summary()


LINKS = {
    "degree": (np.zeros(6, np.int64), "links must count 6 nodes"),
    "remote": (np.array(5, np.int32), "links must count 6 nodes"),
    "gone": (np.zeros(2, bool), "links must be of 10 edges"),
    "_entries": (7, "links must be of 10 edges"),
}


@pytest.mark.parametrize("name", LINKS)
def test_live_links_of_another_cluster_are_refused(name):
    (cluster,) = dgsuite.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], clusters=1).gather()
    first, found = (KERNELS["mis"]().first_state(cluster) for _ in range(2))
    assert state_of(found, first, cluster) is found
    value, message = LINKS[name]
    setattr(found.links, name, value)
    with pytest.raises(ValueError, match=message):
        state_of(found, first, cluster)
