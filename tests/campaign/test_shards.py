"""A campaign in parts: the same decisions as in one, on one baseline, each trial counted once."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.campaign.shards.shards import parse_shard, shard_of
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.result import Result
from agentmut.store.rows import LATER
from agentmut.usecases.campaigns import measure, merge_shards

pytestmark = pytest.mark.whole

Told = Callable[[Result], dict[str, tuple[Any, ...]]]
WORDS = ("alpha", "beta", "gamma")


def mutants(number: int) -> list[Mutant]:
    return [
        Mutant(
            id=f"{i:08x}",
            operator="prompt.drop_instruction",
            version=1,
            operator_class=OperatorClass.PROMPT,
            intent=Intent.DEGRADE,
            reach=Reach.SENT,
            description="",
            edits=(),
        )
        for i in range(number)
    ]


@pytest.mark.parametrize(("number", "of", "sizes"), [(7, 3, [3, 2, 2]), (2, 3, [1, 1, 0]), (8, 1, [8])])
def test_shards_are_balanced_and_each_mutant_is_in_exactly_one(
    number: int, of: int, sizes: list[int]
) -> None:
    every = mutants(number)
    parts = [shard_of(every, k, of) for k in range(1, of + 1)]
    assert [len(part) for part in parts] == sizes
    assert sorted(m.id for part in parts for m in part) == [m.id for m in every]


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", "1/2/3"])
def test_a_shard_that_does_not_exist_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="as in 2/3"):
        parse_shard(text)


def copied(projects: Any, name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp(name) / "project"
    shutil.copytree(projects.folder, folder, symlinks=True)
    return folder


@pytest.fixture
def shards(projects: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two shards of one campaign, each run in a copy of the project that holds the baseline."""
    measure(projects.write(WORDS), baseline_only=True)
    folders = [copied(projects, f"shard{k}", tmp_path_factory) for k in (1, 2)]
    for k, folder in enumerate(folders, 1):
        measure(folder, shard=f"{k}/2")
    return folders


