"""Writes the pages on the project file and on scenario files, each from its JSON Schema.

`python -m agentmut.project.reference project > docs/project-file.md`; `scenarios` writes `docs/scenario-file.md`.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

Schema = Mapping[str, Any]
_PROJECT = """# The project file

`agentmut.yaml` says what the agent is, which tests are measured, and how. `agentmut init` writes one with comments.
Only `version: 1` and mostly `agent` are needed. An unknown key is an error that names the nearest known one. Paths are
relative to the file. This page is made from the schema (`agentmut/project/agentmut.schema.json`).

`agentmut init` writes a first line that names the schema to editors with a YAML language server, such as VS Code with
its YAML extension. They complete keys and mark mistakes. Each command keeps the schemas of its version in
`.agentmut/schemas`.

```yaml
agent:
  adapter: python
  run: agent:run
  config: {prompt: prompt.md}
suite: {scenarios: "scenarios/*.yaml"}
mutation: {classes: [prompt, tool], second_order: {sample: 10}}
budget: {usd: 5, minutes: 20, prices: {my-model: {input: 0.3, output: 1.2}}}
execution: {concurrency: 4, timeout: 30}
```

- **Budget.** A run that reaches `budget` stops, keeps what it has and exits with 3. It holds over interruptions: what a
  run and its model judges cost before `agentmut resume` counts, and a limit from the command line still holds. Prices
  are in US dollars per million tokens.
- **Second order.** `mutation.second_order` adds pairs of mutants; `--second-order` and `--pair` do so for one run.
- **Selective.** `mutation.selective: 0.5` keeps the half of the operators whose kill rates were nearest to one half in
  earlier runs.
- **Shards** are no setting of the file: `agentmut run --baseline-only`, then `agentmut run --shard 1/4` and so on on
  copies of `.agentmut`, then `agentmut merge`.
- **Other suites** are a key of `suite` each, instead of `scenarios`: `pytest`, `deepeval`, `promptfoo`, `inspect`,
  `pydantic_evals`, `cerberus`. Their pages say what they take.
- **Extras** are what `pip install 'agentmut[NAME]'` adds for frameworks, SDKs and suites; the error of a missing one
  names it.
"""
_SCENARIOS = """# Scenario files

A scenario is what the user says and what has to hold of the agent's run. A scenario file is a YAML list of scenarios;
`suite: {scenarios: "scenarios/*.yaml"}` of the [project file](project-file.md) names the files. This page is made from
the schema (`agentmut/project/scenarios.schema.json`).

```yaml
- name: refund
  input: I want a refund for order A-1042.
  evaluators:
    - tool_called: issue_refund
    - contains: 5 days
  tools:
    issue_refund: {returns: {ok: true}}

- name: refund_then_address
  category: refunds
  turns:
    - I want a refund for order A-1042.
    - Do you still have my old address?
  threshold: 0.8
  evaluators:
    - tool_order: [issue_refund, find_customer]
    - not_contains: guarantee
```

- **One turn or several.** `input` is one turn, `turns` are several of one conversation. A turn is a text, or any value
  that your agent takes. A function is given several turns as one list ([any callable](callable.md)).
- **Evaluators.** A trial passes if all of them hold. Most look at the last answer or at the whole run;
  [evaluators](evaluators.md) has an example of each.
- **Stand-ins for tools.** A broken agent may refund what it should not. `tools` replaces a tool in this scenario by
  exactly one of `returns`, `raises` and `python`.
- **Hooks.** `setup` and `teardown` are called once per trial. A hook that fails is no failure of the agent.
"""
_PAGES = {"project": (_PROJECT, "agentmut.schema.json"), "scenarios": (_SCENARIOS, "scenarios.schema.json")}


def page(kind: str) -> str:
    """Return the whole page on `project` or `scenarios` in Markdown."""
    intro, name = _PAGES[kind]
    schema = json.loads((files("agentmut.project") / name).read_text(encoding="utf-8"))
    return "\n".join([intro, *_sections(schema.get("items", schema), schema["$defs"])])


def _sections(schema: Schema, known: Mapping[str, Schema]) -> Iterator[str]:
    outermost = known[_name(schema)] if "$ref" in schema else schema
    for where, section in _objects("", outermost, known):
        yield f"## `{where}`\n" if where else "## Keys\n"
        yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
        for key, value in section["properties"].items():
            default = "needed" if key in section.get("required", ()) else _default(value)
            yield f"| `{key}` | {_cell(_type(value))} | {default} | {_cell(_meaning(value, known))} |"
        yield ""


def _objects(where: str, section: Schema, known: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Yield the mappings with fixed keys, outer ones first, under their place in the file."""
    yield where, section
    for key, value in section["properties"].items():
        for inner in _inner(value, known):
            yield from _objects(f"{where}.{key}".lstrip("."), inner, known)


def _inner(value: Schema, known: Mapping[str, Schema]) -> Iterator[Schema]:
    parts = [
        value,
        *value.get("anyOf", ()),
        value.get("items") or {},
        value.get("additionalProperties") or {},
    ]
    for part in parts:
        name = _name(part) if isinstance(part, dict) else ""
        if "properties" in known.get(name, {}):
            yield known[name]


def _name(value: Schema) -> str:
    """Return the name of the definition that a schema refers to, or nothing."""
    return str(value.get("$ref", "")).rpartition("/")[2]


def _type(value: Schema) -> str:
    if "$ref" in value:
        name = _name(value)
        return "anything" if name == "JsonValue" else "one of its names" if name == "Identity" else "mapping"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(one) for one in value["anyOf"] if one.get("type") != "null"))
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    kind = {"object": "mapping", "string": "text", "array": "list", "boolean": "true or false"}
    return kind.get(value.get("type", ""), str(value.get("type", "anything")))


def _default(value: Schema) -> str:
    found = value.get("default")
    return "" if found in (None, "", [], {}) else f"`{json.dumps(found)}`"


def _meaning(value: Schema, known: Mapping[str, Schema]) -> str:
    if told := value.get("description"):
        return str(told)
    inner = next(_inner(value, known), {})
    return str(inner.get("description", ""))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(*sys.argv[1:]), end="")
