"""Comparing runs by facts: structured answers, tool calls, conversion, stability, the text as last resort."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import ProjectError, RunError
from agentmut.judging.facts.comparison import comparison_for
from agentmut.judging.facts.registry import Resemblance, build_extractor, distance
from agentmut.nouns.fact import Fact
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.project.loading import load_project


def scenario(*compare: object) -> Scenario:
    specs = [{"name": one} if isinstance(one, str) else one for one in compare]
    written = {
        "name": "one",
        "turns": ["hi"],
        "evaluators": [{"name": "contains", "argument": "a"}],
        "compare": specs,
    }
    return Scenario.model_validate(written)


def run(answer: Any = "", *calls: tuple[str, dict[str, Any]]) -> AgentTrace:
    steps = tuple(Step(action=Action.CALL_TOOL, tool=tool, arguments=given) for tool, given in calls)
    return AgentTrace(steps=steps, outputs=(answer,))


def differences(
    one: AgentTrace, other: AgentTrace, *compare: object, same: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    asked = scenario(*compare)
    return comparison_for(asked).differences(asked, one, other, same or {})


def test_a_paraphrased_answer_states_the_same_facts() -> None:
    one = run("We can refund $1,200.00 for order A-1042 within five days, by 3 March 2026.")
    other = run("By March 3rd, 2026 - that is 5 days - you will be refunded 1200 dollars (order a-1042).")
    assert differences(one, other) == ()


def test_differences_are_phrases_for_a_report() -> None:
    one = run("Approved. You have 30 days.", ("refund", {"order_id": "A-1", "amount": 5}))
    other = run(
        "Not approved. You have 60 days.", ("escalate", {}), ("refund", {"order_id": "A-2", "amount": 5})
    )
    assert set(differences(one, other)) == {
        "decision: yes became no", "30 days became 60 days", "tool refund order_id: a-1 became a-2",
        "tool escalate only in the follow-up", "'approved' is denied only in the follow-up",
    }  # fmt: skip
    assert differences(run("It takes 30 days."), run("Soon.")) == ("30 days only in the source",)


def test_calls_are_compared_without_order_and_without_the_wording_of_free_text() -> None:
    one = run(
        "",
        ("refund", {"order": "A-1", "amount": 5, "reason": "it broke on the first day of use"}),
        ("look", {}),
    )
    other = run(
        "",
        ("look", {}),
        ("refund", {"amount": "5.00", "order": "a-1", "reason": "customer says it is broken"}),
    )
    assert differences(one, other, "tool_calls") == ()


def test_numbers_and_ids_within_free_text_arguments_count() -> None:
    one = run("", ("send", {"message": "your order A-1042 is on its way"}))
    other = run("", ("send", {"message": "the parcel of order A-1024 has been sent"}))
    assert differences(one, other, "tool_calls") != ()


def test_which_argument_goes_with_which_makes_a_difference() -> None:
    one = run("", ("pay", {"to": "ann", "amount": 5}), ("pay", {"to": "bob", "amount": 7}))
    other = run("", ("pay", {"to": "ann", "amount": 7}), ("pay", {"to": "bob", "amount": 5}))
    assert differences(one, other, "tool_calls") != ()
    assert differences(one, other, "tools") == ()


def test_fields_are_read_from_structured_answers_and_from_blocks_in_text() -> None:
    fields = {"status": "Shipped", "items": [{"n": 1}, {"n": 2.0}], "note": None}
    text = 'Here [1] it is:\n```json\n{"items": [{"n": 2}, {"n": 1}], "note": null, "status": "shipped"}\n```'
    assert differences(run(fields), run(text), "json") == ()
    changed = run({**fields, "status": "lost"})
    assert differences(run(fields), changed, "json") == ("field /status: shipped became lost",)
    assert differences(run(fields), changed, {"name": "json", "argument": ["/items/0"]}) == ()


def test_a_converted_value_stands_for_the_original() -> None:
    one, other = run("It is 10 km."), run("It is 6.21 miles.")
    assert differences(one, other, same={"10 km": "6.2 miles"}) == ()
    assert differences(one, run("It is 7 miles."), same={"10 km": "6.2 miles"}) != ()
    assert differences(one, run("It is ten kilometres."), same={"10 km": "6.2 miles"}) == ()
    calls = run("", ("go", {"to": "x", "unit": "km"})), run("", ("go", {"to": "x", "unit": "miles"}))
    assert differences(*calls, same={"km": "miles"}) == ()


def test_facts_that_come_and_go_make_no_difference_and_stable_ones_do() -> None:
    extra = ["", " It weighs 2 kg.", " We are open until 18:00.", ""]
    sources = [run(f"You have 30 days.{extra[i % 4]}", ("look", {"id": "A-1"})) for i in range(20)]
    plain = scenario()
    found = comparison_for(plain, sources)
    assert all(found.differences(plain, *pair) == () for pair in pairwise(sources))
    assert found.differences(plain, sources[0], run("You have 60 days.", ("look", {"id": "A-1"}))) == (
        "30 days became 60 days",
    )
    assert found.differences(plain, sources[0], run("You have 30 days.")) != ()
    news = run("You have 30 days.", ("look", {"id": "A-1"}), ("close_account", {}))
    assert found.differences(plain, sources[0], news) == ("tool close_account only in the follow-up",)


def test_a_kind_that_was_asked_for_is_compared_even_where_it_is_not_stable() -> None:
    sources = [run("yes" if i % 2 else "no") for i in range(20)]
    asked = scenario("decisions")
    found = comparison_for(asked, sources)
    assert found.differences(asked, run("yes"), run("no")) == ("decision: yes became no",)


def test_a_date_whose_year_is_left_out_is_the_same_date() -> None:
    assert differences(run("on 3 March 2026"), run("on 3 March")) == ()
    assert differences(run("on 3 March 2026"), run("on 3 March 2025")) == (
        "date: 2026-03-03 became 2025-03-03",
    )


def test_the_projects_comparison_holds_where_the_scenario_has_none() -> None:
    tools = (EvaluatorSpec(name="tools"),)
    assert [one.name for one in comparison_for(scenario(), (), tools).extractors] == ["tools"]
    assert [one.name for one in comparison_for(scenario("dates"), (), tools).extractors] == ["dates"]


def test_without_any_stable_fact_texts_are_compared_by_a_calibrated_distance() -> None:
    rhymes = [
        "the cat sat on the mat",
        "on the mat sat the cat",
        "there the cat sat, on a mat",
        "a cat sat on the mat",
    ]
    sources = [run(rhymes[i % 4]) for i in range(20)]
    plain = scenario()
    found = comparison_for(plain, sources)
    assert "text" in [one.name for one in found.extractors]
    assert found.differences(plain, sources[0], sources[1]) == ()
    (said,) = found.differences(plain, sources[0], run("dogs never sleep in boxes"))
    assert said.startswith("text distance ")


def test_answers_without_a_stable_fact_count_as_texts_beside_stable_calls() -> None:
    words = ["It is in transit.", "Your parcel is in transit.", "In transit.", "It is in transit now."]
    sources = [run(words[i % 4], ("look", {"id": "A-1"})) for i in range(20)]
    plain = scenario()
    found = comparison_for(plain, sources)
    assert found.differences(plain, sources[0], sources[1]) == ()
    assert found.differences(plain, sources[0], run("I have no idea.", ("look", {"id": "A-1"}))) != ()


def test_a_conversion_holds_of_expected_facts_too() -> None:
    sources = [run("It is 10 km away.") for _ in range(10)]
    plain = scenario()
    found = comparison_for(plain, sources)
    same = {"10 km": "6.2 miles"}
    assert found.differences(plain, sources[0], run("It is 6.21 mi away."), same) == ()
    assert found.differences(plain, sources[0], run("It is 9 miles away."), same) != ()


def test_the_threshold_is_the_95_percent_quantile_of_distances_between_sources() -> None:
    texts = ["aaaa bbbb", "aaaa cccc", "aaaa dddd eeee", "zzzz"]
    found = sorted(distance(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :])
    fitted = Resemblance().calibrated(scenario(), tuple(run(text) for text in texts))
    assert isinstance(fitted, Resemblance)
    assert fitted.threshold == found[5]  # the 6th of 6: ceil(0.95 * 6) = 6
    assert fitted.calibrated(scenario(), (run("a"),) * 5) is fitted


@settings(deadline=None, max_examples=40)
@given(st.text(alphabet="ab c", max_size=20), st.text(alphabet="ab c", max_size=20))
def test_the_distance_of_texts_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    for measure in ("chrf", "edit"):
        apart = distance(one, other, measure)
        assert apart == pytest.approx(distance(other, one, measure))
        assert -1e-9 <= apart <= 1 and distance(one, one, measure) == 0


PARTS = [
    "It takes 5 days.",
    "We can refund it.",
    "We can't.",
    "On 3 March.",
    "2026-03-03",
    "A-1042",
    "$5",
    "{}",
]
SAID = st.lists(st.sampled_from(PARTS)).map(" ".join)


@settings(deadline=None, max_examples=60)
@given(SAID, SAID)
def test_a_run_agrees_with_itself_and_without_sources_either_way_round(one: str, other: str) -> None:
    assert differences(run(one), run(one)) == ()
    assert bool(differences(run(one), run(other))) is bool(differences(run(other), run(one)))


@settings(deadline=None, max_examples=40)
@given(st.lists(SAID, min_size=5, max_size=12), SAID)
def test_whatever_the_sources_a_run_agrees_with_itself(sources: list[str], said: str) -> None:
    plain = scenario()
    assert comparison_for(plain, [run(one) for one in sources]).differences(plain, run(said), run(said)) == ()


def test_a_function_of_the_users_own_reads_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def seats(trace):\n    return {'seats': trace.text.count('x')}\n"
    code += "def broken(scenario, trace):\n    return 3\n"
    (tmp_path / "own_facts_of_a_test.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    own = build_extractor(EvaluatorSpec(name="python", argument="own_facts_of_a_test:seats"))
    assert own.facts(scenario(), run("xx")) == {Fact("python", "seats = 2")}
    broken = build_extractor(EvaluatorSpec(name="python", argument="own_facts_of_a_test:broken"))
    with pytest.raises(RunError, match="own_facts_of_a_test:broken"):
        broken.facts(scenario(), run("xx"))


def test_a_wrong_comparison_is_refused_when_the_project_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: my_agent:run}\n"
        "suite: {scenarios: scenarios.yaml}\nrelations:\n  compare:\n    - numbers\n    - tolls\n"
    )
    (tmp_path / "scenarios.yaml").write_text(
        "- name: one\n  input: hi\n  evaluators: [{contains: hello}]\n  compare:\n    - options: []\n    - dats\n"
    )
    with pytest.raises(ProjectError) as error:
        load_project(tmp_path)
    said = str(error.value)
    assert (
        "agentmut.yaml:7: relations.compare[1]: unknown kind of facts 'tolls'. Did you mean 'tools'?" in said
    )
    assert "scenarios.yaml:5: [0].compare[0]: facts 'options': expects a list of options" in said
    assert "scenarios.yaml:6: [0].compare[1]: unknown kind of facts 'dats'. Did you mean 'dates'?" in said
