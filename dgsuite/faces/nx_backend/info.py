"""What networkx reads when it is imported: the functions of the backend, and its configuration."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from dgsuite.base.aliases import ALIASES
from dgsuite.base.names import STYLES
from dgsuite.faces.nx_backend.offers import ANSWERS, EXPORTS, MAKERS

PARAMETERS = {
    "style : str, optional": f"Style of the run: {', '.join(STYLES)}.",
    "client : distributed.Client, optional": "Dask client whose workers take part.",
    "clusters : int, optional": "Number of clusters that the graph is divided into.",
}


def settings() -> Any:
    """The configuration at first, which networkx keeps as ``nx.config.backends.dgsuite``."""
    # here, since networkx may be what imports this module
    try:
        from networkx.utils.configs import Config
    except ImportError:
        # networkx 3.4 asks before it has the class, and makes a configuration that checks nothing
        return dict.fromkeys(("style", "client", "clusters", "threshold"))

    class Settings(Config):
        """Configuration of the backend, ``nx.config.backends.dgsuite``.

        Parameters
        ----------
        style
            Style of runs, as in `dgsuite.run`; None lets dgsuite choose.
        client
            Dask client whose workers hold graphs and take part in runs; None means the current one, if any.
        clusters
            Number of clusters that graphs are divided into; None means one for each worker.
        threshold
            Nodes and edges together from which a graph is converted without being asked for; 0 converts all
            graphs, None takes what was measured for each function.
        """

        __qualname__ = "Settings"  # in its repr
        style: str | None = None
        client: Any = None
        clusters: int | None = None
        threshold: int | None = None

        def _on_setattr(self, key: str, value: Any) -> Any:
            if value is None:
                return value
            if key == "style" and value not in STYLES:
                raise ValueError(f"style must be None or one of {', '.join(STYLES)}, got {value!r}")
            least = {"clusters": 1, "threshold": 0}.get(key)
            if least is not None and (type(value) is not int or value < least):
                raise ValueError(
                    f"{key} must be None or a whole number from {least} on, got {value!r}"
                )
            return value

    return Settings()


def get_info() -> dict[str, Any]:
    """Description of the backend, in the form that networkx documents."""
    home = documentation()
    url = {} if home is None else {"url": f"{home.rstrip('/')}/networkx.html"}
    answers = {
        name: {"additional_docs": answer(name), "additional_parameters": PARAMETERS, **url}
        for name in ANSWERS
    }
    return {
        "backend_name": "dgsuite",
        "project": "dgsuite",
        "package": "dgsuite",
        "short_summary": "Data-parallel algorithms on the workers of a Dask cluster, or in this process.",
        "default_config": settings(),
        "functions": {
            **answers,
            **{name: {"additional_docs": EXPORTED, **url} for name in EXPORTS},
            **{name: {"additional_docs": MADE, **url} for name in MAKERS},
        },
    }


MADE = (
    "The graph is the one that networkx makes. It gets its dictionaries when these are looked at first, "
    "which functions of dgsuite do not do."
)

EXPORTED = "A graph of the backend is first converted to one of networkx."


def answer(name: str) -> str:
    """What networkx's documentation says of a function that a kernel answers."""
    kernel = ALIASES.get(name)
    return f"Answered by {f'the kernel ``{kernel}``' if kernel else 'a kernel of dgsuite'}."


@cache
def documentation() -> str | None:
    """The address of the pages, from the metadata of the package."""
    try:
        urls = metadata("dgsuite").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = (entry.partition(",") for entry in urls)
    return {name.strip().lower(): url.strip() for name, _, url in named}.get("documentation")
