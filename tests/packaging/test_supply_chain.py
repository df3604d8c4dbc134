"""What agentmut needs is pinned, audited and told; SECURITY.md says who is protected from whom."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
CORE = [
    Requirement(r) for r in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
]
PINNED = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and line[0] != "#"
]


def test_every_core_dependency_is_pinned_to_a_version_that_it_allows() -> None:
    versions = {
        pin.name: [clause.version for clause in pin.specifier if clause.operator == "=="] for pin in PINNED
    }
    for one in CORE:
        assert all(one.specifier.contains(version) for version in versions[one.name]), one
        assert versions[one.name], one


def test_every_pin_is_exact() -> None:
    assert [str(pin) for pin in PINNED if [c.operator for c in pin.specifier] != ["=="]] == []


def test_releases_and_every_week_are_audited_with_the_pinned_versions() -> None:
    for name in ("release", "weekly"):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        assert ".ci/supply-chain" in text
        assert "-c constraints.txt" in text
    script = (ROOT / ".ci" / "supply-chain").read_text()
    assert "cyclonedx-py" in script
    assert "pip-audit" in script
    assert (ROOT / ".ci" / "supply-chain").stat().st_mode & 0o111


def test_security_md_names_files_and_options_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    for path in re.findall(r"`((?:benchmarks|tests|\.ci)/[\w./-]+|constraints\.txt)`", text):
        assert (ROOT / path).exists(), path
    assert len(text.splitlines()) < 60  # one page
