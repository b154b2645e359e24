"""How a network with faults, an adversary or delays takes part in a run.

The engine calls these methods, and knows nothing else of networks. `dgsuite.studies.network` has what
`dgsuite.Network` offers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.clusters.halo import Halo

Target = tuple[float, int, int]
"""Something that an adversary may strike: its score, a node, and a neighbour or -1."""

Strikes = tuple[tuple[int, int], ...]
"""What is struck: nodes, and neighbours or -1."""


class Fate(Protocol):
    """What becomes of the messages of one phase, by sender and receiver."""

    @property
    def by_message(self) -> bool:
        """Whether messages have to be looked at one by one."""

    def arrives(self, src: NDArray, dst: NDArray) -> tuple[NDArray, NDArray]:
        """Which messages arrive, perhaps some twice; and how many were struck, by kind."""

    def comes(self, src: NDArray, dst: NDArray) -> NDArray:
        """Which messages arrive: bool."""

    def told(self, fields: Mapping[str, NDArray], src: NDArray, dst: NDArray) -> dict[str, NDArray]:
        """The fields of messages as they arrive; empty if all are as they were sent."""

    def sieve(self, halo: Halo, sent: NDArray, starts: NDArray, kept: NDArray) -> NDArray:
        """Put the entries along which messages arrive into rows; returns how many were struck, by kind."""


class SiteFaults(Protocol):
    """The faults of a run at one site: they see what it computes, sends and receives."""

    def warm(self, halo: Halo) -> None:
        """Load compiled loops."""

    def begin(self, step: Any) -> None:
        """Before a phase; may be called again."""

    def before(self, step: Any, k: int, state: Any) -> None:
        """Before a phase of the site's k-th cluster."""

    def after(self, step: Any, k: int, state: Any, result: Any) -> Any:
        """What the k-th cluster sends, given what it returned from a phase."""

    def alive(self, nodes: NDArray) -> NDArray:
        """Which nodes had not crashed before the phase sent anything: bool."""

    def along(self, messages: Any) -> tuple[Any, Any]:
        """Those unicasts that arrive, before they are combined, and which these are."""

    def hear(self, arriving: Any) -> None:
        """Note the broadcasts that arrive, and set what becomes of them."""

    def frozen(self, k: int, name: str, value: Any) -> Any:
        """An output of the k-th cluster."""

    def strikes(self) -> dict[str, int]:
        """What took effect since the phase began, or since the last call, by name."""

    def notes(self) -> dict[str, list[int]]:
        """What took effect in each phase, by name."""


class Campaign(Protocol):
    """What an adversary strikes in each round of a run: every driver of the program finds the same."""

    @property
    def watches(self) -> bool:
        """Whether that depends on what clusters name as targets."""
        ...

    def strike(self, round: int, targets: Iterable[Target] = ()) -> Strikes:
        """What is struck in a round, given what the clusters named after the turn before."""


class Faults(Protocol):
    """The faults of a run. All sites get the same, in a pickle."""

    @property
    def spares(self) -> bool:
        """Whether outputs are those of a run without faults."""
        ...

    def at_site(self, kernel: Kernel, clusters: Sequence[Cluster], fault: Any) -> SiteFaults:
        """The faults at a site."""

    def campaign(self, seed: int) -> Campaign | None:
        """What an adversary strikes in a run with a seed, if there is one."""


class Network(ABC):
    """What ``dgsuite.run(..., network=)`` takes."""

    @abstractmethod
    def fitted(self, options: Any, kernel: Kernel) -> Kernel:
        """A kernel as it runs on the network; `InputError` if it, or an option, does not go with it."""

    @abstractmethod
    def part(self, graph: Any, kernel: Kernel) -> dict[str, Any]:
        """The fields `max_rounds`, `faults` and `channel` of the run's `RunSpec`."""

    @abstractmethod
    def found(
        self, faults: Any, kernel: Kernel, n: int, log: Any
    ) -> dict[str, tuple[tuple[str, ...], NDArray, str]]:
        """Variables and coordinates of the result: dimensions ("" for that of the counts), values, and a
        description.
        """

    @abstractmethod
    def described(self) -> str:
        """What it is, as JSON."""

    @abstractmethod
    def timed(
        self,
        run: Callable[..., Any],
        dataset: Any,
        log: Any,
        graph: Any,
        spec: Any,
        kernel: Kernel,
        **how: Any,
    ) -> Any:
        """The dataset of a run, with the times of its rounds if messages take time.

        Parameters
        ----------
        run, how
            `dgsuite.run`, and options for it.
        """


def network_of(given: Any) -> Network | None:
    """The network that a run names: one, its parameters, or None.

    Parameters are of the network that the entry point "network" in the group `dgsuite.networks` names.

    Raises
    ------
    InputError
        It is none of these.
    """
    if given is None or isinstance(given, Network):
        return given
    (offered,) = entry_points(group="dgsuite.networks", name="network")
    found: Network = offered.load().of(given)
    return found
