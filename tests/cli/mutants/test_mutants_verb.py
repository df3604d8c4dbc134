"""`agentmut mutants`: what it lists, from which sources, and what it says of input that is no use."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.mutants.folder_with_config import Run, listed, refused


def test_by_default_each_mutant_has_one_line_in_its_class(run: Run) -> None:
    code, out, _ = run("--config", "agent.yaml", "--class", "prompt", "--class", "tool")
    assert code == 0
    rows = out.splitlines()
    assert rows[0].startswith("prompt (")
    drop = next(row for row in rows if "Never promise" in row and "drop_instruction" in row)
    assert drop.split()[1:4] == ["prompt.drop_instruction", "degrade", "system.md:4"]
    removal = next(row for row in rows if "tool.remove" in row and "lookup" in row)
    assert removal.split()[1:4] == ["tool.remove", "degrade", "tools.yaml:5"]
    assert not any(row.startswith(("@@", "    @@")) for row in rows)
    assert "         4  prompt.drop_instruction (degrade)" in rows


def test_diffs_and_details_come_when_asked_for(run: Run) -> None:
    _, out, _ = run("--config", "agent.yaml", "--operator", "tool.remove", "--diff")
    assert "    -refund: Pay an order back." in out.splitlines()


def test_ignored_mutants_are_listed_with_their_reason(run: Run) -> None:
    document = listed(run, "--operator", "prompt.drop_instruction")
    (ignored,) = [m for m in document["mutants"] if m["status"] == "ignored"]
    assert (ignored["target"]["line"], ignored["reason"]) == (6, "cosmetic")
    assert [one["id"] for one in document["ignored"]] == [ignored["id"]]
    shown = run("--config", "agent.yaml")[1]
    assert "cosmetic" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith(ignored["id"])]
    assert line.split()[2] == "ignored"
    assert ", 1 of them ignored" in shown


def test_a_diff_has_the_lines_of_the_file(run: Run) -> None:
    """A comment that is not sent to the model stands above the last rule."""
    chosen = ("--operator", "prompt.negate", "--target", "system.md:6")
    mutants = listed(run, *chosen)["mutants"] or listed(run, "--target", "system.md:6")["mutants"]
    assert mutants[0]["target"]["line"] == 6
    (header,) = [row for row in mutants[0]["diff"] if row.startswith("@@")]
    first, length = (int(number) for number in header.split()[1].removeprefix("-").split(","))
    assert first < 6 <= first + length + 1
    assert first >= 4


def test_every_model_operator_without_mutants_names_its_setting(run: Run) -> None:
    empty = {one["operator"]: one["reason"] for one in listed(run, "--class", "model")["empty"]}
    assert "mutation.downgrade_models" in empty["model.downgrade"]
    assert "mutation.swap_models" in empty["model.swap"]
    assert "model.seed" in empty["model.drop_seed"]
    assert not any("project file" in reason for reason in empty.values())


def test_a_request_given_as_a_config_and_one_in_a_log_say_what_to_do(run: Run, folder: Path) -> None:
    (folder / "r.json").write_text('{"model": "m", "messages": []}')
    assert "--request" in refused(run, "--config", "r.json")
    (folder / "log.json").write_text('{"time": 1, "request": {"model": "m", "messages": []}}')
    assert "under the key 'request'" in refused(run, "--request", "log.json")


def test_usage_errors_of_the_option_parser_are_a_document_too(run: Run) -> None:
    code, out, err = run("--sample", "0", "--json")
    document = json.loads(out)
    assert (code, document["exit_code"]) == (2, 2)
    assert "--sample" in document["error"]
    assert "--sample" in err


def test_parts_that_overlap_are_refused_as_a_pair(run: Run) -> None:
    found = listed(run, "--target", "system.md:4")["mutants"]
    ids = {mutant["operator"]: mutant["id"] for mutant in found}
    pair = f"{ids['prompt.drop_instruction']}+{ids['prompt.weaken_modality']}"
    said = refused(run, "--config", "agent.yaml", "--pair", pair)
    assert "--pair" in said
    assert "overlap" in said


def test_json_counts_and_keeps_its_schema_version(run: Run) -> None:
    document = listed(run)
    assert document["schema_version"] == 1
    counts = document["counts"]
    assert counts["mutants"] == len(document["mutants"]) == sum(counts["operators"].values())
    assert {dropped["kind"] for dropped in document["dropped"]} <= {
        "identical", "duplicate", "not_expressible", "not_applicable",
    }  # fmt: skip
    assert sum(counts["dropped"].values()) == len(document["dropped"])


def test_a_sample_is_a_part_of_the_whole_and_says_what_is_left_out(run: Run) -> None:
    everything = {m["id"] for m in listed(run)["mutants"]}
    few = listed(run, "--sample", "5")
    kept = {m["id"] for m in few["mutants"] if m["status"] is None}
    assert len(kept) == 5
    assert kept < everything
    assert few["counts"]["unselected"] == len(everything) - len(few["mutants"])


def test_operators_without_mutants_share_their_reason(run: Run, folder: Path) -> None:
    (folder / "agent.yaml").write_text("prompt: ''\n")
    code, out, _ = run("--config", "agent.yaml")
    assert code == 0
    assert "0 mutants" in out
    for reason in ("  the prompt is empty", "  the config has no tools"):
        assert out.count(reason) == 1


def test_tools_may_stand_in_the_config_itself(run: Run, folder: Path) -> None:
    (folder / "agent.yaml").write_text("model: {name: m}\ntools:\n  - name: a\n  - name: b\n")
    targets = [m["target"] for m in listed(run, "--operator", "tool.remove")["mutants"]]
    assert [(t["path"], t["line"]) for t in targets] == [("agent.yaml", 3), ("agent.yaml", 4)]


def test_tools_in_json_and_in_modules_have_their_lines(run: Run, folder: Path) -> None:
    (folder / "tools.json").write_text('[{"name": "a"},\n  {"name": "b, [c"},\n\n {"name": "d"}]\n')
    (folder / "agent.json").write_text('{"tools": "tools.json"}')
    _, out, _ = run("--config", "agent.json", "--json", "--operator", "tool.remove")
    assert [m["target"]["line"] for m in json.loads(out)["mutants"]] == [1, 2, 4]
    (folder / "located_tools.py").write_text(
        'def refund(order: str) -> None:\n    """Pay back."""\n\n\nTOOLS = [refund]\n'
    )
    (folder / "agent.json").write_text('{"tools": "located_tools:TOOLS"}')
    _, out, _ = run("--config", "agent.json", "--json", "--operator", "tool.remove")
    assert json.loads(out)["mutants"][0]["target"] == {"path": "located_tools.py", "line": 1, "column": None}


REQUEST: dict[str, Any] = {
    "model": "large",
    "temperature": 0.2,
    "messages": [
        {"role": "system", "content": "Always greet the customer."},
        {"role": "developer", "content": "Never guess."},
        {"role": "user", "content": "hi"},
    ],
    "tools": [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}],
}


def test_a_recorded_request_is_enough(run: Run, folder: Path) -> None:
    (folder / "request.json").write_text(json.dumps(REQUEST))
    code, out, err = run("--request", "request.json", "--json")
    assert code == 0, err
    document = json.loads(out)
    dropped = [m["before"] for m in document["mutants"] if m["operator"] == "prompt.drop_instruction"]
    assert [text.strip() for text in dropped] == ["Always greet the customer.", "Never guess."]
    assert {m["target"]["path"] for m in document["mutants"]} == {"request.json"}
    assert "refund" in {m["before"] for m in document["mutants"] if m["operator"] == "tool.remove"}


SPOKEN: dict[str, dict[str, Any]] = {
    "responses": {"model": "m", "instructions": "Never guess.", "input": "hi"},
    "anthropic": {"model": "m", "max_tokens": 9, "system": "Never guess.", "messages": []},
    "gemini": {"systemInstruction": {"parts": [{"text": "Never guess."}]}, "contents": []},
    "gemini with its path": {
        "path": "/v1beta/models/gemini-3:generateContent",
        "body": {"systemInstruction": {"parts": [{"text": "Never guess."}]}, "contents": []},
    },
    "converse": {
        "system": [{"text": "Never guess."}],
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "inferenceConfig": {"temperature": 0.2},
    },
}


@pytest.mark.parametrize("request_body", SPOKEN.values(), ids=SPOKEN)
def test_a_request_of_every_dialect_is_read(run: Run, folder: Path, request_body: dict[str, Any]) -> None:
    (folder / "request.json").write_text(json.dumps(request_body))
    code, out, err = run("--request", "request.json", "--json", "--operator", "prompt.drop_instruction")
    assert code == 0, err
    assert [m["before"] for m in json.loads(out)["mutants"]] == ["Never guess."]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"[]", "expected an object"),
        (b'{"model": "m"}', "none of the keys `messages`, `input` and `contents`"),
        (b'{"model": "m", "messages": "hi"}', "messages: expected a list"),
        (b'{"choices": [], "model": "m"}', "a reply, not a request"),
        (b'{"messages": []}', "model: expected a non-empty string"),
        (
            json.dumps({**REQUEST, "tools": REQUEST["tools"] * 2}).encode(),
            "more than one tool named 'refund'",
        ),
    ],
)
def test_what_is_no_request_is_refused_by_name(run: Run, folder: Path, body: bytes, said: str) -> None:
    (folder / "request.json").write_bytes(body)
    err = refused(run, "--request", "request.json")
    assert said in err
    assert "request.json" in err


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"agent.yaml": b"promt: x\n"}, "Did you mean 'prompt'?"),
        ({"agent.yaml": b"version: 1\nagent: {}\n"}, "--project"),
        ({"agent.yaml": b"- a\n"}, "mapping"),
        ({"agent.yaml": b""}, "is empty"),
        ({"agent.yaml": b"tools: [{name: a}, {name: a}]\n"}, "more than one tool named 'a'"),
        ({"agent.yaml": b"tools: [{description: x}]\n"}, "has no name"),
        ({"agent.yaml": b"tools: [{name: a, parameters: 3}]\n"}, "no JSON Schema"),
        ({"agent.yaml": b"tools: tools.json\n", "tools.json": b"[{]"}, "is not JSON"),
        ({"agent.yaml": b"tools: tools.json\n", "tools.json": b'{"tools": []}'}, "expected a list of tools"),
        ({"agent.yaml": b"prompt: system.md\n", "system.md": b"\x89PNG\r\n\x1a\n\xff"}, "not UTF-8"),
        ({"agent.yaml": b"context: [scan.pdf]\n", "scan.pdf": b"%PDF\xff"}, "not UTF-8"),
        ({"agent.yaml": b"prompt: nowhere.md\n"}, "there is no file"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(
    run: Run, folder: Path, files: dict[str, bytes], said: str
) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    assert said in refused(run, "--config", "agent.yaml")


def test_a_missing_file_and_two_sources_are_refused(run: Run, folder: Path) -> None:
    assert "there is no file" in refused(run, "--config", "nowhere.yaml")
    assert "doctor --save-request" in refused(run, "--request", "nowhere.json")
    assert "choose one" in refused(run, "--config", "agent.yaml", "--request", "r.json")
    assert "choose one" in refused(run, "--request", "r.json", "--in-diff", "HEAD")
    assert "belong to a project" in refused(run, "--config", "agent.yaml", "--scenario", "x")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--intent", "degrad"), "Did you mean 'degrade'?"),
        (("--target", "tools/refnd"), "Did you mean 'tools/refund'?"),
        (("--operator", "prompt.drop_instructoin"), "prompt.drop_instruction"),
        (("--mutant", ""), "--mutant: the value is empty"),
        (("--target", ""), "--target: the value is empty"),
        (("--operator", ""), "--operator: the value is empty"),
        (("--pair", "+3f9ac2d1"), "joined by a plus sign"),
        (("--pair", "3f9ac2d1+ "), "joined by a plus sign"),
        (("--target", "system.md:99"), "system.md has 6 lines"),
        (("--target", "policy.md:2-3"), "policy.md has 1 line"),
        (("--target", "system.md:" + "9" * 5_000), "system.md has 6 lines"),
        (("--target", "system.md:9-" + "1" * 5_000), "system.md has 6 lines"),
    ],
)
def test_filters_that_name_nothing_are_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(run, "--config", "agent.yaml", *arguments)


def test_a_target_narrows_what_is_left_out_too(run: Run, folder: Path) -> None:
    (folder / "system.md").write_text("- Be kind.\n- Be kind.\n\n- Always be brief.\n")
    everywhere = listed(run, "--class", "prompt")["dropped"]
    assert any("Be kind" in one["description"] for one in everywhere)
    here = listed(run, "--class", "prompt", "--target", "system.md:4")["dropped"]
    assert not any("Be kind" in one["description"] for one in here)


def test_tools_in_a_json_config_have_lines(run: Run, folder: Path) -> None:
    (folder / "agent.json").write_text(
        '{\n  "prompt": "Be kind. [\\"tools\\"]",\n  "tools": [\n    {"name": "a"},\n\n    {"name": "b"}\n  ]\n}\n'
    )
    code, out, err = run("--config", "agent.json", "--operator", "tool.remove", "--json")
    assert code == 0, err
    places = [(m["target"]["path"], m["target"]["line"]) for m in json.loads(out)["mutants"]]
    assert places == [("agent.json", 4), ("agent.json", 6)]


def test_a_prompt_of_a_megabyte_is_no_trouble(run: Run, folder: Path) -> None:
    rule = "- Rule {} holds for every order that somebody places" + " on any day of any week" * 250 + ".\n"
    (folder / "system.md").write_text("".join(rule.format(i) for i in range(175)))
    code, out, err = run("--config", "agent.yaml", "--operator", "prompt.drop_instruction", "--sample", "20")
    assert code == 0, err
    assert "20 mutants; filters and caps leave out 155 more" in out


def test_a_client_that_is_made_at_import_needs_no_key(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agent = (
        "from openai import OpenAI\nclient = OpenAI()\ndef answer(config, input):\n    return config.prompt\n"
    )
    (folder / "keyed_at_import.py").write_text(agent)
    project = (
        "version: 1\nagent: {adapter: python, run: 'keyed_at_import:answer', config: {prompt: system.md}}\n"
    )
    (folder / "agentmut.yaml").write_text(f"{project}suite: {{scenarios: s.yaml}}\n")
    (folder / "s.yaml").write_text("- {name: a, input: hi, evaluators: [{contains: hi}]}\n")
    code, out, err = run()
    assert code == 0, err
    assert 'drop "Never promise a refund."' in out
    assert "OPENAI_API_KEY" not in os.environ


def test_a_key_that_no_service_is_known_for_is_asked_for_in_plain_words(run: Run, folder: Path) -> None:
    agent = "raise RuntimeError('Set the API key DESK_KEY.')\ndef answer(config, input):\n    return ''\n"
    (folder / "keyed_by_desk.py").write_text(agent)
    project = (
        "version: 1\nagent: {adapter: python, run: 'keyed_by_desk:answer', config: {prompt: system.md}}\n"
    )
    (folder / "agentmut.yaml").write_text(f"{project}suite: {{scenarios: s.yaml}}\n")
    (folder / "s.yaml").write_text("- {name: a, input: hi, evaluators: [{contains: hi}]}\n")
    code, _, err = run()
    assert code == 2
    assert "The module makes a client while it loads, and the client needs its key" in err
    assert "`agentmut simulate -- agentmut run` asks the simulated model" in err


def test_a_project_without_a_prompt_says_how_to_get_one(run: Run, folder: Path) -> None:
    """A new user's graph has its prompt in the code: "the prompt is empty" alone is no help."""
    (folder / "prompt_in_code.py").write_text("def answer(config, input):\n    return ''\n")
    head = "version: 1\nsuite: {scenarios: s.yaml}\nagent:\n  adapter: python\n  run: prompt_in_code:answer\n"
    (folder / "s.yaml").write_text("- {name: a, input: hi, evaluators: [{contains: hi}]}\n")
    for config, is_said in (("{model: {name: m, temperature: 0.5}}", True), ("{prompt: system.md}", False)):
        (folder / "agentmut.yaml").write_text(f"{head}  config: {config}\n")
        code, out, err = run()
        assert code == 0, err
        assert ("`agentmut doctor --save-request agent.json`" in " ".join(out.split())) is is_said
