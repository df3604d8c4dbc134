"""`check_trace_format`: planted faults of readers are found."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agentmut import Action, AgentTrace, BrokenRecord, ForeignTrial, RecordPlace, Step
from agentmut.seams import TraceFile
from agentmut.testing import check_trace_format


class Answers:
    """A run a line."""

    name: ClassVar[str] = "answers"

    def recognises(self, head: bytes) -> bool:
        return b'"answer"' in head

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        for file in files:
            for number, line in enumerate(file.path.read_text().splitlines(), 1):
                place = RecordPlace(file=file.shown, line=number)
                try:
                    yield self.trial(json.loads(line)["answer"], place)
                except (ValueError, LookupError) as error:
                    yield BrokenRecord(place=place, reason=str(error))

    def trial(self, answer: str, place: RecordPlace) -> ForeignTrial:
        steps = (Step(action=Action.RESPOND, output=answer),)
        trace = AgentTrace(steps=steps, outputs=(answer,))
        return ForeignTrial(scenario="s", turns=("Hi",), trace=trace, place=place)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "runs"
    path.write_text('{"answer": "yes"}\n' * 3)
    return path


def found(kind: type[Any], sample: Path) -> str:
    with pytest.raises(AssertionError) as error:
        check_trace_format(kind, sample)
    return str(error.value)


def test_a_sound_format_passes(sample: Path) -> None:
    check_trace_format(Answers, sample)


def test_a_format_that_takes_everything_is_found(sample: Path) -> None:
    kind = type("Greedy", (Answers,), {"recognises": lambda self, head: True})
    assert "recognises() gave True for b'{}'; expected False" in found(kind, sample)


def test_a_format_that_does_not_know_its_own_files_is_found(sample: Path) -> None:
    kind = type("Blind", (Answers,), {"recognises": lambda self, head: False})
    assert "recognises() gave False for runs; expected True" in found(kind, sample)


def test_a_format_that_ends_at_damage_is_found(sample: Path) -> None:
    class Fragile(Answers):
        def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
            for line in files[0].path.read_text().splitlines():
                yield self.trial(json.loads(line)["answer"], RecordPlace(file=files[0].shown))

    said = found(Fragile, sample)
    assert "for runs with half of it; expected a BrokenRecord" in said
    assert "KeyError: 'answer' for runs with other JSON" in said


def test_a_format_without_steps_or_with_another_place_is_found(sample: Path) -> None:
    class Hollow(Answers):
        def trial(self, answer: str, place: RecordPlace) -> ForeignTrial:
            return ForeignTrial(scenario="s", turns=("Hi",), trace=AgentTrace(), place=RecordPlace(file="x"))

    said = found(Hollow, sample)
    assert "the trial in x has no steps" in said
    assert "the place of a trial is x; expected the file runs" in said


def test_a_format_that_reads_nothing_or_is_given_nothing_is_found(sample: Path) -> None:
    kind = type("Empty", (Answers,), {"read": lambda self, files: iter(())})
    assert "it found no trial in runs" in found(kind, sample)
    with pytest.raises(AssertionError, match="it was given no file to read"):
        check_trace_format(Answers)


def test_a_class_that_lacks_a_method_is_found(sample: Path) -> None:
    assert "method read() is missing" in found(type("No", (), {"name": "no"}), sample)