def test_merged_shards_tell_what_an_undivided_run_tells(
    projects: Any, shards: list[Path], told: Told, tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = [measure(folder, shard=f"{k}/2") for k, folder in enumerate(shards, 1)]
    merged = merge_shards([shards[1], shards[0] / ".agentmut"], projects.load())
    whole = measure(copied(projects, "whole", tmp_path_factory))
    assert told(merged) == told(whole) == told(parts[0]) | told(parts[1])
    assert merged.score == whole.score
    assert merged.baseline == whole.baseline
    assert merged.controls == whole.controls
    assert merged.ci == whole.ci
    assert [row.id for row in merged.mutants] == [row.id for row in whole.mutants]
    assert merged.status == "finished"
    assert (merged.shard, parts[0].shard) == ("", "1/2")


def trials_beside(folder: Path) -> int:
    """Count the stored trials of the original that were run beside mutants; both shards may have made the same."""
    with sqlite3.connect(folder / ".agentmut" / "store.db") as connection:
        query = "select count(*) from trials where mutant = '' and repeat >= ?"
        return int(connection.execute(query, [LATER]).fetchone()[0])


def test_every_trial_is_counted_once(projects: Any, shards: list[Path]) -> None:
    measure(shards[0], shard="1/2")  # again: it executes nothing
    merged = merge_shards(shards, projects.load())
    controls = merged.controls.identity.trials + merged.controls.destroyed.trials
    beside = trials_beside(projects.folder)
    assert merged.cost.baseline_trials == 120
    after_kills = sum(job.trials for row in merged.mutants for job in row.ci_jobs)
    own = sum(row.trials for row in merged.mutants)
    assert after_kills and merged.cost.trials == 120 + controls + beside + own + after_kills
    assert merged.cost.reused == 0


def test_a_baseline_alone_has_controls_and_no_mutants(projects: Any) -> None:
    result = measure(projects.write(WORDS), baseline_only=True)
    assert result.mutants == ()
    assert (result.cost.baseline_trials, result.score.value) == (120, None)
    assert result.controls.identity.trials > 0
    assert any("campaign of 5 mutants" in note for note in result.notes)


def test_an_automatic_baseline_goes_by_all_mutants_not_by_the_shards(projects: Any) -> None:
    project = projects.write(("alpha",), idle=24, statistics={"baseline": "auto"})
    result = measure(project, shard="1/5")
    assert (len(result.mutants), result.baseline[0].trials) == (5, 100)


def test_trials_of_the_shards_are_in_the_project_afterwards_and_an_undivided_run_reuses_them(
    projects: Any, shards: list[Path], told: Told
) -> None:
    merged = merge_shards(shards, projects.load())
    again = measure(projects.load())
    # an undivided run has more launches than each shard, and so more sentinels
    assert again.service is not None
    assert again.cost.trials <= again.service.sentinels
    assert again.cost.baseline_trials == 0
    assert told(again) == told(merged)


def test_shards_with_baselines_of_their_own_are_refused_with_the_way_to_share_one(
    projects: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    projects.write(WORDS)
    folders = [copied(projects, f"own{k}", tmp_path_factory) for k in (1, 2)]
    for k, folder in enumerate(folders, 1):
        measure(folder, shard=f"{k}/2")
    with pytest.raises(
        UsageError, match=r"the same trials of the baseline.*--baseline-only.*copy \.agentmut"
    ):
        merge_shards(folders, projects.load())


def test_a_missing_shard_is_named_and_of_a_doubled_one_the_newest_run_is_taken(
    projects: Any, shards: list[Path]
) -> None:
    with pytest.raises(UsageError, match=r"shard 2/2 is missing.*--shard 2/2"):
        merge_shards(shards[:1], projects.load())
    older = merge_shards(shards, projects.load()).merged
    newer = measure(shards[1], shard="1/2").run_id
    merged = merge_shards(shards, projects.load())
    assert merged.merged == (newer, older[1])
    (note,) = [note for note in merged.notes if "more than once" in note]
    assert note.startswith("shard 1/2 was run more than once")
    assert older[0] in note


def test_an_unfinished_shard_is_named_with_its_remedy(projects: Any, shards: list[Path]) -> None:
    shutil.rmtree(shards[1] / ".agentmut" / "runs")
    (shards[1] / ".agentmut" / "store.db").unlink()
    shutil.copy(projects.folder / ".agentmut" / "store.db", shards[1] / ".agentmut")
    config = (shards[1] / "agentmut.yaml").read_text()
    (shards[1] / "agentmut.yaml").write_text(config + "budget: {minutes: 0.000001}\n")
    assert measure(shards[1], shard="2/2").status == "budget"
    with pytest.raises(UsageError, match=r"shard 2/2 is not finished.*budget.*agentmut resume"):
        merge_shards(shards, projects.load())


def test_shards_with_different_options_are_refused_with_what_differs(
    projects: Any, shards: list[Path]
) -> None:
    measure(shards[1], shard="2/2", seed=7)
    with pytest.raises(UsageError, match="are not shards of one campaign: they differ in the seed"):
        merge_shards(shards, projects.load())


def test_a_changed_suite_is_not_merged_into(projects: Any, shards: list[Path]) -> None:
    project = projects.write(WORDS, scenario=lambda word: {"threshold": 0.8})
    with pytest.raises(UsageError, match=r"differs from the project of the shards in the suite\."):
        merge_shards(shards, project)


def test_a_folder_without_shards_is_refused(projects: Any, tmp_path: Path) -> None:
    project = projects.write(WORDS)
    with pytest.raises(UsageError, match="holds no store"):
        merge_shards([tmp_path / "nothing"], project)
    measure(project)
    with pytest.raises(UsageError, match="holds no shard"):
        merge_shards([projects.folder], projects.load())


def test_a_shard_refuses_to_run_the_baseline_anew(projects: Any) -> None:
    with pytest.raises(UsageError, match="would run the baseline again in every shard"):
        measure(projects.write(WORDS), shard="1/2", fresh=True)


def test_more_shards_than_mutants_are_refused(projects: Any) -> None:
    project = projects.write(("alpha",), idle=0)
    used = [k for k in (1, 2, 3) if _has_mutants(project, f"{k}/3")]
    assert len(used) == 1


def _has_mutants(project: Any, shard: str) -> bool:
    try:
        return bool(measure(project, shard=shard).mutants)
    except UsageError as error:
        assert "there are only 1" in str(error)
        return False


BUSY = """
class Response:
    status_code = 429

class BusyError(Exception):
    response = Response()

inner = run
async def run(config, input):
    if "topic number 0" not in config.prompt and uniform("busy") < 0.15:
        raise BusyError("later")
    return await inner(config, input)
"""


def test_trials_without_evidence_and_a_window_are_merged_as_they_were(
    projects: Any, told: Told, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = {"execution": {"window": 3, "retries": 0}}
    measure(projects.write(WORDS, extra=BUSY, **settings), baseline_only=True)
    folders = [copied(projects, f"busy{k}", tmp_path_factory) for k in (1, 2)]
    parts = [measure(folder, shard=f"{k}/2") for k, folder in enumerate(folders, 1)]
    merged = merge_shards(folders, projects.load())
    assert told(merged) == told(parts[0]) | told(parts[1])
    busy = next(row for row in merged.mutants if "topic number 0" in row.before)
    assert busy.trials > sum(item.trials for item in busy.evidence)
    assert merged.cost.reused == 0


def test_shards_without_texts_are_merged_and_their_mutants_made_again(
    projects: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    measure(projects.write(WORDS, store={"texts": "none"}), baseline_only=True)
    folders = [copied(projects, f"wordless{k}", tmp_path_factory) for k in (1, 2)]
    parts = [measure(folder, shard=f"{k}/2") for k, folder in enumerate(folders, 1)]
    merged = merge_shards(folders, projects.load())
    statuses = {row.id: row.status for part in parts for row in part.mutants}
    assert {row.id: row.status for row in merged.mutants} == statuses
    assert statuses
    assert "alpha" not in str([(row.before, row.after) for row in merged.mutants])
