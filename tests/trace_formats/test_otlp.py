"""OTLP/JSON that real instrumentations wrote (`tests/testdata/traces/record.py`), and spans in odd orders."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.foreign import BrokenRecord, ForeignTrial
from agentmut.nouns.trace import Action, Step
from agentmut.seams.protocols.trace_format import TraceFile
from agentmut.testing import check_trace_format
from agentmut.trace_formats import read_traces
from agentmut.trace_formats.otlp.otlp_json import OtlpJson
from agentmut.usecases import check_suite

RECORDED = Path(__file__).parents[1] / "testdata" / "traces"
LOOP = (
    "openinference_crewai",
    "openinference_langchain",
    "openinference_openai",
    "pydantic_ai",
    "traceloop",
    "traceloop_anthropic",
    "traceloop_langchain",
    "traceloop_old",
)
"""Instrumentations of one agent in a loop with its tool."""
FILES = (*LOOP, "openinference_agents", "openai_v2")
PROMPT = (
    "You are a support agent. Look up the order with track_order before you answer. Say what its status is."
)


def read(*paths: Path) -> list[ForeignTrial | BrokenRecord]:
    return list(OtlpJson().read([TraceFile(path, path.name) for path in paths]))


def trials(*paths: Path) -> list[ForeignTrial]:
    found = read(*paths)
    assert not [str(one) for one in found if isinstance(one, BrokenRecord)]
    return [one for one in found if isinstance(one, ForeignTrial)]


def recorded(name: str) -> list[ForeignTrial]:
    return trials(RECORDED / f"{name}.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_the_format_is_sound_on_what_instrumentations_write(name: str) -> None:
    check_trace_format(OtlpJson, RECORDED / f"{name}.jsonl")


@pytest.mark.parametrize("name", LOOP)
def test_a_loop_is_read_alike_whatever_has_recorded_it(name: str) -> None:
    first, second = recorded(name)
    for trial, order, returned in (
        (first, "W1", '{"order": "W1", "status": "shipped"}'),
        (second, "W2", "error: there is no order W2"),
    ):
        crew = f"You are desk. {PROMPT}\nYour personal goal is: Answer."
        assert trial.config.prompt == (crew if name == "openinference_crewai" else PROMPT)
        assert trial.config.model.name == "sim-large"
        assert trial.config.tool_names == ("track_order",)
        assert trial.config.tools[0].parameters["required"] == ["order_id"]
        assert [step.action for step in trial.trace.steps] == [
            Action.REASON, Action.CALL_TOOL, Action.REASON, Action.RESPOND,
        ]  # fmt: skip
        (call,) = trial.trace.tool_calls
        assert (call.tool, call.arguments, call.output) == ("track_order", {"order_id": order}, returned)
        assert call.call_id is not None and call.call_id.startswith(("call_", "toolu_"))
        assert any(
            asked in str(trial.turns[0]) for asked in ("Where is my order W1?", "What about order W2?")
        )
        assert order in trial.trace.text
        assert trial.fields["service.version"] == "1.4.0"
    assert 0 < first.trace.seconds < 60
    assert first.started is not None and first.started > 1.79e9


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("openinference_langchain", (64, 8, 80, 57)), ("traceloop", (64, 8, 80, 57)), ("traceloop_old", (64, 8, 80, 57)),
     ("traceloop_anthropic", (64, 8, 80, 57)), ("traceloop_langchain", (64, 8, 80, 57)),
     ("openinference_crewai", (126, 8, 142, 62)), ("pydantic_ai", (71, 8, 87, 57))],
)  # fmt: skip
def test_tokens_are_those_of_each_model_call(name: str, tokens: tuple[int, ...]) -> None:
    calls = [step.usage for step in recorded(name)[0].trace.steps if step.action is Action.REASON]
    assert tuple(n for usage in calls for n in (usage.input_tokens, usage.output_tokens)) == tokens


def test_a_failed_tool_has_its_error() -> None:
    errors = {
        name: recorded(name)[1].trace.tool_calls[-1].error for name in ("traceloop", "openinference_agents")
    }
    assert errors["traceloop"] == "LookupError"
    assert str(errors["openinference_agents"]).startswith("Error running tool")


def test_a_hand_off_leads_from_agent_to_agent() -> None:
    for trial in recorded("openinference_agents"):
        assert trial.trace.edges == (("front", "orders"),)
        assert trial.config.prompt.startswith("You are the front desk.")
        assert [(step.node, step.tool) for step in trial.trace.tool_calls] == [
            ("front", "transfer_to_orders"), ("orders", "track_order"),
        ]  # fmt: skip
        assert trial.trace.tool_calls[0].output == '{"assistant": "orders"}'


def test_a_run_whose_messages_were_not_recorded_is_no_evidence() -> None:
    for trial in recorded("openai_v2"):
        assert "its messages were not recorded" in trial.no_evidence
        assert trial.scenario == "invoke_agent desk"
        assert trial.trace.tools_called == ("track_order",)


def span(id: str, parent: str = "", at: int = 0, trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    written = [
        {
            "key": name.replace("__", "."),
            "value": {"stringValue": value} if isinstance(value, str) else {"intValue": value},
        }
        for name, value in attributes.items()
    ]
    times = {"startTimeUnixNano": str(10**18 + at * 10**9), "endTimeUnixNano": str(10**18 + (at + 1) * 10**9)}
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": id,
        "attributes": written,
        **times,
    }


def request(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def call(id: str, name: str = "look") -> dict[str, Any]:
    return {"type": "tool_call", "id": id, "name": name, "arguments": {"n": id}}


def returned(id: str) -> dict[str, Any]:
    return said("tool", {"type": "tool_call_response", "id": id, "response": f"of {id}"})


def chat(
    id: str, asked: list[dict[str, Any]], answered: dict[str, Any], at: int = 0, **more: Any
) -> dict[str, Any]:
    content = {
        "gen_ai__input__messages": json.dumps(asked),
        "gen_ai__output__messages": json.dumps([answered]),
    }
    return span(id, at=at, **{"parent": "root", "gen_ai__operation__name": "chat", **content, **more})


ROOT = span(
    "root", at=0, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="desk", session__id="s 7"
)
HELLO = said("user", text("Hello"))


def written(folder: Path, *lines: str, name: str = "runs.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_spans_of_a_run_are_put_together_from_lines_and_files_in_any_order(tmp_path: Path) -> None:
    first = chat("a", [HELLO], said("assistant", call("c1"), call("c2")), at=1)
    tools = [
        span(one, "root", at, gen_ai__operation__name="execute_tool", gen_ai__tool__name="look",
             gen_ai__tool__call__id=one, gen_ai__tool__call__result=f"of {one}")
        for one, at in (("c2", 2), ("c1", 3))
    ]  # fmt: skip
    last = chat("b", [HELLO], said("assistant", text("Bye")), at=5)
    one = written(tmp_path, request(last), request(tools[1], ROOT), name="one.jsonl")
    other = written(tmp_path, request(tools[0]), request(first), name="two.jsonl")
    (trial,) = trials(one, other)
    assert [(step.call_id, step.output, step.arguments) for step in trial.trace.tool_calls] == [
        ("c2", "of c2", {"n": "c2"}), ("c1", "of c1", {"n": "c1"}),
    ]  # fmt: skip
    assert (trial.trace.outputs, trial.trace.seconds) == (("Bye",), 6.0)


def test_parallel_calls_without_ids_go_with_the_call_of_their_arguments(tmp_path: Path) -> None:
    """The first attempt is refused and asked again, and exporters write a missing parent as zeros, too."""
    refused = chat("a", [HELLO], said("assistant"), at=1, error__type="RateLimitError")
    asked = chat("b", [HELLO], said("assistant", call("c1"), call("c2")), at=2)
    tools = [
        span(f"of {one}", "root", at, gen_ai__operation__name="execute_tool", gen_ai__tool__name="look",
             gen_ai__tool__call__arguments=json.dumps({"n": one}))
        for one, at in (("c2", 3), ("c1", 4))
    ]  # fmt: skip
    root = {**ROOT, "parentSpanId": "0" * 16}
    (trial,) = trials(written(tmp_path, request(refused, asked, *tools, root)))
    assert [(step.call_id, step.arguments) for step in trial.trace.tool_calls] == [
        ("c2", {"n": "c2"}), ("c1", {"n": "c1"}),
    ]  # fmt: skip
    assert [step.error for step in trial.trace.steps if step.action is Action.REASON] == [
        "RateLimitError",
        None,
    ]
    assert not trial.unfinished


def test_calls_without_spans_have_the_results_that_the_model_is_told(tmp_path: Path) -> None:
    first = chat("a", [HELLO], said("assistant", call("c1"), call("c2")), at=1)
    asked = [HELLO, said("assistant", call("c1"), call("c2")), returned("c1"), returned("c2")]
    last = chat("b", asked, said("assistant", text("Bye"), call("c3")), at=3)
    (trial,) = trials(written(tmp_path, request(ROOT, first, last)))
    assert [(step.call_id, step.output) for step in trial.trace.tool_calls] == [
        ("c1", "of c1"), ("c2", "of c2"), ("c3", None),
    ]  # fmt: skip


def test_each_further_word_of_the_user_is_a_turn_and_history_is_none(tmp_path: Path) -> None:
    before = [said("user", text("Earlier")), said("assistant", text("Yes")), HELLO]
    further = [*before, said("assistant", text("One")), said("user", text("And?"))]
    first = chat("a", before, said("assistant", text("One")), at=1)
    second = chat("b", further, said("assistant", text("Two")), at=2)
    (trial,) = trials(written(tmp_path, request(ROOT, first, second)))
    assert (trial.turns, trial.trace.outputs) == (("Hello", "And?"), ("One", "Two"))
    assert [(step.action, step.turn) for step in trial.trace.steps] == [
        (Action.REASON, 0), (Action.RESPOND, 0), (Action.REASON, 1), (Action.RESPOND, 1),
    ]  # fmt: skip


def test_the_same_call_recorded_by_a_framework_and_by_its_sdk_is_one_step(tmp_path: Path) -> None:
    outer = chat("a", [HELLO], said("assistant", text("Hi")), at=1)
    inner = chat("b", [HELLO], said("assistant", text("Hi")), at=1, parent="a")
    (trial,) = trials(written(tmp_path, request(ROOT, outer, inner)))
    assert [step.action for step in trial.trace.steps] == [Action.REASON, Action.RESPOND]


def test_a_root_that_failed_is_an_error_and_spans_of_no_agent_are_no_trial(tmp_path: Path) -> None:
    failed = ROOT | {"status": {"code": 2, "message": "boom"}}
    web = span("w", trace="t2", http__method="GET")
    (trial,) = trials(written(tmp_path, request(failed, web), request(chat("a", [HELLO], said("assistant")))))
    assert trial.trace.error == "boom"


def test_recorded_evaluations_are_scores(tmp_path: Path) -> None:
    about = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.explanation": "kind"}
    given = [{"key": name, "value": {"stringValue": value}} for name, value in about.items()]
    given.append({"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.75}})
    judged = ROOT | {"events": [{"name": "gen_ai.evaluation.result", "attributes": given}]}
    (trial,) = trials(written(tmp_path, request(judged, chat("a", [HELLO], said("assistant", text("Hi"))))))
    assert (trial.scores["tone"].value, trial.scores["tone"].reason) == (0.75, "kind")


def test_messages_in_events_of_the_older_names_are_read(tmp_path: Path) -> None:
    def event(name: str, **of: str) -> dict[str, Any]:
        return {"name": name, "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in of.items()]}

    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}]
    model = span("a", "root", 1, gen_ai__system="openai", gen_ai__request__model="m") | {
        "events": [
            event("gen_ai.system.message", content="Be kind."),
            event("gen_ai.user.message", content="Hello"),
            event("gen_ai.choice", message=json.dumps({"content": "Hi", "tool_calls": calls})),
        ]
    }
    (trial,) = trials(written(tmp_path, request(ROOT, model)))
    assert (trial.config.prompt, trial.turns, trial.config.model.name) == ("Be kind.", ("Hello",), "m")
    assert [(step.tool, step.arguments) for step in trial.trace.tool_calls] == [("look", {"n": 1})]


def test_a_broken_line_is_told_with_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    good = request(ROOT, chat("a", [HELLO], said("assistant", text("Hi"))))
    path = written(
        tmp_path, good[:60], '{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}', good
    )
    found = read(path)
    assert [str(one).partition(" is not JSON")[0] for one in found if isinstance(one, BrokenRecord)] == [
        "runs.jsonl:1: it", "runs.jsonl:2: it has no 'startTimeUnixNano'",
    ]  # fmt: skip
    assert len([one for one in found if isinstance(one, ForeignTrial)]) == 1


@pytest.mark.parametrize(
    "line", ["null", "42", '{"resourceSpans": 3}', '{"resourceSpans": [{"scopeSpans": 7}]}']
)
def test_a_line_of_another_type_is_told_in_words(line: str, tmp_path: Path) -> None:
    (broken,) = read(written(tmp_path, line))
    assert str(broken).startswith("runs.jsonl:1: a field is of another type than the format has it (")


def test_auto_recognises_the_files_and_reads_them_together() -> None:
    files = [TraceFile(path, path.name) for path in sorted(RECORDED.glob("*.jsonl"))]
    report = read_traces(files)
    assert report.formats == ("langfuse", "langsmith", "mlflow", "otlp")
    assert len(report.trials) == 2 * len(FILES) + 2 + 2 + 2
    assert report.broken == ()


def test_recorded_spans_are_a_suite_by_a_field_with_dots_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text((RECORDED / "openinference_langchain.jsonl").read_text())
    judges = [{"tool_called": "track_order"}, {"contains": "shipped"}]
    suite = {"files": "runs.jsonl", "scenario_by": "service.name", "evaluators": judges}
    (tmp_path / "agentmut.yaml").write_text(json.dumps({"version": 1, "suite": {"traces": suite}}))
    report = check_suite(tmp_path)
    assert {row.scenario: (row.passes, row.trials) for row in report.scenarios} == {"desk": (1, 2)}
    assert report.reliability is not None and report.reliability.p95 is not None


def test_steps_tell_when_they_began() -> None:
    steps: tuple[Step, ...] = recorded("openinference_agents")[0].trace.steps
    assert [step.started for step in steps] == sorted(step.started for step in steps)
    assert all(step.seconds >= 0 for step in steps)
