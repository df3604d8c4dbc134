"""The relation of formats: an answer has the format that was asked for."""

from collections.abc import Iterable

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, Check, Expectation, Family, FollowUp, Pair, Scenario, Source
from agentmut.relations.base import check, source
from agentmut.relations.oracle.answer_formats import Format, asked_format, demanded_format, given_format
from agentmut.seams import RelationExample


class FormatCompliance:
    """`oracle.format`: an answer has the format that its request, or else `model.response_format`, asks for.

    As argument: `json`, `markdown`, `bullets`, `numbered`, `table`, `csv`, `yes_no`, `{regex: PATTERN}` or
    `{json_schema: SCHEMA}`, which then every answer must have. JSON that a request asks for may stand in a code block
    that is the whole answer; where settings or the argument demand it, a program reads it, and it may not.

    It looks at the source run alone, so that stored traces are judged at no cost.
    """

    id = "oracle.format"
    version = 1
    family = Family.ORACLE
    expectation = Expectation.PREDICATE
    why = "The answer does not have the format that was asked for, and whoever reads it by program fails."

    def __init__(self, argument: JsonValue = None) -> None:
        self.given = None if argument is None else given_format(argument)

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the relation does not apply: no request asks for a format."""
        return (
            ""
            if self._formats(scenario, config)
            else "neither request nor model.response_format asks for a format"
        )

    def follow_up(self, source: Source) -> FollowUp | None:
        """Run nothing: the relation judges the source run alone."""
        return FollowUp(description="the format of the answers")

    def holds(self, pair: Pair) -> Check | None:
        """Return whether the answers to turns that ask for a format have it; None without such answers."""
        formats, outputs = self._formats(pair.scenario, pair.config), pair.source.outputs
        judged = {turn: format for turn, format in formats.items() if turn < len(outputs)}
        if not judged:
            return None
        faults = [
            f"{format.name}: {fault}"
            for turn, format in judged.items()
            if (fault := format.fault(outputs[turn]))
        ]
        return check(
            self.id, faults, f"the answer is {', '.join(dict.fromkeys(f.name for f in judged.values()))}"
        )

    def examples(self) -> Iterable[RelationExample]:
        """Return a request for bullet points, heeded and not."""
        turn = "List the two plans as bullet points."
        return (
            RelationExample(source(turn, answer="- Basic\n- Plus\n"), (), holds=True),
            RelationExample(source(turn, answer="There is Basic, and there is Plus."), (), holds=False),
        )

    def _formats(self, scenario: Scenario, config: AgentConfig) -> dict[int, Format]:
        """Return the formats by the number of the turn whose answer should have them."""
        demanded = self.given or demanded_format(config.model.response_format)
        found: dict[int, Format] = {}
        for number, turn in enumerate(scenario.turns):
            asked = demanded or (asked_format(turn) if isinstance(turn, str) else None)
            if asked is not None:
                found[number] = asked
        return found
