"""IMSuite's input files, as our generators make them; their digests are in ``data/``."""

import re

from dgsuite.genval import generate
from dgsuite.genval.imsuite import kinds
from tests.support.paths import DATA

FAMILIES = {
    "bfs": ("bf", "dst"),
    "byzantine": ("by",),
    "mis-ds": ("mis", "ds"),
    "kcommittee": ("kc",),
    "leader-dp": ("dp",),
    "routing": ("dr",),
    "mst": ("mst",),
    "coloring": ("vc",),
    "ring": ("lcr", "hs"),
}
ORIGINALS = {
    "bfsBellman": "bf",
    "bfsDijkstra": "dst",
    "byzantine": "by",
    "dijkstraRouting": "dr",
    "dominatingSet": "ds",
    "kcommitte": "kc",
    "leader_elect_dp": "dp",
    "leader_elect_hs": "hs",
    "leader_elect_lcr": "lcr",
    "mis": "mis",
    "mst": "mst",
    "vertexColoring": "vc",
}


def generated_name(path):
    """Kernels, n, kind and options that a generated file's name tells."""
    family, size, *rest = path.stem.split("_")
    kind, chosen = None, {}
    for word in rest:
        if word in ("weq", "wrn"):
            chosen["weights"] = word
        elif found := re.fullmatch(r"(max|k|s)(\d+)", word):
            chosen[{"s": "seed"}.get(found[1], found[1])] = int(found[2])
        else:
            kind = word
    return FAMILIES[family], int(size[1:]), kind, chosen


def released(path):
    """The file that a released file's name stands for."""
    kernel = next(k for start, k in ORIGINALS.items() if path.name.startswith(f"input{start}"))
    words = path.stem.replace("-", "").split("_")
    n = next(int(word) for word in words if word.isdigit())
    chosen = {}
    if kernel == "dr":
        chosen["weights"] = next((word for word in words if word in ("weq", "wrn")), None)
    kind = next((word for word in words if word in kinds(kernel)), None)
    for word, tree, colouring in (("max", "spmax", "star"), ("min", "spmin", "chain")):
        if word in words:
            kind = colouring if kernel == "vc" else tree
    if kernel == "kc":
        # the smaller files were made without a K, the others with 3
        chosen["k"] = None if n < 64 else 3
    if kernel == "mst" and kind == "spmin" and n >= 64:
        kind = "spmax"  # the release has a copy under this name
    if path.stem == "inputdijkstraRouting_64_-spmax":
        # not of the generator: no edges at all
        lines = generate("dr", 64, "spmax", weights="weq").split(b"\n")
        return b"\n".join([b"64", *[b"0" * 64] * 64, *lines[65:]])
    content = generate(kernel, n, kind, **chosen)
    if kernel == "ds" and kind in ("cplt", "rn"):
        content = content.replace(b"\n", b"", 1)  # an older generator forgot the line break
    return content


def write_all(folder):
    """Write every file that has a digest below a folder, under its name."""
    listed = DATA / "imsuite.sha256"
    for line in listed.read_text().splitlines():
        path = folder / line.split()[1]
        path.parent.mkdir(exist_ok=True)
        if path.parent.name == "generated":
            kernels, n, kind, chosen = generated_name(path)
            path.write_bytes(generate(kernels[0], n, kind, **chosen))
        else:
            path.write_bytes(released(path))
