"""What adapters ask for at run time is what their extras install."""

import re
import tomllib
from pathlib import Path

from agentmut.adapters._shared.sdk_version import MINIMUM


def test_the_minimum_of_an_sdk_is_the_one_of_its_extra() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for package, (major, minor) in MINIMUM.items():
        (found,) = (
            re.fullmatch(rf"{package}>=(\d+)(?:\.(\d+))?,<\d+", requirement)
            for requirement in project["optional-dependencies"][package]
            if requirement.startswith(f"{package}>")
        )
        assert found and (int(found[1]), int(found[2] or 0)) == (major, minor)
