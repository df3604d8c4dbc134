"""Reports of runs are in the store: who reads it on another machine sees scores, survivors and pages."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from agentmut._base.errors import StoreError
from agentmut._base.frozen import Frozen
from agentmut.cli.entry import app
from agentmut.cli.team_site import Site, _folders
from agentmut.nouns.result import Result
from agentmut.nouns.result_file import read_result
from agentmut.store import COVERAGE, RESCORED, Store, StoreUrl, Where, copy_store, kept_reports, store_url
from agentmut.store.rows import StoredRun
from agentmut.usecases.team import team_projects
from tests.cli.ran_project import ran
from tests.postgres_server import PostgresServer


class Document(Frozen):
    said: str


def name_of(where: Where) -> str:
    return where.project if isinstance(where, StoreUrl) else ""


def test_the_newest_report_of_a_run_is_kept_until_the_run_is_forgotten(where: Where) -> None:
    with closing(Store(where)) as store:
        for run in ("a", "b"):
            store.add_run(StoredRun(run, 1.0, "{}", "planned"))
            store.reports.keep(run, "result.json", Document(said="early"))
        store.reports.keep("a", "result.json", Document(said="late \udc80 \x00"))
        store.reports.keep("a", "relations.json", Document(said="more"))
        found = kept_reports(where, name_of(where))
        assert [(one.run, one.name) for one in found] == [
            ("a", "relations.json"), ("a", "result.json"), ("b", "result.json")
        ]  # fmt: skip
        assert "late" in found[1].text and "early" not in found[1].text
        assert [one.run for one in kept_reports(where, name_of(where), {"a"})] == ["b"]
        store.clean(keep=["b"])
    assert [one.run for one in kept_reports(where, name_of(where))] == ["b"]


def test_a_store_of_an_earlier_format_has_no_reports(tmp_path: Path) -> None:
    assert kept_reports(tmp_path / "nowhere.db", "") == ()
    with closing(Store(tmp_path / "store.db")):
        pass
    with closing(sqlite3.connect(tmp_path / "store.db")) as old:
        old.executescript(
            "drop table reports; update alembic_version set version_num = '5'; pragma user_version = 5"
        )
    assert kept_reports(tmp_path / "store.db", "") == ()
    with closing(Store(tmp_path / "store.db")) as store:  # and is brought to today's tables
        store.add_run(StoredRun("a", 1.0, "{}", "planned"))
        store.reports.keep("a", "result.json", Document(said="x"))
    assert len(kept_reports(tmp_path / "store.db", "")) == 1


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ran(tmp_path_factory.mktemp("here"))


def elsewhere(project: Path, folder: Path, where: Where) -> Path:
    """The project on another machine: its files without its runs, and the store."""
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns(".agentmut"))
    copy_store(project / ".agentmut" / "store.db", where)
    settings = yaml.safe_load((folder / "agentmut.yaml").read_text())
    if isinstance(where, StoreUrl):
        settings["store"] = {"url": where.url, "project": where.project}
    else:
        shutil.copytree(where.parent, folder / ".agentmut")
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    return folder


def test_another_machine_sees_what_the_run_reported(project: Path, tmp_path: Path, where: Where) -> None:
    (run,) = (project / ".agentmut" / "runs").iterdir()
    (result,) = (read_result(run / "result.json"),)
    (here,), other = team_projects([project]), elsewhere(project, tmp_path / "other", where)
    (there,) = (one for one in team_projects([other]) if one.root == other)
    assert there.runs == here.runs and there.survivors == here.survivors and there.campaigns == here.campaigns
    assert (here.of_store, there.of_store) == ({}, {run.name: result})
    pages = {path: page("") for path, page in Site([other]).pages().items() if path.startswith("other/")}
    (of_run,) = (page for path, page in pages.items() if "/runs/" in path)
    assert result.mutants[0].id in of_run and "No stored run is shown" in of_run


@pytest.fixture(scope="module")
def judged_later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose run was looked at again: coverage, another evaluator on its trials, relations on its survivor."""
    folder = ran(tmp_path_factory.mktemp("later"))
    for verb in ("coverage", "relations --survivors --relation perturbation.noise --yes"):
        done = CliRunner().invoke(app, [*verb.split(), "--project", str(folder)])
        assert done.exit_code == 0, done.output
    suite = (folder / "s.yaml").read_text().replace("contains: hello", "contains: Kiel")
    (folder / "s.yaml").write_text(suite)
    done = CliRunner().invoke(app, ["rescore", "--project", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def page_of(project: Path, run: str) -> str:
    return Site([project]).pages()[f"{_folders([project.name])[0]}/runs/{run}.html"]("")


def test_another_machine_sees_what_was_found_about_the_run_later(
    judged_later: Path, tmp_path: Path, where: Where
) -> None:
    run = min(path.name for path in (judged_later / ".agentmut" / "runs").iterdir())
    here = page_of(judged_later, run)
    other = elsewhere(judged_later, tmp_path / judged_later.name, where)
    there = page_of(other, run)
    assert "What the scenarios exercise of the agent" in there
    assert "1 of 1 survivor could be compared" in there
    assert "stored trials give a score of" in there
    assert there == here
    shutil.copytree(judged_later / ".agentmut" / "runs", other / ".agentmut" / "runs")
    assert page_of(other, run) == there  # as the folder shows it


def test_a_run_that_wrote_its_page_has_a_second_one_with_what_was_found_later(
    judged_later: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    shutil.copytree(judged_later, folder)
    run = min((folder / ".agentmut" / "runs").iterdir())
    (run / "report.html").write_text("as the run wrote it")
    for document in run.glob("*.json"):
        os.utime(document, (1, 1))
    assert not [path for path in Site([folder]).pages() if "later" in path]
    os.utime(run / "coverage.json")
    os.utime(run / "report.html", (2, 2))
    pages = Site([folder]).pages()
    later = f"runs/{run.name}..later.html"
    assert pages[f"own/runs/{run.name}.html"]("") == "as the run wrote it"
    assert "What the scenarios exercise of the agent" in pages[f"own/{later}"]("")
    assert f'href="{later}"' in pages["own/index.html"]("")


def test_what_is_found_later_is_not_kept_where_the_run_is_gone_or_the_user_only_reads(
    server: PostgresServer,
) -> None:
    writes = store_url(server.url(), "found_later")
    with closing(Store(writes)) as store:
        store.add_run(StoredRun("a", 1.0, "{}", "finished"))
        store.reports.keep_later("gone", COVERAGE, Document(said="x"))
        store.reports.keep_later("a", COVERAGE, Document(said="x"))
    server.execute(
        "create role onlooker login",
        "grant usage on schema agentmut_found_later to onlooker",
        "grant select on all tables in schema agentmut_found_later to onlooker",
    )
    with closing(Store(store_url(server.url(user="onlooker"), "found_later"))) as store:
        store.reports.keep_later("a", RESCORED, Document(said="y"))
        with pytest.raises(StoreError, match="permission denied"):
            store.reports.keep("a", RESCORED, Document(said="y"))
    kept = kept_reports(writes, "found_later", names=(COVERAGE, RESCORED))
    assert [(one.run, one.name) for one in kept] == [("a", COVERAGE)]


def test_a_report_that_cannot_be_read_is_named(project: Path, tmp_path: Path, where: Where) -> None:
    other = elsewhere(project, tmp_path / "other", where)
    place = where if isinstance(where, StoreUrl) else other / ".agentmut" / "store.db"
    with closing(Store(place)) as store:
        for run, name in (("x", "result.json"), ("y", "relations.json"), ("z", "verdicts.json")):
            store.add_run(StoredRun(run, 1.0, "{}", "finished"))
            store.reports.keep(run, name, Document(said="no report"))
    (there,) = (one for one in team_projects([other]) if one.root == other)
    damaged = {one.id: one.note for one in there.runs if one.status == "damaged"}
    assert [*damaged] == ["x", "y", "z"]
    assert damaged["x"].startswith("result.json of run x in the store cannot be read")
    assert len(there.campaigns) == 1 and isinstance(there.of_store[there.campaigns[0]], Result)
    assert sum(path.startswith("other/runs/") for path in Site([other]).pages()) == 1


def test_other_projects_of_a_database_have_pages_and_what_may_not_be_read_stays_away(
    server: PostgresServer, project: Path, tmp_path: Path
) -> None:
    copy_store(project / ".agentmut" / "store.db", store_url(server.url(), "shop_of_others"))
    desk = elsewhere(project, tmp_path / "desk", store_url(server.url(), "desk_of_others"))
    (shop,) = (one for one in team_projects([desk]) if one.name == "shop_of_others (database)")
    assert shop.root is None and len(shop.campaigns) == 1 and shop.runs[0].row is not None
    assert any(path.startswith("shop-of-others-database/runs/") for path in Site([desk]).pages())
    server.execute(
        "create role looker login",
        "grant usage on schema agentmut_shop_of_others to looker",
        "grant select on agentmut_shop_of_others.runs, agentmut_shop_of_others.trials to looker",
    )
    looks = store_url(server.url(user="looker"), "shop_of_others")
    assert isinstance(looks, StoreUrl)
    assert kept_reports(looks, "shop_of_others") == ()
    assert kept_reports(looks, "desk_of_others") == ()
