"""A changed copy of a noun is another noun, also where the first has been asked for its digest."""

from agentmut.nouns.config import AgentConfig


def test_a_changed_copy_has_a_digest_of_its_own() -> None:
    first = AgentConfig(prompt="Be brief.")
    assert first.digest == AgentConfig(prompt="Be brief.").digest
    copied = first.model_copy(update={"prompt": "Be kind."})
    assert copied.digest == AgentConfig(prompt="Be kind.").digest
    assert first.model_copy() == first
