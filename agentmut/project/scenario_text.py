"""Write scenarios and evaluators as scenario files hold them."""

import unicodedata
from typing import Any

import yaml
from pydantic import JsonValue

from agentmut.nouns import EvaluatorSpec, Scenario


def evaluator_text(spec: EvaluatorSpec) -> str:
    """Return an evaluator on one line, as it follows the dash of a list item.

    >>> evaluator_text(EvaluatorSpec(name="tool_order", argument=["verify", "refund"]))
    'tool_order: [verify, refund]'
    """
    return f"{_one_line(spec.name)}: {_one_line(spec.argument)}"


def evaluator_in_flow(spec: EvaluatorSpec) -> str:
    """Return an evaluator as an item of a list in brackets."""
    return _one_line({spec.name: spec.argument})


def scenario_item(scenario: Scenario, comment: str = "") -> str:
    """Return a scenario as an item of a scenario file, with a final line break; `comment` precedes its evaluators.

    Documents are written by their names, which are their paths.
    """
    head = "".join(f"{name}: {_one_line(value)}\n" for name, value in _head(scenario).items())
    said = "".join(f"# {line}\n" for line in comment.splitlines())
    items = "".join(f"  - {evaluator_text(spec)}\n" for spec in scenario.evaluators)
    lines = f"{head}{said}evaluators:\n{items}".splitlines(keepends=True)
    return "".join(("- " if number == 0 else "  ") + line for number, line in enumerate(lines))


def _head(scenario: Scenario) -> dict[str, Any]:
    one = len(scenario.turns) == 1 and scenario.turns[0] is not None
    written: dict[str, Any] = {"name": scenario.name}
    written |= {"input": scenario.turns[0]} if one else {"turns": list(scenario.turns)}
    rest = {
        "category": scenario.category,
        "context": [document.name for document in scenario.context],
        "threshold": scenario.threshold,
        "tools": {name: double.model_dump(mode="json") for name, double in scenario.tools.items()},
        "setup": scenario.setup,
        "teardown": scenario.teardown,
        "compare": [{spec.name: spec.argument} for spec in scenario.compare],
    }
    return written | {key: value for key, value in rest.items() if value not in (None, [], {})}


def _one_line(value: JsonValue) -> str:
    """Return a value on one line, quoted if needed; invisible characters are written as escapes."""
    options: Any = {
        "Dumper": _Dumper,
        "default_flow_style": True,
        "allow_unicode": True,
        "sort_keys": False,
        "width": float("inf"),
    }
    written: str = yaml.dump(value, **options).removesuffix("\n").removesuffix("\n...")
    return "".join(_escape(character) if _is_hidden(character) else character for character in written)


class _Dumper(yaml.SafeDumper):
    """Puts text with hidden characters in double quotes: only there does YAML have escapes."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    quotes = '"' if any(map(_is_hidden, value)) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=quotes)


_Dumper.add_representer(str, _text)


def _is_hidden(character: str) -> bool:
    """Return whether a character is a line break, a control, a mark that turns the direction of text, or the like."""
    return unicodedata.category(character) in _HIDDEN


_HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


def _escape(character: str) -> str:
    """Return the character as double quotes hold it; nothing else in the line can hold it."""
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
