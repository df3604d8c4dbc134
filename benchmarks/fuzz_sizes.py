"""Whether time grows with the size of what is read, and no faster."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agentmut.conformance.codecs.codec_samples import REPLIES, REQUESTS
from agentmut.mutation import changes
from agentmut.nouns import AgentConfig, Codec
from agentmut.project import load_project
from agentmut.seams import TraceFile
from agentmut.trace_formats import read_traces
from agentmut.wire import all_codecs

SMALL, TIMES = 400, 4
"""Items of the smaller input, and how many times as many the larger one has."""
MOST = 2.5
"""A larger input may take so many times what a linear one would: a quadratic one takes four times that."""


def superlinear() -> Iterator[str]:
    """Yield what takes more than linear time, in a sentence each."""
    with tempfile.TemporaryDirectory() as folder:
        for name, of in _subjects(Path(folder)):
            small, large = of(SMALL), of(SMALL * TIMES)
            taken = min(_seconds(large) / _seconds(small) for _ in range(3))
            if taken > MOST * TIMES:
                yield f"{name}: {TIMES} times the size takes {taken:.1f} times as long"


def _seconds(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        call()
        best = min(best, time.process_time() - begun)
    return best


def _subjects(folder: Path) -> Iterator[tuple[str, Callable[[int], Callable[[], object]]]]:
    for codec in all_codecs():
        yield f"requests of {codec.name}", lambda size, codec=codec: _request(codec, size)  # type: ignore[misc]
        yield f"streams of {codec.name}", lambda size, codec=codec: _stream(codec, size)  # type: ignore[misc]
    yield "scenarios", lambda size: _scenarios(folder / str(size), size)
    yield "recorded runs", lambda size: _runs(folder / f"{size}.json", size)
    yield "changes of a prompt", _changed


def _request(codec: Codec, size: int) -> Callable[[], object]:
    request = next(iter(REQUESTS.values()))
    call = codec.encode_request(request.model_copy(update={"messages": request.messages * size}))
    return lambda: codec.decode_request(call)


def _stream(codec: Codec, size: int) -> Callable[[], object]:
    reply = next(iter(REPLIES.values()))
    words = reply.model_copy(update={"text": "word " * (size * 10)})
    data = codec.encode_reply(words, reply_id="r", stream=True)
    return lambda: codec.decode_reply(data)


def _scenarios(folder: Path, size: int) -> Callable[[], object]:
    folder.mkdir()
    agent = "agent: {adapter: python, run: 'a:run'}"
    (folder / "agentmut.yaml").write_text(f"version: 1\n{agent}\nsuite: {{scenarios: s.yaml}}\n")
    case = "- {{name: s{}, input: hi, evaluators: [{{contains: x}}]}}\n"
    (folder / "s.yaml").write_text("".join(map(case.format, range(size))))
    return lambda: load_project(folder)


def _runs(path: Path, size: int) -> Callable[[], object]:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    runs = [{"task_id": n, "trial": 0, "reward": 1.0, "info": {}, "traj": said} for n in range(size)]
    path.write_text(json.dumps(runs))
    return lambda: read_traces([TraceFile(path, path.name)])


def _changed(size: int) -> Callable[[], object]:
    lines = [f"- Rule {number}.\n" for number in range(size * 5)]
    others = [*lines[: size // 2], "- New.\n", *lines[size // 2 + 1 :]]
    old, new = (AgentConfig(prompt="".join(one)) for one in (lines, others))
    return lambda: changes(old, new)
