"""Inputs that nobody would write: `python benchmarks/fuzz.py [NUMBER] [SEED]`, a million by default.

Bodies of model requests with anything in any place, replies that are cut or damaged; project files, scenarios, files of
agents, recorded runs and stores to merge that are damaged; revisions and old agents of `--in-diff`. A codec may raise
`ValueError`, and reading a file the errors that are made for users. Each other exception is printed with its input.
Afterwards the time of large inputs is compared with that of inputs a quarter as large. The exit code is 1 for an
exception, and for time beyond linear.
"""

import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut._base import UsageError  # noqa: E402
from agentmut.conformance.codecs.codec_samples import REPLIES, REQUESTS  # noqa: E402
from agentmut.nouns import Codec, HttpCall  # noqa: E402
from agentmut.project import load_project  # noqa: E402
from agentmut.wire import all_codecs, all_places, with_values  # noqa: E402
from agentmut.wire.bodies import write_json  # noqa: E402
from benchmarks.commit import commit  # noqa: E402
from benchmarks.fuzz_files import Files, Input, changed, cut  # noqa: E402
from benchmarks.fuzz_revisions import Revisions  # noqa: E402
from benchmarks.fuzz_sizes import superlinear  # noqa: E402

NUMBER = 1_000_000
SHOWN = 20
"""Failures that are printed; all are counted."""
PROJECT = """version: 1
agent: {adapter: python, run: "my_agent:run", config: {prompt: "Be brief.", model: {name: m}}}
suite: {scenarios: "scenarios.yaml"}
mutation: {classes: [prompt], sample: 3}
statistics: {baseline: 20, alpha: 0.05}
execution: {timeout: 3, concurrency: 2}
"""
SCENARIOS = """- name: a
  input: hi
  evaluators: [{contains: hello}, {regex: "a+"}, {expression: "steps < 3"}]
- {name: b, input: [hi, you], threshold: 0.9, evaluators: [{tools_called: [x]}]}
"""
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 10**40, 1.5, "", "x", "\ud800", "\x00", [], [None], [[]], {}, {"type": []}, {"": None},
    {"name": {}}, [{"type": "text", "text": 1}], "a" * 3000,
)  # fmt: skip


def damaged(value: Any, rng: random.Random) -> Any:
    """Return the value with junk in up to three of its places."""
    for _ in range(rng.randint(1, 3)):
        if places := list(all_places(value)):
            value = with_values(value, {rng.choice(places): rng.choice(JUNK)})
    return value


def of_codec(codec: Codec, rng: random.Random) -> Input:
    """Return something that a carrier may do with a body or a reply."""
    call = codec.encode_request(rng.choice(list(REQUESTS.values())))
    if rng.random() < 0.3:
        reply = codec.encode_reply(
            rng.choice(list(REPLIES.values())), reply_id="r", stream=rng.random() < 0.5
        )
        data = cut(reply, rng)
        return Input(codec.name, repr(data[:400]), lambda: codec.decode_reply(data), ValueError)
    body = damaged(json.loads(call.body), rng)
    tries: tuple[Callable[[], object], ...] = (
        lambda: codec.decode_request(HttpCall(call.path, write_json(body))),
        lambda: codec.with_texts(body, {text.path: "other" for text in codec.texts(body)}),
        lambda: codec.with_tools(body, codec.tools(body)[:1]),
        lambda: codec.with_tools(body, []),
        lambda: codec.with_tool_names(body, lambda name: f"other_{name}"),
        lambda: codec.roles(body),
        lambda: codec.with_setting(call, body, "temperature", 0.5),
        lambda: codec.with_setting(call, body, "tool_choice", None),
    )
    number = rng.randrange(len(tries))
    return Input(codec.name, f"{number}: {body!r}"[:600], tries[number], ValueError)


def of_project(folder: Path, rng: random.Random) -> Input:
    """Return a project whose file, or whose scenarios, have characters changed."""
    texts = {"agentmut.yaml": PROJECT, "scenarios.yaml": SCENARIOS}
    name = rng.choice(list(texts))
    texts[name] = changed(texts[name], rng)

    def read() -> object:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        return load_project(folder)

    return Input(name, repr(texts[name]), read, UsageError)


def inputs(number: int, seed: int, folder: Path) -> Iterator[Input]:
    """Yield so many inputs; few of them are files, which take a hundred times as long to read."""
    rng = random.Random(seed)
    codecs, files, revisions = all_codecs(), Files(folder), Revisions(folder / "repository")
    for _ in range(number):
        chance = rng.random()
        if chance < 0.0001:
            yield revisions.old_agent(rng)
        elif chance < 0.0005:
            yield revisions.named(rng)
        elif chance < 0.002:
            yield files.shard(rng)
        elif chance < 0.01:
            yield files.trace_file(rng)
        elif chance < 0.02:
            yield files.agent_file(rng)
        elif chance < 0.03:
            yield of_project(folder, rng)
        else:
            yield of_codec(rng.choice(codecs), rng)


def main(number: int, seed: int) -> int:
    """Try the inputs; print how many of each part failed."""
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for one in inputs(number, seed, Path(folder)):
            tried[one.part] += 1
            try:
                one.call()
            except one.may_raise:
                continue
            except Exception:
                failed[one.part] += 1
                if failed.total() <= SHOWN:
                    print(f"{one.part}: {one.shown}\n{traceback.format_exc(limit=-3)}")
    for part, times in sorted(tried.items()):
        print(f"{part}: {times} inputs, {failed[part]} failed")
    spent = time.process_time() - begun
    print(f"{number} inputs with seed {seed} in {spent:.0f} s of processor time, commit {commit()}")
    slow = list(superlinear())
    print(
        "\n".join(slow)
        or "time is linear in the size of bodies, replies, scenarios, prompts and recorded runs"
    )
    return 1 if failed or slow else 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [NUMBER, 0][len(given) :])))
