"""Which versions of a framework an adapter takes, and what it says of others."""

import re
import tomllib
from pathlib import Path

import pytest

from agentmut._base.errors import AdapterError
from agentmut.adapters._shared import sdk_version as _requirement
from agentmut.adapters._shared.sdk_version import Requirement
from tests.frameworks.lowest import requirements

pytestmark = pytest.mark.framework

EXTRAS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
WANTED = Requirement("loom", "loom-agents", (1, 4), (2, 0), "loom")


def installed(monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    found = {} if version is None else {"loom-agents": version}
    monkeypatch.setattr(_requirement, "version_of", lambda package: found)


@pytest.mark.parametrize("version", ["1.4", "1.4.0rc1", "1.99.3"])
def test_a_version_between_the_bounds_is_taken(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, version)
    WANTED.check()


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, r"requires the package loom-agents. Install it with: pip install 'agentmut\[loom\]'"),
        (
            "1.3.9",
            r"loom-agents 1.4 and later, below 2.0; found 1.3.9. .*pip install 'agentmut\[loom\]'.*agent.run",
        ),
        ("2.0.1", r"loom-agents 1.4 and later, below 2.0; found 2.0.1. .*adapter command"),
    ],
)
def test_a_package_that_is_absent_too_old_or_too_new_is_named_with_the_remedy(
    version: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, version)
    with pytest.raises(AdapterError, match=said):
        WANTED.check()


@pytest.mark.parametrize("found", list(requirements()), ids=lambda found: found.adapter)
def test_the_extra_of_an_adapter_asks_for_the_versions_that_it_takes(found: Requirement) -> None:
    wanted = next(one for one in EXTRAS[found.extra] if re.match(rf"{found.package}(\[|[<>=])", one))
    least = ".".join(map(str, found.minimum))
    assert re.search(rf">={re.escape(least)}(\.0)*,", wanted), wanted
    most = re.escape(".".join(map(str, found.below))).removesuffix(r"\.0")
    assert re.search(rf"<{most}(\.0)*$", wanted), wanted
