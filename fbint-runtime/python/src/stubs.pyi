from collections.abc import Callable, Iterator, Sequence
from inspect import Signature
from os import PathLike
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = [{names}]

__version__: str

def stubs() -> str: ...
def repeat(path: str | PathLike[str]) -> Run: ...
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
    def section(self, name: str) -> Trajectory: ...
    def record(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str: ...
    def plot(self, path: str | PathLike[str], of: str | Sequence[str] | None = None, *, force: bool = False) -> None: ...
    def animate(self, path: str | PathLike[str], *, force: bool = False) -> None: ...
    def _repr_svg_(self) -> str: ...

class Event(NamedTuple):
    name: str
    t: float
    state: NDArray[numpy.float64]
    reset: NDArray[numpy.float64] | None

@final
class Stepper:
    # Inputs are keywords: numbers or arrays, also with a row for each run.
    def step(self, until: float | None = None, **inputs: ArrayLike) -> NDArray[numpy.float64]: ...
    # Of shape (n,), or (k, n) of k runs.
    @property
    def state(self) -> NDArray[numpy.float64]: ...
    @state.setter
    def state(self, x: ArrayLike) -> None: ...
    @property
    def t(self) -> Any: ...
    @property
    def ended_by(self) -> Any: ...
    @property
    def events(self) -> tuple[Any, ...]: ...
    def __getitem__(self, name: str, /) -> Any: ...

class Linearisation(NamedTuple):
    A: NDArray[numpy.float64]
    B: NDArray[numpy.float64]
    C: NDArray[numpy.float64]
    D: NDArray[numpy.float64]

class Sensitivity(NamedTuple):
    state: NDArray[numpy.float64]
    by_start: NDArray[numpy.float64]
    by_parameters: NDArray[numpy.float64]

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
        project: bool | None = None,
        gains: str | float | Sequence[float] | NDArray[numpy.float64] | None = None,
        start: dict[str, Any] | Run | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        input: dict[str, str | float | tuple[object, ...] | Callable[[float, NDArray[numpy.float64]], float]] | None = None,
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
        project: bool | None = None,
        gains: str | float | Sequence[float] | NDArray[numpy.float64] | None = None,
        start: dict[str, Any] | Run | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        input: dict[str, str | float | tuple[object, ...]] | None = None,
    ) -> Ensemble: ...
    def stepper(
        self,
        *,
        method: Literal[{methods}] = "rk4",
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        max_steps: int | None = None,
        project: bool | None = None,
        gains: str | float | Sequence[float] | NDArray[numpy.float64] | None = None,
        start: dict[str, Any] | Run | ArrayLike | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        input: dict[str, str | float | tuple[object, ...] | Callable[[float, NDArray[numpy.float64]], float]] | None = None,
        until_event: str | None = None,
    ) -> Stepper: ...
    # The end of a run of steps of one size, with its derivatives.
    def sensitivity(
        self,
        until: float = 10.0,
        *,
        method: Literal["euler", "midpoint", "heun", "rk4"] = "rk4",
        step: float = 1e-3,
        start: dict[str, Any] | Run | None = None,
        inputs: dict[str, Any] | None = None,
    ) -> Sensitivity: ...
{export}    def start(self) -> dict[str, Any]: ...
    # A state of shape (n,), or many of shape (k, n), to rates of the same shape, and to integrals of shape (m,) or (k, m).
    def field(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def integrals(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    # To their derivatives by the state, of shape (n, n) or (k, n, n), and (m, n) or (k, m, n).
    def field_jacobian(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def integrals_jacobian(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    # By the parameters, of shape (n, p) or (k, n, p).
    def field_by_parameters(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def outputs(self, x: ArrayLike, inputs: dict[str, Any] | None = None) -> NDArray[numpy.float64]: ...
    def multipliers(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    # Of systems with velocities, of shape (v, v) or (k, v, v), and (v,).
    def mass_matrix(self, x: ArrayLike) -> NDArray[numpy.float64]: ...
    def inverse_dynamics(
        self, x: ArrayLike, accelerations: ArrayLike, inputs: dict[str, Any] | None = None
    ) -> NDArray[numpy.float64]: ...
    def linearise(self, x: ArrayLike, inputs: dict[str, Any] | None = None) -> Linearisation: ...
    # The states nearby that satisfy the constraints.
    def project(self, x: ArrayLike, held: list[str] = ...) -> NDArray[numpy.float64]: ...
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
