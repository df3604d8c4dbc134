"""pytest fixtures: the simulated model service, for the tests of an agent.

Loaded into every pytest run of an environment that has agentmut, so it imports nothing before it is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from agentmut.simulator.background import Simulator
    from agentmut.simulator.latency import Latency
    from agentmut.simulator.trouble import Trouble

MARKER = "agentmut_simulator"
_SETTINGS = ("seed", "trouble", "latency", "chunk_latency", "aliases")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}({', '.join(_SETTINGS)}): settings of the fixture agentmut_simulator; "
        'trouble is a list such as ["429:0.1", "hang:@3"].',
    )


def _refuse(said: str) -> NoReturn:
    """Without a traceback, which would show agentmut's own code only."""
    pytest.fail(said, pytrace=False)


@pytest.fixture
def agentmut_simulator_factory() -> Iterator[Callable[..., "Simulator"]]:
    """Starts simulated model services, each with settings of its own, and stops them after the test.

    `agentmut_simulator_factory(seed=3, trouble=["429:@1"], latency="50ms", aliases={"gpt-x": "sim-large"})`
    """
    from contextlib import ExitStack

    from agentmut.errors import UsageError
    from agentmut.simulator.background import Simulator
    from agentmut.simulator.service_settings import read_settings

    with ExitStack() as running:

        def start(
            *,
            seed: int = 0,
            trouble: "Trouble | Iterable[str]" = (),
            latency: "Latency | str" = "0ms",
            chunk_latency: "Latency | str" = "0ms",
            aliases: Mapping[str, str] | None = None,
        ) -> Simulator:
            if isinstance(trouble, str):
                _refuse(f"{MARKER}: trouble is a list, such as [{trouble!r}], not one text")
            try:
                settings = read_settings(
                    seed=seed,
                    trouble=trouble,
                    latency=latency,
                    chunk_latency=chunk_latency,
                    aliases=aliases or {},
                )
            except UsageError as error:
                _refuse(f"{MARKER}: {error}")
            return running.enter_context(Simulator(settings))

        yield start


@pytest.fixture
def agentmut_simulator(
    request: pytest.FixtureRequest, agentmut_simulator_factory: Callable[..., Any]
) -> "Simulator":
    """A simulated model service on loopback; it plays `sim-large`, `sim-medium` and `sim-small`, no real model.

    Its settings are those of the marker `agentmut_simulator`.
    """
    marker = request.node.get_closest_marker(MARKER)
    if marker is not None and marker.args:
        _refuse(f"the marker {MARKER} takes its settings by name, such as seed=3")
    given = marker.kwargs if marker else {}
    if unknown := sorted(given.keys() - _SETTINGS):
        _refuse(
            f"the marker {MARKER} has no setting {', '.join(map(repr, unknown))}; it takes {', '.join(_SETTINGS)}"
        )
    started: Simulator = agentmut_simulator_factory(**given)
    return started
