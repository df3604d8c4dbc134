"""Evaluators of the final output: its text, patterns and structure."""

from collections.abc import Iterable
from typing import Any

from pydantic import JsonValue

from agentmut._base import BoundedPattern, arguments
from agentmut.judging.evaluators.json_values import same_json, shown, structured
from agentmut.nouns import AgentTrace, Check, Scenario
from agentmut.seams import JudgesAtOnce


class ExactMatch(JudgesAtOnce):
    """`exact_match: VALUE`: the output is this value.

    Text is compared without the blanks around it. Any other value is compared as JSON, with the output
    itself or, when that is text, with the JSON in it.
    """

    def __init__(self, argument: JsonValue) -> None:
        if argument is None:
            raise ValueError("expects the text or JSON value that the output must equal, got nothing")
        self.expected = argument

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare the whole output."""
        if isinstance(self.expected, str):
            passed, got = trace.text.strip() == self.expected.strip(), shown(trace.text)
        else:
            passed, got = _same_structure(self.expected, trace)
        verb = "output is" if passed else f"output is {got}, expected"
        return Check(evaluator="exact_match", passed=passed, reason=f"{verb} {shown(self.expected)}")


def _same_structure(expected: JsonValue, trace: AgentTrace) -> tuple[bool, str]:
    try:
        answered = structured(trace)
    except ValueError:
        return False, shown(trace.output)
    return same_json(expected, answered), shown(answered)


class _Phrases:
    """One phrase or several, compared without regard to case unless `case: true`."""

    def __init__(self, argument: JsonValue) -> None:
        given: JsonValue = argument
        self.case: bool = False
        if isinstance(argument, dict):
            options = arguments.mapping(argument, ["text"], ["case"])
            given, case = options["text"], options.get("case", False)
            if not isinstance(case, bool):
                raise ValueError(f"expects case to be true or false, got {case!r}")
            self.case = case
        what = "a text, a list of texts, or {text: ..., case: true}"
        self.phrases: tuple[str, ...] = arguments.texts(given, what)

    def found_in(self, text: str) -> tuple[str, ...]:
        """Return the phrases that a text has, in their order."""
        haystack = self._fold(text)
        return tuple(phrase for phrase in self.phrases if self._fold(phrase) in haystack)

    def _fold(self, text: str) -> str:
        return text if self.case else text.casefold()


class Contains(JudgesAtOnce):
    """`contains: TEXT`, `[TEXT, ...]` or `{text: ..., case: true}`: every text occurs in the output.

    Upper and lower case are the same unless `case: true`.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.phrases = _Phrases(argument)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for each phrase in the output's text."""
        present = self.phrases.found_in(trace.text)
        missing = [phrase for phrase in self.phrases.phrases if phrase not in present]
        reason = f"output has {_listed(present)}"
        if missing:
            reason = f"output lacks {_listed(missing)}: {shown(trace.text)}"
        return Check(evaluator="contains", passed=not missing, reason=reason)


class NotContains(JudgesAtOnce):
    """`not_contains: TEXT`, `[TEXT, ...]` or `{text: ..., case: true}`: none of the texts occurs.

    Upper and lower case are the same unless `case: true`.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.phrases = _Phrases(argument)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Look for each phrase in the output's text."""
        present = self.phrases.found_in(trace.text)
        reason = f"output has no {_listed(self.phrases.phrases)}"
        if present:
            reason = f"output has the forbidden {_listed(present)}: {shown(trace.text)}"
        return Check(evaluator="not_contains", passed=not present, reason=reason)


def _listed(phrases: Iterable[str]) -> str:
    return ", ".join(repr(phrase) for phrase in phrases)


class Regex:
    """`regex: PATTERN`: the Python regular expression is found somewhere in the output.

    Flags go into the pattern: `(?i)refund` ignores case, `(?s)` lets a dot match line ends. A search that takes more
    than 5 s is an error of the evaluator.
    """

    def __init__(self, argument: JsonValue) -> None:
        self.pattern = BoundedPattern(arguments.text(argument, "a regular expression"))

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Search the output's text."""
        match = self.pattern.search(trace.text)
        pattern = self.pattern.pattern
        if match:
            reason = f"output matches /{pattern}/ at {shown(match.group())}"
        else:
            reason = f"output does not match /{pattern}/: {shown(trace.text)}"
        return Check(evaluator="regex", passed=match is not None, reason=reason)


class JsonSchema:
    """`json_schema: SCHEMA`: the output, or the JSON in its text, is valid under the schema.

    The draft is the one `$schema` names, 2020-12 otherwise. References are resolved within the schema
    only; nothing is fetched.
    """

    def __init__(self, argument: JsonValue) -> None:
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, validator_for
        from referencing import Registry

        if not isinstance(argument, dict):
            raise ValueError(f"expects a JSON Schema as a mapping, got {argument!r}")
        validator = validator_for(argument, default=Draft202012Validator)
        try:
            validator.check_schema(argument)
        except SchemaError as error:
            raise ValueError(f"expects a JSON Schema; at {error.json_path}: {error.message}") from None
        registry: Registry[Any] = Registry()
        self.validator = validator(argument, registry=registry)

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Validate the output; the reason is the most telling error."""
        from jsonschema.exceptions import best_match

        try:
            error = best_match(self.validator.iter_errors(structured(trace)))
        except ValueError as not_json:
            return Check(evaluator="json_schema", passed=False, reason=str(not_json))
        reason = f"at {error.json_path}: {error.message}" if error else "output is valid under the schema"
        return Check(evaluator="json_schema", passed=error is None, reason=reason)


class Expect:
    """`expect: {FIELD: VALUE, ...}`: these fields of a structured output have these values.

    The output is a mapping, or text that holds a JSON object. Fields that are not named may be anything.
    """

    def __init__(self, argument: JsonValue) -> None:
        if not isinstance(argument, dict) or not argument:
            raise ValueError(
                f"expects a mapping of output fields to values, as {{department: billing}}, got {argument!r}"
            )
        self.fields = argument

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        """Compare field by field."""
        try:
            output = structured(trace)
        except ValueError as error:
            return Check(evaluator="expect", passed=False, reason=str(error))
        if not isinstance(output, dict):
            reason = f"the output is no mapping of fields: {shown(output)}"
            return Check(evaluator="expect", passed=False, reason=reason)
        faults = [fault for name in self.fields if (fault := self._fault(name, output))]
        held = ", ".join(f"{name} is {shown(value)}" for name, value in self.fields.items())
        return Check(evaluator="expect", passed=not faults, reason="; ".join(faults) or held)

    def _fault(self, name: str, output: dict[str, JsonValue]) -> str:
        expected = self.fields[name]
        if name not in output:
            return f"field {name!r} is missing, expected {shown(expected)}"
        if same_json(expected, output[name]):
            return ""
        return f"field {name!r} is {shown(output[name])}, expected {shown(expected)}"
