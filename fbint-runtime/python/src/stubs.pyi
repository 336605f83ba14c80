from collections.abc import Iterator, Sequence
from inspect import Signature
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = [{names}]

__version__: str

def stubs() -> str: ...
{model}
class Trajectory:
    @property
    def t(self) -> NDArray[numpy.float64]: ...
    def keys(self) -> list[str]: ...
    def __getitem__(self, name: str, /) -> NDArray[numpy.float64]: ...
    def __getattr__(self, name: str, /) -> NDArray[numpy.float64]: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __dir__(self) -> list[str]: ...

@final
class Run(Trajectory):
    @property
    def drift(self) -> dict[str, float]: ...
    @property
    def steps(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def ended_by(self) -> str | None: ...
    @property
    def events(self) -> tuple[Event, ...]: ...
    # The state at a time, of shape (n,), or at k times, (k, n), of a run with dense_output=True.
    def __call__(self, /, t: ArrayLike) -> NDArray[numpy.float64]: ...
    def plot(self, path: str | PathLike[str], of: str | Sequence[str] | None = None, *, force: bool = False) -> None: ...
    def animate(self, path: str | PathLike[str], *, force: bool = False) -> None: ...
    def _repr_svg_(self) -> str: ...

class Event(NamedTuple):
    name: str
    t: float
    state: NDArray[numpy.float64]
    reset: NDArray[numpy.float64] | None

class RunFailed(RuntimeError):
    trajectory: Trajectory

class Ensemble(NamedTuple):
    names: list[str]
    ends: NDArray[numpy.float64]
    drawn: dict[str, NDArray[numpy.float64]]
    errors: dict[int, str]
    statistics: Statistics

class Statistics(NamedTuple):
    t: NDArray[numpy.float64]
    members: NDArray[numpy.int64]
    mean: NDArray[numpy.float64]
    variance: NDArray[numpy.float64]
    min: NDArray[numpy.float64]
    max: NDArray[numpy.float64]

class Model:
    name: ClassVar[str]
    def __new__(cls, **parameters: ArrayLike) -> Model: ...
    def run(
        self,
        until: float = 10.0,
        *,
        method: Literal[{methods}] = "rk4",
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        max_steps: int | None = None,
        every: float | None = None,
        t_eval: ArrayLike | None = None,
        dense_output: bool = False,
        project: bool = False,
        gains: str | float | Sequence[float] | NDArray[numpy.float64] | None = None,
        start: dict[str, Any] | Run | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        input: dict[str, str | float | tuple[object, ...]] | None = None,
        until_event: str | None = None,
    ) -> Run: ...
    def ensemble(
        self,
        until: float = 10.0,
        *,
        members: int = 1000,
        vary: dict[str, tuple[Literal["normal", "uniform", "linspace"], float, float]] | None = None,
        seed: int = 1,
        threads: int | None = None,
        method: Literal[{methods}] = "rk4",
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        max_steps: int | None = None,
        every: float | None = None,
        project: bool = False,
        gains: str | float | Sequence[float] | NDArray[numpy.float64] | None = None,
        start: dict[str, Any] | Run | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        input: dict[str, str | float | tuple[object, ...]] | None = None,
    ) -> Ensemble: ...
{export}    def start(self) -> dict[str, Any]: ...
    # A state of shape (n,), or many of shape (k, n), to rates of the same shape, and to integrals of shape (m,) or (k, m).
    def field(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def integrals(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    # To their derivatives by the state, of shape (n, n) or (k, n, n), and (m, n) or (k, m, n).
    def field_jacobian(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def integrals_jacobian(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    def parameter(self, name: str) -> Any: ...
    @property
    def equations(self) -> str: ...
    @property
    def latex(self) -> str: ...
    @property
    def rust(self) -> str: ...
    def _repr_latex_(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...
