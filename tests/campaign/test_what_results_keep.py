"""`result.json` keeps the texts that mutants change, the order of outcomes, and what stopped the trials."""

from agentmut.campaign.decision.arm import Arm
from agentmut.campaign.decision.lane import Lane
from agentmut.campaign.results.decision_tables import decision_tables
from agentmut.campaign.selection.source_texts import LONGEST, source_texts
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.origin import Origin, Sources
from agentmut.recording.redaction import Redactor
from agentmut.stats.kill.allocation import evidence
from agentmut.stats.kill.rule import KillDesign, decision_table

PROMPT = "# Desk\n\n- Never guess.\n- Be polite.\n"
KEY = "hunter2hunter2"


def mutant(id: str, *edits: Edit) -> Mutant:
    return Mutant(
        id=id,
        operator="prompt.drop_instruction",
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        edits=edits,
        description="",
        version=1,
        reach=Reach.SENT,
    )


def edit(old: str, new: str, text: str = PROMPT, pointer: str = "/prompt") -> Edit:
    start = text.index(old)
    return Edit(pointer=pointer, before=old, after=new, span=(start, start + len(old)))


def origin(prompt: str = PROMPT, **config: object) -> Origin:
    sources = Sources(prompt="prompt.md")
    return Origin(
        config=AgentConfig.model_validate({"prompt": prompt, **config}), sources=sources, file="agentmut.yaml"
    )


def test_a_rule_knows_its_line_and_the_mutants_that_change_it() -> None:
    mutants = [mutant("one", edit("- Never guess.\n", "")), mutant("two", edit("# Desk\n", ""))]
    found = source_texts(origin(), mutants, Redactor(()))
    (prompt,) = found.texts
    assert (prompt.path, prompt.line, prompt.text) == ("prompt.md", 1, PROMPT)
    assert [(PROMPT[r.start : r.end], r.line, r.mutants) for r in prompt.rules] == [
        ("Never guess.", 3, ("one",)),
        ("Be polite.", 4, ()),
    ]


def test_a_mutant_that_ends_where_a_rule_begins_does_not_change_it() -> None:
    before = mutant("one", edit("# Desk\n\n- ", ""))
    behind = mutant("two", edit("\n- Be", ""))
    first, second = source_texts(origin(), [before, behind], Redactor(())).texts[0].rules
    assert (first.mutants, second.mutants) == ((), ("two",))


def test_changes_refer_to_the_prompt_and_to_documents() -> None:
    text = "Refunds within 30 days."
    agent = origin(context=(Document(name="policy.md", text=text),))
    found = source_texts(agent, [], Redactor(()))
    (change,) = found.changes(mutant("one", edit("30", "60", text, "/context/0/text")))
    assert found.texts[change.text].path == "policy.md"
    assert (text[change.start : change.end], change.after) == ("30", "60")


def test_a_mutant_that_changes_more_than_texts_has_no_changes() -> None:
    found = source_texts(origin(), [], Redactor(()))
    both = mutant("one", edit("guess", "know"), Edit(pointer="/model/name", before="a", after="b"))
    assert found.changes(both) == ()


def test_a_prompt_with_a_secret_is_kept_without_it_and_without_rules() -> None:
    prompt = f"- The password is {KEY}.\n- Be polite.\n"
    change = mutant("one", edit("polite", "rude", prompt))
    found = source_texts(origin(prompt), [change], Redactor([KEY]))
    assert KEY not in found.texts[0].text
    assert found.texts[0].rules == ()
    assert found.changes(change) == ()


def test_a_text_that_is_too_long_is_left_out() -> None:
    assert source_texts(origin("x" * (LONGEST + 1)), [], Redactor(())).texts == ()


def lane(outcomes: str) -> Lane:
    made = Lane("refund", decision_table(4, 50, KillDesign(0.025, 0.1, 0.2, 100)), evidence(4, 50, 100))
    for outcome in outcomes:
        made = made.with_trial(outcome == "1")
    return made


def test_outcomes_are_kept_in_their_order_and_trials_counted_up_to_the_decision() -> None:
    assert lane("0100").outcomes == "0100"
    killed = lane("1" * 20)
    assert killed.trials < 20
    assert killed.outcomes == "1" * 20  # a finer round reads those after the decision


def test_a_table_is_kept_once_as_far_as_trials_went() -> None:
    short, long = lane("00"), lane("01000")
    drop = mutant("one", edit("guess", ""))
    kept = decision_tables([Arm(drop, [tried], 1) for tried in (short, long)])
    (table,) = kept.tables
    assert kept.index_for(short) == kept.index_for(long) == 0
    assert (table.f0, table.n0, table.alpha) == (4, 50, 0.025)
    assert table.kill_at == long.table.kill_at[:6]
    assert table.survive_at == long.table.survive_at[:6]


def test_the_evidence_of_every_state_on_a_path_can_be_looked_up() -> None:
    tried = lane("0010100010")
    (table,) = decision_tables([Arm(mutant("one", edit("guess", "")), [tried], 1)]).tables
    failures = 0
    for n in range(tried.trials + 1):
        failures += n > 0 and tried.outcomes[n - 1] == "1"
        lowest = max((-1, *table.survive_at[:n])) + 1
        assert table.log_evidence[n][failures - lowest] == round(tried.evidence.log_ratio[n][failures], 3)
