"""A model that judges a run by a rubric."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut._base import NotJudgedError, UsageError, digest_of
from agentmut.judging.judge_client import Patience, Question, Reply
from agentmut.judging.judges.rubric import (
    JudgeSpec,
    LabelledAnswer,
    met,
    parse_judge,
    question,
    score,
    settled,
    shares,
    why,
)
from agentmut.judging.opinions import Consultation, MemoryCache
from agentmut.nouns import AgentTrace, Check, EvaluatorSpec, JudgeModel, JudgeSpend, OpinionCache, Scenario
from agentmut.seams import AsksModel, ReadsFiles

if TYPE_CHECKING:
    from agentmut.stats import Labels

AT_ONCE = 4
"""Labels of a calibration that are judged at a time."""
_SHOWN = 160


class _Opinion(NamedTuple):
    met: dict[str, bool]
    told: Mapping[str, Any]


class ModelJudge(AsksModel, ReadsFiles):
    """`judge: {model: openai:NAME, question: ...}`: a model finds that the run meets a rubric.

    Keys: model (`openai:NAME` or `anthropic:NAME`); question, or criteria (each id, question, weight); reference;
    sees (answer, conversation, run); repeats; aggregate (majority, mean); threshold; temperature; seconds; retries;
    calibration (a JSONL file of answers with a human's label). A judge that cannot be asked, or does not answer in
    the form asked for, raises `NotJudgedError`: the trial is no evidence then.
    """

    id: ClassVar[str] = "judge"

    def __init__(self, argument: JsonValue, cache: OpinionCache | None = None) -> None:
        self._argument = self.read_files(argument, Path())
        self.spec: JudgeSpec = parse_judge(self._argument)
        self.model = JudgeModel.from_text(self.spec.model)
        patience = Patience(self.spec.seconds, self.spec.retries)
        self._consultation = Consultation(self.model, patience, cache or MemoryCache())

    @classmethod
    def read_files(cls, argument: JsonValue, root: Path) -> JsonValue:
        """Return the argument with the labels in place of the calibration's path. Raise `UsageError`."""
        if isinstance(argument, dict) and isinstance(path := argument.get("calibration"), str):
            return {**argument, "calibration": _read_labels(path, root)}
        return argument

    def remembering(self, cache: OpinionCache) -> "ModelJudge":
        """Return the same judge with its opinions kept in `cache`."""
        return ModelJudge(self._argument, cache)

    @property
    def spend(self) -> JudgeSpend:
        """Return what the judge has spent so far."""
        return self._consultation.spend

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Ask for as many opinions as the decision takes."""
        asked = question(self.spec, scenario, trace)
        opinions: list[_Opinion] = []
        for repeat in range(self.spec.repeats):
            if settled(self.spec, [opinion.met for opinion in opinions]):
                break
            opinions.append(self._opinion(asked, repeat))
        share = shares(self.spec, [opinion.met for opinion in opinions])
        reached = score(self.spec, share)
        passed = reached >= self.spec.least - 1e-9
        return Check(
            evaluator=self.id,
            passed=passed,
            reason=self._reason(reached, share, opinions),
            details={**self._details(reached, share, opinions), "asked": digest_of([*asked])[:16]},
        )

    def calibrate(self) -> "Labels | None":
        """Compare the human's labels with the judge's, asking it where needed; None without a calibration.

        Raises `NotJudgedError`.
        """
        if self.spec.calibration is None:
            return None
        from agentmut.stats import labels

        with ThreadPoolExecutor(AT_ONCE) as pool:
            said = list(pool.map(self._verdict_on, self.spec.calibration))
        return labels(said, [one.human for one in self.spec.calibration])

    def _verdict_on(self, answer: LabelledAnswer) -> bool:
        if answer.judge is not None:
            return answer.judge
        unused = (EvaluatorSpec(name=self.id),)
        scenario = Scenario(
            name="calibration", turns=("" if answer.input is None else answer.input,), evaluators=unused
        )
        return self.evaluate(scenario, AgentTrace(outputs=(answer.answer,))).passed

    def _opinion(self, question: Question, repeat: int) -> _Opinion:
        for _ in range(self.spec.retries + 1):
            reply = self._consultation.ask(question, repeat, self._usable)
            if reply.value is not None and (found := met(self.spec, reply.value)):
                return _Opinion(found, reply.value)
        raise NotJudgedError(
            f"the judge {self.model} did not answer in the form asked for: {reply.shown}. This says nothing "
            "about the agent; run it again, or name another model or address"
        )

    def _usable(self, reply: Reply) -> bool:
        return met(self.spec, reply.value) is not None

    def _reason(self, reached: float, share: Mapping[str, float], opinions: list[_Opinion]) -> str:
        lacking = [id for id, part in share.items() if part <= 0.5]
        said = "; ".join(f"{id}: {_why_not(id, opinions)[:_SHOWN]}" for id in lacking)
        n = f" in {len(opinions)} opinions" if self.spec.repeats > 1 else ""
        found = f"judge {self.model}: {reached:.2f} of {self.spec.least:g} asked{n}"
        return f"{found}; not met: {said}" if lacking else found

    def _details(
        self, reached: float, share: Mapping[str, float], opinions: list[_Opinion]
    ) -> dict[str, JsonValue]:
        criteria: dict[str, JsonValue] = {id: round(part, 4) for id, part in share.items()}
        return {
            "model": str(self.model),
            "score": round(reached, 6),
            "opinions": len(opinions),
            "criteria": criteria,
        }


def _why_not(criterion: str, opinions: list[_Opinion]) -> str:
    against = next((o for o in opinions if not o.met[criterion]), opinions[0])
    return why(against.told, criterion) or "no reason given"


def _read_labels(path: str, root: Path) -> list[JsonValue]:
    from agentmut._base import parse_json, read_text

    lines = enumerate(read_text(root / path, path).splitlines(), 1)
    return [
        _label(parse_json(line, f"{path}:{number}"), f"{path}:{number}")
        for number, line in lines
        if line.strip()
    ]


def _label(found: Any, where: str) -> JsonValue:
    problem = next(_faults(found), "")
    if problem:
        raise UsageError(
            f'{where}: {problem}; a label is {{"answer": ..., "human": true}}, with input and judge if known'
        )
    label: JsonValue = found
    return label


def _faults(label: Any) -> Iterator[str]:
    if not isinstance(label, dict):
        yield f"expected a mapping, got {label!r}"
        return
    if unknown := sorted(label.keys() - LabelledAnswer.model_fields):
        yield f"unknown key {unknown[0]!r}"
    if "answer" not in label:
        yield "the key 'answer' is missing"
    if not isinstance(label.get("human"), bool):
        yield "the key 'human' has to be true or false"
    if not isinstance(label.get("judge"), bool | None):
        yield "the key 'judge' has to be true or false"
