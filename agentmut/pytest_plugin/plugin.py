"""The pytest plugin: fixtures for the tests of an agent, tests that are repeated, and `pytest --agentmut`.

Loaded into every pytest run of an environment that has agentmut, so it imports nothing before it is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from agentmut.nouns import AgentConfig
    from agentmut.simulator import Latency, Simulator, Trouble
    from agentmut.suites import AgentUnderTest

MARKER = "agentmut_simulator"
_SETTINGS = ("seed", "trouble", "latency", "chunk_latency", "aliases")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist, which a campaign has no use for
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the campaign if one is asked for."""
    if config.option.agentmut:
        if config.option.xmlpath:
            raise pytest.UsageError(
                "--junitxml would hold no test, since those of a campaign run elsewhere. Leave it out, and write the "
                "campaign's own with `agentmut report --format junit --output FILE`."
            )
        from agentmut.suites import Campaign

        config.pluginmanager.register(Campaign(config), "agentmut-campaign")
    config.addinivalue_line(
        "markers",
        f"{MARKER}({', '.join(_SETTINGS)}): settings of the fixture agentmut_simulator; "
        'trouble is a list such as ["429:0.1", "hang:@3"].',
    )
    config.addinivalue_line(
        "markers",
        "agentmut(trials=100, threshold=0.9, alpha=0.05, beta=0.1, margin=0.1, method='sprt', "
        "inconclusive='fail', errors=3, raised='error'): repeat the test until it has shown whether it passes often "
        "enough.",
    )
    if config.option.agentmut_trials is not None and config.option.agentmut_trials < 1:
        raise pytest.UsageError(f"--agentmut-trials must be at least 1, got {config.option.agentmut_trials}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a campaign."""
    group = parser.getgroup("agentmut", "mutation testing of the agent that the tests test")
    group.addoption(
        "--agentmut",
        action="store_true",
        help="Run the collected tests on broken copies of the agent, and say which breakages they notice.",
    )
    group.addoption(
        "--agentmut-project",
        metavar="PATH",
        help="agentmut.yaml, or its folder; else the nearest to rootdir.",
    )
    group.addoption(
        "--agentmut-yes", action="store_true", help="Run a campaign without a budget, however long it takes."
    )
    group.addoption(
        "--agentmut-trials",
        type=int,
        metavar="N",
        help="At most N trials of each test that is marked with agentmut.",
    )
    parser.addini(
        "agentmut_inconclusive",
        default="fail",
        help="What a test marked with agentmut is without enough evidence either way: fail, pass or skip.",
    )


@pytest.hookimpl(tryfirst=True)  # before plugins that run failed tests again
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test as often as its verdict takes."""
    if item.get_closest_marker("agentmut") is None:
        return None
    from agentmut.pytest_plugin.stochastic.protocol import run_marked

    return run_marked(item, nextitem)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Report a marked test without evidence as an error, not as a failure."""
    if report.failed and report.when == "call" and ("agentmut.verdict", "ERROR") in report.user_properties:
        return "error", "E", "ERROR"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the verdicts on marked tests."""
    told = (report for reports in terminalreporter.stats.values() for report in reports)
    if any(
        name == "agentmut.verdict" for report in told for name, _ in getattr(report, "user_properties", ())
    ):
        from agentmut.pytest_plugin.stochastic.summary import write_summary

        write_summary(terminalreporter)


@pytest.fixture
def agentmut_trial(request: pytest.FixtureRequest) -> int:
    """Return the number of this trial of a marked test, from 0, to seed a generator; 0 in other tests."""
    if request.node.get_closest_marker("agentmut") is None:
        return 0
    from agentmut.pytest_plugin.stochastic.protocol import NUMBER

    number: int = request.node.stash.get(NUMBER, 0)
    return number


@pytest.fixture(scope="session")
def agentmut_config(pytestconfig: pytest.Config) -> "AgentConfig":
    """Return the agent's config: the mutant's in a campaign, else the project's.

    An agent that is built from it, in a fixture of whatever scope, is built anew for every run of a campaign.
    """
    from agentmut.suites import config_under_test

    return config_under_test(pytestconfig)


@pytest.fixture(scope="session")
def agentmut_agent(pytestconfig: pytest.Config) -> "AgentUnderTest":
    """Return the project's agent under test: `agentmut_agent.run("...")`, or `await agentmut_agent.arun("...")`."""
    from agentmut.suites import agent_under_test

    return agent_under_test(pytestconfig)


def _refuse(text: str) -> NoReturn:
    """Fail the test without a traceback, which would only show agentmut's code."""
    pytest.fail(text, pytrace=False)


@pytest.fixture
def agentmut_simulator_factory() -> Iterator[Callable[..., "Simulator"]]:
    """Start simulated model services, each with its own settings, and stop them after the test.

    `agentmut_simulator_factory(seed=3, trouble=["429:@1"], latency="50ms", aliases={"gpt-x": "sim-large"})`
    """
    from contextlib import ExitStack

    from agentmut._base import UsageError
    from agentmut.simulator import Simulator, read_settings

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
    """Serve a simulated model on loopback: `sim-large`, `sim-medium` and `sim-small`, no real model.

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
