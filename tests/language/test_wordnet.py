"""Synonyms from a corpus in WordNet's own format, a tiny one written for these tests."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nltk  # type: ignore[import-untyped]
import pytest

from agentmut._base.errors import UsageError
from agentmut.language.vocabulary.inflection import ending_of, inflected
from agentmut.language.vocabulary.wordnet import WordNet, load_wordnet
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.operators.prompt.rewording import synonym
from agentmut.seams.protocols.operator import OperatorOptions

# Senses of each part of speech, the most frequent one of a word first; "!x" is an antonym of the first word.
SENSES = {
    "verb": [
        "mend repair", "stop halt", "pardon forgive excuse", "ask_for request", "rise", "raise lift !lower",
        "lower", "send", "post send", "swap trade", "trade",
    ],
    "noun": ["garment dress", "mishap misfortune", "repair", "lawyer attorney", "swap"],
    "adj": ["tidy neat", "damp moist"],
    "adv": ["gladly lief"],
}  # fmt: skip
IRREGULAR = {
    "verb": "forgave forgive\nforgiven forgive\nforgiving forgive\nstopped stop\nstopping stop\nsent send\n"
    "swapped swap\nswapping swap\n",
}
ROOT = Path(__file__).parents[2]
PROJECT = """
version: 1
agent:
  adapter: python
  run: my_agent:run
  config: {prompt: "Keep the room tidy."}
