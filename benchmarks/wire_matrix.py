"""Do mutants of every operator arrive on the wire? Operators x SDKs x (plain, streamed) x (in process, proxy).

`make slow` prints the table for all operators; the tests take some of each class. Real SDKs ask the simulator. A mutant
has arrived where the simulator received another request than of the original, the witness sees the change in what the
simulator received, and agentmut's record of the trial is just that.

Flow is no part of a request; see `tests/wire/test_wire_matrix.py`.
"""

import asyncio
import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import openai
from httpx2 import AsyncClient
from langchain_core.messages.utils import convert_to_messages
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph

from agentmut.adapters._shared.tool_loop.dialect import arguments_of
from agentmut.mutation.controls import identity_mutant
from agentmut.mutation.generation import generate
from agentmut.nouns.codec import Codec
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import Footprint, footprint
from agentmut.nouns.messages import Exchange, ModelRequest
from agentmut.nouns.mutant import Mutant, OperatorClass
from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.proxy.gateway import ServiceGateway, open_gateway
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.dialects.anthropic.anthropic_messages import AnthropicMessages
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
from agentmut.wire.dialects.responses.responses import Responses
from agentmut.wire.rewriting.rewriter import ConfigRewriter

PLAIN = Path(__file__).parent.parent / "tests" / "wire" / "test_rewriting_of_every_operator.py"
"""Its agent has something for every operator to change."""
ALIASES = {"sim-other": "sim-large"}
OPTIONS = OperatorOptions(swap_models=("sim-other",), downgrade_models=("sim-small",), slow_seconds=0.01)
AT_ONCE = 16
"""Requests under way at a time."""
UNSAID = {
    "openai-responses": {"model.drop_seed"},
    "anthropic": {"model.drop_seed", "model.drop_response_format"},
}
"""What an API has no word for."""
SLOW = "tool.result_slow"
"""It changes nothing in a request: it comes later."""


def _agent() -> Any:
    spec = importlib.util.spec_from_file_location("agent_for_every_operator", PLAIN)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


AGENT = _agent()
CONFIG: AgentConfig = AGENT.CONFIG


class Stacks:
    """The SDKs; their clients are shared by all trials. Each asks once, and says which tools it was told to call."""

    def __init__(self) -> None:
        shared: dict[str, Any] = {"api_key": "k", "base_url": "http://unset", "max_retries": 0}
        self._http = AsyncClient(verify=False, timeout=60)
        self._openai = openai.AsyncOpenAI(http_client=self._http, **shared)
        self._anthropic = anthropic.AsyncAnthropic(http_client=self._http, **shared)

    async def chat(self, at: Mapping[str, str], stream: bool) -> list[str]:
        """Chat Completions."""
        create = self._openai.with_options(base_url=at["OPENAI_BASE_URL"]).chat.completions.create
        if not stream:
            message = (await create(**_body(ChatCompletions()))).choices[0].message
            return [call.function.name for call in message.tool_calls or ()]
        chunks = [chunk async for chunk in await create(**_body(ChatCompletions()), stream=True)]
        calls = [call for c in chunks for choice in c.choices for call in choice.delta.tool_calls or ()]
        return [call.function.name for call in calls if call.function and call.function.name]

    async def responses(self, at: Mapping[str, str], stream: bool) -> list[str]:
        """Return the Responses API."""
        create = self._openai.with_options(base_url=at["OPENAI_BASE_URL"]).responses.create
        response: Any = await create(**_body(Responses()), stream=stream)
        if stream:
            response = [event async for event in response][-1].response
        return [item.name for item in response.output if item.type == "function_call"]

    async def claude(self, at: Mapping[str, str], stream: bool) -> list[str]:
        """Anthropic Messages."""
        messages = self._anthropic.with_options(base_url=at["ANTHROPIC_BASE_URL"]).messages
        asked = arguments_of(messages.create, _body(AnthropicMessages()))
        if stream:
            async with messages.stream(**asked) as events:
                message = await events.get_final_message()
        else:
            message = await messages.create(**asked)
        return [block.name for block in message.content if block.type == "tool_use"]

    async def langgraph(self, at: Mapping[str, str], stream: bool) -> list[str]:
        """Chat Completions, asked by a graph's node."""
        body = _body(ChatCompletions())
        settings = {
            k: v for k, v in body.items() if k not in ("messages", "tools", "tool_choice", "response_format")
        }
        model = ChatOpenAI(
            base_url=at["OPENAI_BASE_URL"], api_key="k", max_retries=0, http_async_client=self._http,
            streaming=stream, extra_body={"response_format": body["response_format"]}, **settings,
        ).bind(tools=body["tools"], tool_choice=body["tool_choice"])  # fmt: skip

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile()
        said = [{"content": "", **{k: v for k, v in m.items() if v is not None}} for m in body["messages"]]
        messages: list[Any] = list(convert_to_messages(said))
        state = await graph.ainvoke(MessagesState(messages=messages))
        return [call["name"] for call in state["messages"][-1].tool_calls]

    def all(self) -> dict[str, Callable[[Mapping[str, str], bool], Awaitable[list[str]]]]:
        """By name."""
        return {
            "openai-chat": self.chat,
            "openai-responses": self.responses,
            "anthropic": self.claude,
            "langgraph": self.langgraph,
        }


