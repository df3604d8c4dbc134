"""Stored trials as OTLP and ATIF: read back by OpenTelemetry's own messages, without loss."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentmut._base import digest_of, storable_json
from agentmut.nouns import ForeignMark, ForeignTrial, ImportedOutcome, ImportedTrial
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Check, Step, Usage
from agentmut.report.terminal.analysis_page import render_analysis
from agentmut.report.traces.atif import atif_trajectory
from agentmut.report.traces.otlp import otlp_line
from agentmut.seams import Catalogue, Group
from agentmut.seams.protocols.trace_format import TraceFile
from agentmut.store import ImportQuery, Store
from agentmut.usecases import ImportWish, analyze, exported_imports, import_traces
from agentmut.usecases.trial_export import ExportedTrial

STEPS = (
    Step(
        action=Action.REASON,
        model="sim-large",
        usage=Usage(input_tokens=120, output_tokens=9),
        usd=0.0021,
        started=0.1,
        seconds=0.4,
        node="agent",
    ),
    Step(
        action=Action.CALL_TOOL,
        tool="look_up",
        arguments={"order": "A-1"},
        output={"status": "lost"},
        call_id="c1",
        started=0.5,
        seconds=0.25,
        node="tools",
    ),
    Step(
        action=Action.CALL_TOOL,
        tool="refund",
        arguments={"order": "A-1", "sum": 12.5},
        error="ValueError: too late",
        call_id="c2",
        started=0.5,
        seconds=0.125,
    ),
    Step(action=Action.RESPOND, output="Your parcel is lost.", started=1.0),
    Step(
        action=Action.REASON,
        turn=1,
        model="sim-large",
        error="RateLimitError: slower",
        started=1.5,
        seconds=0.5,
    ),
    Step(action=Action.RESPOND, turn=1, output={"refund": None}, started=2.0),
)
TRACE = AgentTrace(
    steps=STEPS,
    outputs=("Your parcel is lost.", {"refund": None}),
    seconds=2.5,
    edges=(("agent", "tools"),),
    exit_code=0,
    stderr="warned\n",
)
CONFIG = AgentConfig(prompt="Be brief.", tools=(ToolSpec(name="look_up", description="Find an order."),))


def trial(**changed: Any) -> ExportedTrial:
    given: dict[str, Any] = {
        "key": "k1",
        "number": 7,
        "run": "r1",
        "mutant": "",
        "scenario": "lost",
        "repeat": 3,
        "turns": ("Where is A-1?", {"text": "Refund it."}),
        "outcome": "fail",
        "reason": "contains: no 'sorry'",
        "checks": (Check(evaluator="contains", passed=False, reason="no 'sorry'"),),
        "ending": "answered",
        "trace": TRACE,
        "finished": 1_000_002.5,
        "config": CONFIG,
    }
    return ExportedTrial(**(given | changed))


def spans_of(line: str) -> list[Any]:
    request = Parse(line, ExportTraceServiceRequest())
    (resource,) = request.resource_spans
    (scope,) = resource.scope_spans
    return list(scope.spans)


def read(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


def test_opentelemetry_reads_a_tree_of_spans_with_the_genai_names() -> None:
    root, *children = spans_of(otlp_line(trial(), "desk"))
    assert [span.name for span in children] == [
        "chat sim-large",
        "execute_tool look_up",
        "execute_tool refund",
        "chat sim-large",
    ]
    assert {span.parent_span_id for span in children} == {root.span_id}
    assert {span.trace_id for span in children} == {root.trace_id}
    assert len({span.span_id for span in (root, *children)}) == 5
    # the run ended at 1,000,002.5 s and took 2.5 s; the first call began 0.1 s after its beginning and took 0.4 s
    assert (root.start_time_unix_nano, root.end_time_unix_nano) == (1_000_000 * 10**9, 1_000_002_500_000_000)
    assert (children[0].start_time_unix_nano, children[0].end_time_unix_nano) == (
        1_000_000_100_000_000,
        1_000_000_500_000_000,
    )
    told = read(root.attributes)
    assert told["gen_ai.operation.name"] == "invoke_agent"
    assert json.loads(told["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    assert json.loads(told["gen_ai.tool.definitions"])[0]["name"] == "look_up"
    assert [m["parts"][0]["content"] for m in json.loads(told["gen_ai.input.messages"])] == [
        "Where is A-1?",
        '{"text":"Refund it."}',
    ]
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (120, 9)
    assert (told["agentmut.scenario"], told["agentmut.repeat"], told["agentmut.outcome"]) == (
        "lost",
        3,
        "fail",
    )
    refused = children[3]
    assert refused.status.message == "RateLimitError: slower"
    assert read(refused.attributes)["error.type"] == "RateLimitError"


def read_by_own_import(name: str, path: Path) -> ForeignTrial:
    reader = Catalogue.from_group(Group.TRACE_FORMATS).load(name)()
    (found,) = reader.read([TraceFile(path, path.name)])
    assert isinstance(found, ForeignTrial)
    return found


def test_our_own_import_reads_the_whole_trial_back(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(otlp_line(trial(), "desk") + "\n")
    found = read_by_own_import("otlp", path)
    assert found.trace == TRACE
    assert (found.scenario, found.turns, found.started) == ("lost", trial().turns, 1_000_000.0)
    assert found.config == CONFIG
    assert {name: (s.value, s.reason) for name, s in found.scores.items()} == {
        "agentmut": (False, "contains: no 'sorry'")
    }
    assert (found.fields["agentmut.repeat"], found.fields["agentmut.run"]) == (3, "r1")


ODD = AgentTrace(
    steps=(
        Step(action=Action.REASON, tool="thought", error="", saved_usd=0.5, call_id="r"),
        Step(action=Action.REASON, usage=Usage(input_tokens=9, cached_tokens=7, cache_written_tokens=1)),
        Step(
            action=Action.CALL_TOOL,
            turn=1,
            output={"a": [1, None]},
            error="E: x",
            usage=Usage(output_tokens=2),
        ),
        Step(action=Action.CALL_TOOL, turn=1, tool="t", arguments={}, output=""),
        Step(action=Action.RESPOND, turn=1, output=None, error="cut", usd=0.1, node="n"),
        Step(action=Action.RESPOND, turn=0, output="late", saved_usd=-1.0),
    ),
    outputs=({"other": "than the steps"},),
    seconds=0.1,
    setup_seconds=0.25,
    checks=(Check(evaluator="e", passed=True, reason="r", details={"d": 1}),),
    texts_cut=3,
)
"""A trace whose parts have no name in either format, and whose turns come out of order."""
DESK = AgentConfig(
    prompt="p",
    tools=(ToolSpec(name="a", implemented_by="b"), ToolSpec(name="c", parameters={})),
    model=ModelConfig(name="m", provider="q", top_p=0.5, stop=("x",)),
    context=(Document(name="d", text="t"),),
    orchestration={"limit": 3},
)


@pytest.mark.parametrize("format", ["otlp", "atif"])
@pytest.mark.parametrize("turns", [("a", {"b": 1}, "c"), ("a",), ("a", "b")])
def test_what_a_format_has_no_name_for_comes_back_too(
    tmp_path: Path, format: str, turns: tuple[Any, ...]
) -> None:
    given = trial(trace=ODD, config=DESK, turns=turns, finished=1_000_000.1)
    found = read_by_own_import(format, written(tmp_path, format, given))
    assert found.trace == ODD
    assert (found.config, found.turns, found.started) == (DESK, turns, 1_000_000.0)


def written(folder: Path, format: str, given: ExportedTrial) -> Path:
    path = folder / "run.json"
    path.write_text(
        otlp_line(given, "desk") if format == "otlp" else json.dumps(atif_trajectory(given, "desk"))
    )
    return path


SOURCES = ("openinference_agents.jsonl", "langsmith.jsonl", "pydantic_ai.jsonl")
"""Runs of three tools: several agents, feedback as scores, and runs that nobody has judged."""


@pytest.mark.parametrize("format", ["otlp", "atif"])
def test_imported_runs_are_exported_and_read_back_without_loss(tmp_path: Path, format: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    runs = [{"task_id": 0, "reward": 0.5, "info": {"kind": "k"}, "traj": SAID}] * 2
    (first / "tau.json").write_text(json.dumps(runs))
    import_traces(["tau.json"], first, ImportWish(outcome="reward", scenario_by="info.kind"))
    import_traces([str(TRACES / name) for name in SOURCES], first)
    with closing(Store(first / ".agentmut" / "store.db")) as store:
        (tmp_path / "out").mkdir()
        for number, each in enumerate(exported_imports(store, ImportQuery())):
            written(tmp_path / "out", format, each).rename(tmp_path / "out" / f"{number}.jsonl")
    files = [str(tmp_path / "out" / "*.jsonl")]
    assert import_traces(files, second).added == 8
    assert stored(second) == stored(first)
    for together in (files, [*files, "tau.json", *(str(TRACES / name) for name in SOURCES)]):
        again = import_traces(together, first)
        assert (again.added, again.stored) == (0, 8)
    assert {each.scenario for each in stored(first)} >= {"k"}
    import_traces(files, second, ImportWish(outcome="evaluators"))
    assert {each.outcome for each in stored(second)} == {ImportedOutcome.UNJUDGED}


SAID = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
TRACES = Path(__file__).parents[1] / "testdata" / "traces"


def stored(folder: Path) -> list[ImportedTrial]:
    with closing(Store(folder / ".agentmut" / "store.db")) as store:
        found = [each.trial for each in store.imports.found()]
    return sorted(found, key=lambda each: each.model_dump_json())


@pytest.mark.parametrize("format", ["otlp", "atif"])
def test_a_recorded_run_that_a_suite_has_judged_stays_foreign_in_an_export(
    tmp_path: Path, format: str
) -> None:
    judged = TRACE.model_copy(update={"foreign": ForeignMark(source="tau.json:1", digest="d")})
    path = written(tmp_path, format, trial(trace=judged))
    import_traces([path.name], tmp_path)
    origins = analyze(tmp_path).evidence.origins
    assert (origins.runs, origins.foreign) == (1, 1)


def test_a_trace_that_was_changed_on_the_way_is_read_as_anybody_elses(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(otlp_line(trial(), "desk").replace("agentmut.step", "agentmut.number") + "\n")
    found = read_by_own_import("otlp", path)
    assert [step.tool for step in found.trace.tool_calls] == ["look_up", "refund"]


def test_an_export_can_be_repeated_and_trials_do_not_share_ids() -> None:
    assert otlp_line(trial(), "desk") == otlp_line(trial(), "desk")
    first, other = spans_of(otlp_line(trial(), "desk"))[0], spans_of(otlp_line(trial(number=8), "desk"))[0]
    assert first.trace_id != other.trace_id


def test_a_trajectory_has_a_step_for_each_model_call_with_its_calls_and_results() -> None:
    # harbor's own models of ATIF read trajectories of real runs; it needs Python 3.12, so this was tried by hand
    found = atif_trajectory(trial(), "desk")
    assert found["schema_version"] == "ATIF-v1.6"
    assert [step["step_id"] for step in found["steps"]] == [1, 2, 3, 4, 5]
    assert [step["source"] for step in found["steps"]] == ["system", "user", "agent", "user", "agent"]
    agent = found["steps"][2]
    assert agent["message"] == "Your parcel is lost."
    assert agent["tool_calls"] == [
        {"tool_call_id": "c1", "function_name": "look_up", "arguments": {"order": "A-1"}},
        {"tool_call_id": "c2", "function_name": "refund", "arguments": {"order": "A-1", "sum": 12.5}},
    ]
    assert agent["observation"]["results"] == [
        {"source_call_id": "c1", "content": '{"status":"lost"}'},
        {"source_call_id": "c2", "content": "ValueError: too late"},
    ]
    assert agent["metrics"] == {"prompt_tokens": 120, "completion_tokens": 9, "cost_usd": 0.0021}
    assert found["steps"][1]["timestamp"] == "1970-01-12T13:46:40.100000+00:00"
    assert found["final_metrics"]["total_prompt_tokens"] == 120
    assert found["extra"]["outcome"] == "fail"
    assert found["agent"]["tool_definitions"][0]["function"]["name"] == "look_up"


def test_a_run_that_did_nothing_is_a_trajectory_of_one_step() -> None:
    found = atif_trajectory(trial(turns=(), config=None, trace=AgentTrace(error="KeyError: 'x'")), "desk")
    assert [(step["source"], step["message"]) for step in found["steps"]] == [("agent", "KeyError: 'x'")]


def test_our_own_import_reads_what_the_agent_did_from_a_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "trial.json"
    path.write_text(json.dumps(atif_trajectory(trial(), "desk")))
    found = read_by_own_import("atif", path)
    assert [(s.tool, s.arguments) for s in found.trace.tool_calls] == [
        ("look_up", {"order": "A-1"}),
        ("refund", {"order": "A-1", "sum": 12.5}),
    ]
    assert found.trace.usage == TRACE.usage
    assert found.config.prompt == "Be brief."
    assert [tool.name for tool in found.config.tools] == ["look_up"]


@pytest.mark.parametrize("format", ["otlp", "atif"])
def test_imported_again_a_mutant_is_no_unknown_version_of_the_agent(tmp_path: Path, format: str) -> None:
    given = [
        trial(),
        trial(key="k2", repeat=4, config=None),
        trial(key="k3", number=8, run="r0", config=None),
        trial(key="k4", number=9, mutant="0dd5", config=None, outcome="pass"),
    ]
    for number, each in enumerate(given):
        written = otlp_line(each, "desk") if format == "otlp" else json.dumps(atif_trajectory(each, "desk"))
        (tmp_path / f"{number}.json").write_text(written + "\n")
        import_traces([f"{number}.json"], tmp_path)
    with closing(Store(tmp_path / ".agentmut" / "store.db")) as store:
        found = [each.trial for each in store.imports.found()]
    assert len({each.version for each in found}) == 4
    assert [each.version for each in found[1:]] == ["run r1", "run r0", "mutant 0dd5"]
    assert {each.scenario for each in found} == {"lost"}
    assert [each.outcome.value for each in found] == ["fail", "fail", "fail", "pass"]


@pytest.mark.parametrize("extra", [{"run": "r1"}, "text", None])
def test_a_trajectory_of_another_tool_is_not_taken_for_an_export_of_ours(tmp_path: Path, extra: Any) -> None:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(atif_trajectory(trial(), "desk") | {"extra": extra}))
    found = read_by_own_import("atif", path)
    assert (found.scenario, found.scores) == ("Where is A-1?", {})
    assert not any(name.startswith("agentmut.") for name in found.fields)


def test_a_run_comes_in_once_whatever_it_was_exported_as_and_known_as(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(atif_trajectory(trial(), "desk")))
    (tmp_path / "a.jsonl").write_text(otlp_line(trial(), "desk") + "\n")
    old = read_by_own_import("atif", tmp_path / "a.json")
    plain = {name: value for name, value in old.fields.items() if not name.startswith("agentmut.")}
    # what was read before a26118b3
    before = old.model_copy(update={"scenario": old.turns[0], "fields": plain})
    kept = ImportedTrial(scenario="x", outcome=ImportedOutcome.FAIL, format="atif", files="f", trial=before)
    content = storable_json(before, exclude={"place", "scores"}, exclude_defaults=True)
    known_as = digest_of([hashlib.sha256(content.encode()).hexdigest(), 1])
    (other := tmp_path / "other").mkdir()
    both = import_traces([str(tmp_path / "a.json"), str(tmp_path / "a.jsonl")], other)
    assert (both.added, both.known) == (1, 1)
    store_path = tmp_path / ".agentmut" / "store.db"
    store_path.parent.mkdir()
    with closing(Store(store_path)) as store:
        assert store.imports.add([(known_as, kept)], 1.0) == 1
    for file in ("a.json", "a.jsonl", "a.json"):
        report = import_traces([file], tmp_path)
        assert (report.added, report.known, report.stored) == (0, 1, 1)
    found = analyze(tmp_path)
    assert (found.evidence.origins.runs, found.evidence.origins.foreign) == (1, 0)
    page = render_analysis(found)
    assert "agentmut itself ran 1 of these runs before" in " ".join(page.split())
    assert "another tool" not in page
