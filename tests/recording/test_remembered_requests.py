"""Requests that had no secret are not searched again; one that has a secret is cleaned each time."""

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.trace import AgentTrace
from agentmut.recording import Redactor

TOKEN = "ghp_" + "q7Xk2LmPz9RtV4bNw8Yc3HdJ5sGfA6eU1iOp"


class Counting(Redactor):
    searched = 0

    def text(self, text: str) -> str:
        self.searched += "be brief" in text
        return super().text(text)


def sent(text: str) -> Execution:
    return Execution(ending=Ending.ANSWERED, footprint=Footprint(requests=(RequestShape(text=text),)))


def test_a_request_without_secrets_is_searched_once() -> None:
    redactor = Counting(())
    for _ in range(5):
        assert redactor.execution(sent("be brief")) == sent("be brief")
    assert redactor.searched == 1


def test_a_request_with_a_secret_is_cleaned_each_time() -> None:
    redactor = Redactor(())
    for _ in range(3):
        assert TOKEN not in redactor.execution(sent(f"be brief, {TOKEN}")).model_dump_json()


def test_another_redactor_knows_other_secrets() -> None:
    assert Redactor(()).execution(sent("be brief, swordfish"))
    cleaned = Redactor((), short=["swordfish"]).execution(sent("be brief, swordfish"))
    assert "swordfish" not in cleaned.model_dump_json()


def test_a_footprint_without_secrets_vouches_for_no_other_part() -> None:
    redactor = Redactor(())
    assert redactor.execution(sent("be brief")) == sent("be brief")
    for changed in ({"reason": f"the key is {TOKEN}"}, {"trace": AgentTrace(outputs=(TOKEN,))}):
        assert TOKEN not in redactor.execution(sent("be brief").model_copy(update=changed)).model_dump_json()
    stranger = sent("be brief").footprint.model_copy(update={"strangers": (f"thread {TOKEN}",)})
    cleaned = redactor.execution(sent("be brief").model_copy(update={"footprint": stranger}))
    assert TOKEN not in cleaned.model_dump_json()