def _body(codec: Codec) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(codec.encode_request(AGENT.request()).body)
    return body


class Cell(NamedTuple):
    """One combination."""

    stack: str
    stream: bool
    proxy: bool

    def __str__(self) -> str:
        return f"{self.stack}, {'streamed' if self.stream else 'plain'}, {'proxy' if self.proxy else 'in process'}"


class Run(NamedTuple):
    """What came of one mutant in one combination."""

    mutant: Mutant
    cell: Cell
    recorded: list[ModelRequest]
    received: list[ModelRequest | None]
    marks: frozenset[str]
    called: list[str]
    """Tools that the agent was told to call."""


class Bench:
    """Carries out trials; entered with `open_bench`."""

    def __init__(self, simulator: Simulator, gateway: ServiceGateway) -> None:
        self._simulator = simulator
        self._gateway = gateway
        self._ask = Stacks().all()
        self._places = asyncio.Semaphore(AT_ONCE)

    async def run(self, mutant: Mutant, cell: Cell) -> Run:
        """Ask once as this mutant."""
        rewriter = ConfigRewriter(CONFIG, mutant.apply(CONFIG))
        trial = Trial(f"{mutant.id}, {cell}", rewriter=rewriter)
        async with self._places:
            called = await (self._by_proxy if cell.proxy else self._in_process)(trial, cell)
        received = [each.request for each in self._simulator.requests_of(trial.id)]
        recorded = [exchange.request for exchange in trial.recorder.exchanges]
        return Run(mutant, cell, recorded, received, frozenset(rewriter.marks), called)

    async def _in_process(self, trial: Trial, cell: Cell) -> list[str]:
        with running(trial):
            return await self._ask[cell.stack](self._simulator.environment, cell.stream)

    async def _by_proxy(self, trial: Trial, cell: Cell) -> list[str]:
        attempt = self._gateway.attempt(trial.id)
        with attempt.admitted(trial):
            return await self._ask[cell.stack](attempt.endpoints, cell.stream)


@asynccontextmanager
async def open_bench() -> AsyncIterator[Bench]:
    """With a simulator, a proxy before it, and the tap."""
    with Simulator(read_settings(seed=1, aliases=ALIASES)) as simulator, Tap(all_codecs()).installed():
        async with open_gateway(simulator.environment) as gateway:
            yield Bench(simulator, gateway)