mutation: {operators: [prompt.synonym], wordnet: true}
"""
LETTER = {"verb": "v", "noun": "n", "adj": "a", "adv": "r"}


def write_corpus(root: Path) -> None:
    root.mkdir(parents=True)
    (root / "lexnames").write_text("00\tall.all\t3\n")
    for part, senses in SENSES.items():
        written = _data(part, senses)
        (root / f"data.{part}").write_text("".join(line for _, line in written))
        (root / f"index.{part}").write_text(_index(part, senses, [offset for offset, _ in written]))
        (root / f"{part}.exc").write_text(IRREGULAR.get(part, ""))
    for name in ("cntlist.rev", "index.sense"):
        (root / name).write_text("")


def _data(part: str, senses: list[str]) -> list[tuple[int, str]]:
    """Lines of a data file with their offsets; every line has the length of its text, antonyms filled in last."""
    frames = "00 " if part == "verb" else ""
    lengths, offset, offsets = [], 0, []
    for sense in senses:
        words = [w for w in sense.split() if not w.startswith("!")]
        antonyms = sense.count("!")
        lengths.append(len(_line(0, part, words, ["00000000"] * antonyms, frames)))
        offsets.append(offset)
        offset += lengths[-1]
    result = []
    for place, sense in zip(offsets, senses, strict=True):
        words = [w for w in sense.split() if not w.startswith("!")]
        targets = [f"{offsets[senses.index(w[1:])]:08}" for w in sense.split() if w.startswith("!")]
        result.append((place, _line(place, part, words, targets, frames)))
    return result


def _line(offset: int, part: str, words: list[str], antonyms: list[str], frames: str) -> str:
    lemmas = " ".join(f"{word} 0" for word in words)
    pointers = "".join(f"! {target} {LETTER[part]} 0101 " for target in antonyms)
    head = f"{offset:08} 00 {LETTER[part]} {len(words):02x} {lemmas}"
    return f"{head} {len(antonyms):03} {pointers}{frames}| a sense  \n"


def _index(part: str, senses: list[str], offsets: list[int]) -> str:
    places: dict[str, list[int]] = {}
    for sense, offset in zip(senses, offsets, strict=True):
        for word in sense.split():
            if not word.startswith("!"):
                places.setdefault(word, []).append(offset)
    return "".join(
        f"{word} {LETTER[part]} {len(found)} 0 {len(found)} 0 {' '.join(f'{o:08}' for o in found)}  \n"
        for word, found in sorted(places.items())
    )


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WordNet]:
    write_corpus(tmp_path / "corpora" / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    yield load_wordnet()


def reworded(prompt: str, *tools: str) -> list[str]:
    config = AgentConfig(prompt=prompt, tools=tuple(ToolSpec(name=name) for name in tools))
    found = generate(config, [synonym()], OperatorOptions(wordnet=True)).mutants
    return [mutant.apply(config).prompt for mutant in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Mend the bike.", ["Repair the bike."]),  # an order begins with a verb
        ("You must never halt.", ["You must never stop."]),
        ("They are halting.", ["They are stopping."]),
        ("They halted.", ["They stopped."]),
        ("MEND THE BIKE.", ["REPAIR THE BIKE."]),
        ("You must raise it.", ["You must lift it."]),  # and not "lower"
        ("Keep the room tidy.", ["Keep the room neat."]),
        ("Call their lawyers.", ["Call their attorneys."]),
        ("They pardoned him.", ["They excused him."]),  # "forgave" is not the rule's
        ("Verify the tidy room.", ["Check the tidy room.", "Verify the neat room."]),  # lexicon, then WordNet
    ],
)
@pytest.mark.usefixtures("corpus")
def test_a_word_is_replaced_by_one_of_its_most_frequent_sense(before: str, after: list[str]) -> None:
    assert reworded(before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "Some repair is due.",  # a verb as well as a noun, and the use does not tell
        "They post it.",  # "send" means something else more often
        'Keep `tidy` and {tidy} and say "tidy".',
        "Keep an old-tidy room.",
        "Halte die Zimmer tidy und nett.",
    ],
)
@pytest.mark.usefixtures("corpus")
def test_no_word_of_another_sense_or_part_of_speech_comes_in(prompt: str) -> None:
    assert reworded(prompt) == []


@pytest.mark.usefixtures("corpus")
def test_words_of_tool_names_are_not_looked_up() -> None:
    assert reworded("Call their lawyers.", "lawyer_search") == []


def test_a_missing_corpus_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(UsageError, match=r"not installed.*python -m nltk.downloader wordnet"):
        reworded("Be kind.")


@pytest.mark.process
def test_the_project_file_asks_for_it(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpora" / "wordnet")
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    (tmp_path / "my_agent.py").write_text("async def run(config, input):\n    return 'hm'\n")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "one.yaml").write_text(
        "- {name: one, input: hi, evaluators: [{contains: hm}]}\n"
    )
    listed = subprocess.run(
        [sys.executable, "-c", "from agentmut.cli import main; main()", "mutants", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NLTK_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert [m["operator"] for m in json.loads(listed.stdout)["mutants"]] == ["prompt.synonym"], listed.stderr
    assert "neat" in listed.stdout


def test_without_the_option_the_corpus_is_not_looked_for() -> None:
    config = AgentConfig(prompt="Keep the room tidy.")
    assert generate(config, [synonym()], OperatorOptions()).mutants == ()


@pytest.mark.parametrize(
    ("base", "ending", "irregular", "said"),
    [
        ("carry", "s", (), "carries"),
        ("play", "s", (), "plays"),
        ("fix", "s", (), "fixes"),
        ("tie", "ing", (), "tying"),
        ("see", "ing", (), "seeing"),
        ("move", "ing", (), "moving"),
        ("move", "ed", (), "moved"),
        ("carry", "ed", (), "carried"),
        ("stop", "ed", ("stopped", "stopping"), "stopped"),
        ("send", "ed", ("sent",), None),
        ("send", "ing", ("sent",), "sending"),
        ("child", "s", ("children",), None),
    ],
)
def test_endings_follow_the_rules_of_spelling(
    base: str, ending: str, irregular: tuple[str, ...], said: str | None
) -> None:
    assert inflected(base, ending, irregular) == said  # type: ignore[arg-type]
    if said:
        assert ending_of(said, base) == ending
