"""The address of a store: what is accepted, and that no secret of it is printed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base import StoreError, UsageError
from agentmut.project.loading import load_project
from agentmut.project.redacting import redactor
from agentmut.store.address import StoreUrl, project_of_folder, store_url
from agentmut.usecases.runtime import has_store, open_store, store_place

SECRET = "hunter-2-hunter"
URL = f"postgresql://ci:{SECRET}@127.0.0.1:1/trials?sslmode=require&sslpassword={SECRET}"


def project(folder: Path, store: Any, **environment: str) -> Any:
    written = {
        "version": 1,
        "agent": {"adapter": "python", "run": "desk:run", "config": {"prompt": "Be brief."}},
        "suite": {"scenarios": "scenarios.yaml"},
        "store": store,
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(written))
    (folder / "scenarios.yaml").write_text("- {name: s, input: hello, evaluators: [{contains: hi}]}")
    return load_project(folder, environment=environment)


def test_what_is_printed_of_an_address_has_no_password() -> None:
    shown = store_url(URL, "desk").shown
    assert shown == "postgresql://ci@127.0.0.1:1/trials?sslmode=require (project desk)"


def test_options_are_passed_on_and_the_driver_is_named() -> None:
    url = "postgres://db/trials?sslmode=verify-full&sslrootcert=/etc/root.pem"
    assert store_url(url, "p").for_driver == f"postgresql+psycopg://{url.partition('://')[2]}"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://me@db/trials", "'mysql' is not known"),
        ("trials.db", "it has no scheme"),
        ("postgresql://me@db", "names no database"),
        (f"postgresql://me:{SECRET}@db:many/trials", "its port is no number"),
    ],
)
def test_a_url_that_is_none_is_refused_with_an_example(url: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        store_url(url, "p")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("name", ["", "Desk", "a-b", "_a", "a" * 51, 'a"; drop schema x'])
def test_a_project_that_no_schema_can_be_named_after_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="small letters"):
        store_url("postgresql://db/trials", name)


def test_a_folder_gives_the_project_its_name(tmp_path: Path) -> None:
    assert project_of_folder(tmp_path / "Support-Desk 2") == "support_desk_2"
    assert project_of_folder(tmp_path / "---") == "project"


def test_the_section_takes_a_url_alone_or_a_mapping(tmp_path: Path) -> None:
    folder = tmp_path / "My Desk"
    folder.mkdir()
    alone = project(folder, "postgresql://ci:${PASS}@db/trials", PASS=SECRET)
    assert store_place(alone) == StoreUrl(f"postgresql://ci:{SECRET}@db/trials", "my_desk")
    assert has_store(alone)
    both = project(folder, {"url": "postgresql://db/trials", "project": "desk"})
    assert store_place(both) == StoreUrl("postgresql://db/trials", "desk")
    without = project(folder, {})
    assert store_place(without) == folder / ".agentmut" / "store.db"
    assert not has_store(without)


def test_a_variable_that_is_not_set_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"agentmut.yaml:\d+: store\.url: the environment variable PASS is not set"
    ):
        project(tmp_path, {"url": "postgresql://ci:${PASS}@db/trials"})


def test_the_password_is_masked_in_trials_and_shown_by_no_error(tmp_path: Path) -> None:
    loaded = project(tmp_path, URL)
    assert SECRET not in repr(loaded)
    assert SECRET not in redactor(loaded).text(f"it connects with {SECRET} to the store")
    pytest.importorskip("psycopg")
    with (
        pytest.raises(
            StoreError, match=r"cannot open the store postgresql://ci@127.0.0.1:1/trials"
        ) as raised,
        open_store(loaded),
    ):
        pass
    assert SECRET not in str(raised.value)
    assert "Check that the server is running" in str(raised.value)