def mutants(*names: str) -> list[Mutant]:
    """Return the first of each of these operators; without any, of all but those of the flow."""
    operators = [AGENT.OPERATORS[name] for name in names] or [
        each for each in AGENT.OPERATORS.values() if each.operator_class is not OperatorClass.ORCHESTRATION
    ]
    found = (generate(CONFIG, [operator], OPTIONS).mutants for operator in operators)
    return [each[0] for each in found if each]


def cells() -> list[Cell]:
    """Return all combinations."""
    names = ("openai-chat", "openai-responses", "anthropic", "langgraph")
    return [Cell(*parts) for parts in product(names, (False, True), (False, True))]


async def all_runs(chosen: Iterable[Mutant]) -> tuple[dict[Cell, Run], list[Run]]:
    """Return the original in every combination, and every mutant."""
    original = identity_mutant(CONFIG)
    async with open_bench() as bench:
        firsts = await asyncio.gather(*(bench.run(original, cell) for cell in cells()))
        others = await asyncio.gather(*(bench.run(m, c) for m, c in product(chosen, cells())))
    return {run.cell: run for run in firsts}, list(others)


def fault(run: Run, original: Run) -> str:
    """Return what is wrong with the run of a mutant; empty when it arrived, or when nobody says so of what cannot."""
    if not run.received or run.received != run.recorded:
        return f"received {len(run.received)} requests, recorded {len(run.recorded)}, and they differ"
    if foreign := set(run.called) - set(CONFIG.tool_names):
        return f"the agent was told to call {sorted(foreign)}"
    detector = Detector(run.mutant, CONFIG).informed([_seen(original)])
    seen = _seen(run)
    unsaid = run.mutant.operator in UNSAID.get(run.cell.stack, ())
    if unsaid == bool(detector.witness(seen)):
        return "witnessed, and cannot be" if unsaid else "not witnessed"
    changed = run.received[0] != original.received[0]
    return "" if changed != (unsaid or run.mutant.operator == SLOW) else f"request changed: {changed}"


def _seen(run: Run) -> Footprint:
    """Return the footprint of what the simulator received."""
    exchanges = (Exchange(request, None, 200, None, 0.0, 0.0) for request in run.received if request)
    return footprint(exchanges, marks=run.marks)


def faults(originals: Mapping[Cell, Run], runs: Sequence[Run]) -> dict[str, str]:
    """By operator and combination, what is wrong."""
    found = {f"{run.mutant.operator}, {run.cell}": fault(run, originals[run.cell]) for run in runs}
    return {name: wrong for name, wrong in found.items() if wrong}


def table(originals: Mapping[Cell, Run], runs: Sequence[Run]) -> str:
    """Return rows by SDK and way, columns by class of operator: how many arrived of how many."""
    counts: dict[tuple[Cell, str], list[bool]] = defaultdict(list)
    unsaid: dict[tuple[Cell, str], int] = defaultdict(int)
    for run in runs:
        key = run.cell, run.mutant.operator_class.value
        if run.mutant.operator in UNSAID.get(run.cell.stack, ()):
            unsaid[key] += 1
        else:
            counts[key].append(not fault(run, originals[run.cell]))
    classes = list(dict.fromkeys(run.mutant.operator_class.value for run in runs))
    lines = ["| SDK, way | " + " | ".join(classes) + " |", "|---|" + "---|" * len(classes)]
    for cell in originals:
        found = [(counts[cell, c], unsaid[cell, c]) for c in classes]
        texts = (f"{sum(ok)}/{len(ok)}" + (f" ({no} unsaid)" if no else "") for ok, no in found)
        lines.append(f"| {cell} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the table; exit 1 where a mutant did not arrive."""
    chosen = mutants()
    originals, runs = asyncio.run(all_runs(chosen))
    wrong = faults(originals, runs)
    print(
        f"Mutants that arrived, one of each of {len(chosen)} operators; unsaid: the API has no word for it.\n"
    )
    print(table(originals, runs))
    print(*(f"{name}: {what}" for name, what in wrong.items()), sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
