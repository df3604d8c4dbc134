"""Text of programs, and answers that are laid down word by word, stay as they are."""

import time
from importlib.metadata import entry_points

import pytest

from agentmut.language.prompt.document import parse
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.seams.protocols.operator import OperatorOptions


def protected(text: str) -> list[str]:
    return [text[start:end] for start, end in parse(text).protected]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (r"Escape \` here, and write `always_x must` there.", ["`always_x must`"]),
        (r"Paths end in \\`never`.", ["`never`"]),
        ("Set config.always to on.", ["config.always"]),
        ("Ping @never in #always with :always: on.", ["@never", "#always", ":always:"]),
        ("Replace __ALWAYS__, [[always]] and [always].", ["__ALWAYS__", "[[always]]", "[always]"]),
        ("Set timeout=30 and MUST_RETRY=3.", ["timeout=30", "MUST_RETRY=3"]),
        ("Return status=ok;code=200 at once.", ["status=ok;code=200"]),
        ('<rule id="1">Check it.</rule>', ['<rule id="1">', "</rule>"]),
        ("Call f(3, 10) twice.", ["f(3, 10)"]),
        ("Count the order(s) of today.", []),
        ("Run curl -m 30 first.", ["-m 30"]),
        ("Run SELECT * FROM t WHERE n > 100 LIMIT 10. Be kind.", ["SELECT * FROM t WHERE n > 100 LIMIT 10"]),
        ("Use this:\nstatus: must\nlimit: 100\n", ["status: must\nlimit: 100\n"]),
        ("Tone: always be kind.\nLimits: never guess.\n", []),
        ("Show <output>You must wait.</output> then.", ["<output>You must wait.</output>"]),
        ("Reply exactly: You must wait 3 days.\nBe kind.", ["You must wait 3 days."]),
        ("Say exactly: Always here for you.", ["Always here for you."]),
        ("Answer YES or NO.", ["YES or NO"]),
        ("Return NEVER if it is not known.", ["NEVER"]),
        ("Answer ONLY in German.", []),
        ("Greet {{ user, and never guess.\nAlways ask.", ["{{ user, and never guess."]),
        ("Greet {% if vip, and never guess.\n\nAlways ask. %}", ["{% if vip, and never guess."]),
        ("Greet {{ user }} always.", ["{{ user }}"]),
        ("Wait until 5 p.m. and ask, e.g. for a name.", []),
    ],
)
def test_names_values_and_laid_down_answers_are_protected(text: str, kept: list[str]) -> None:
    assert protected(text) == kept


def made(name: str, prompt: str) -> list[str]:
    operator = entry_points(group="agentmut.operators", name=name)[name].load()()
    config = AgentConfig(prompt=prompt)
    found = generate(config, [operator], OperatorOptions()).mutants
    return [mutant.apply(config).prompt for mutant in found]


def test_answers_in_capitals_are_no_emphasis() -> None:
    assert made("prompt.remove_emphasis", "NEVER guess. Answer with YES, NO or NEVER.") == [
        "Never guess. Answer with YES, NO or NEVER."
    ]


@pytest.mark.parametrize("name", ["prompt.contradict", "prompt.duplicate", "prompt.reorder_instructions"])
def test_a_placeholder_that_never_closes_is_not_copied_or_moved(name: str) -> None:
    assert made(name, "- Always greet {{ user.\n- Be kind and brief.\n") in (
        [], ["- Always greet {{ user.\n- Be kind and brief.\n- Be kind and brief.\n"],
    )  # fmt: skip


@pytest.mark.parametrize("piece", ["A-", "a: b\n", "{{ ", "say ", "`\\", "a.", "SELECT ", "<output>"])
def test_long_runs_of_what_begins_a_name_take_no_time(piece: str) -> None:
    started = time.process_time()
    parse(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 2
