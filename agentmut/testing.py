"""Conformance tests for your own plugins; call them from your tests."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import JsonValue

from agentmut._base import UsageError, one_line
from agentmut.conformance import (
    AT_ONCE,
    CHECKS,
    SAMPLES,
    Findings,
    Subject,
    Support,
    TriedConfig,
    adapter_findings,
    applied,
    candidate_faults,
    candidates_or_fault,
    check_names,
    codec_faults,
    conduct_faults,
    config_reader_faults,
    endpoint,
    evaluator_faults,
    importer_faults,
    order_faults,
    purity_faults,
    repetitions,
    report_format_faults,
    trace_format_faults,
    unexpected,
    without_repetitions,
)
from agentmut.nouns import AgentConfig, AgentTrace, Check, Codec, HttpCall, Result
from agentmut.seams import (
    Adapter,
    ConfigReader,
    Evaluator,
    Example,
    Group,
    Importer,
    Operator,
    OperatorOptions,
    Relation,
    RelationExample,
    ReportFormat,
    SuiteSpec,
    TraceFormat,
    declaration_faults,
    relation_declaration_faults,
    signature_faults,
)

_DEFAULTS = OperatorOptions()
_MOST_FAULTS = 30
"""Faults of a relation that are told; one mistake shows on many of the runs that it is tried on."""
_NONE: Mapping[str, str] = MappingProxyType({})


def check_operator(
    operator: type[Operator],
    *configs: AgentConfig,
    options: OperatorOptions = _DEFAULTS,
    other_processes: bool = True,
) -> None:
    """Check that a class is an operator that agentmut can rely on.

    It has the signature of its seam, and declares class, intent, reach and version as agentmut knows them; its
    examples hold; an empty config has no mutants; the same config gives the same mutants, and stays as it is;
    every edit is of the part that its class names, is where it says, changes something and no more than that; what is
    left is a config whose tools a project could have; candidates say what they do and can be told apart. Tried on
    its examples, on a few small configs, and on `configs`.

    Chance is found by what it does to Python's and numpy's global generators. An order taken from a set is found in
    other processes, about a second in all, which `other_processes=False` saves; they are left out where the operator
    cannot be imported by module and name. Reading the clock, files or the network may go unnoticed. Raises
    `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(operator, Group.OPERATORS, getattr(operator, "id", ""))
    faults = [*shape, *declaration_faults(operator), *_reason_faults(operator)]
    if not shape:
        try:
            built = operator()
        except Exception as error:
            faults.append(f"{operator.__name__}() raised {one_line(error)}")
        else:
            faults += _conduct_faults(built, configs, options, other_processes)
    if faults:
        name = getattr(operator, "id", getattr(operator, "__name__", repr(operator)))
        raise AssertionError("\n- ".join([f"{name} is no sound operator:", *dict.fromkeys(faults)]))


def check_relation(relation: type[Relation], *arguments: JsonValue) -> None:
    """Check that a class is a metamorphic relation that agentmut can rely on.

    It has the signature of its seam, and declares family, id, expectation, version and reason as agentmut knows them;
    an argument that it does not take is refused by `ValueError`; it has an example in which it holds and one in which
    it does not, and they are judged so; `follow_up` is a function of the source and its seed, draws on no other chance,
    and changes nothing; its edits apply to the config; an invariant compares runs, and holds of a run and the same run
    again; `lack` and descriptions are phrases; `holds` gives a `Check` with a reason, or None, and never raises: not on
    empty runs, errors, answers that are no text, dozens of turns, odd characters.

    Tried without an argument, with `arguments`, and with the argument of `HasExampleArgument`, if the relation declares
    that: its examples are written for it. An order taken from a set may go unnoticed, and so may what reads the clock,
    files or the network. Raises `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(relation, Group.RELATIONS, getattr(relation, "id", ""))
    faults = [*shape, *relation_declaration_faults(relation)]
    if not faults:
        faults += conduct_faults(relation, arguments)
    if faults:
        name = getattr(relation, "id", getattr(relation, "__name__", repr(relation)))
        told = list(dict.fromkeys(faults))
        more = [f"and {len(told) - _MOST_FAULTS} more"] if len(told) > _MOST_FAULTS else []
        raise AssertionError("\n- ".join([f"{name} is no sound relation:", *told[:_MOST_FAULTS], *more]))


def check_evaluator(
    evaluator: type[Evaluator], *arguments: JsonValue, refused: Sequence[JsonValue] = ()
) -> None:
    """Check that a class is an evaluator that agentmut can rely on.

    It has the signature of its seam and of the capabilities that it declares. It is built with each of `arguments`,
    and refuses each of `refused` by `ValueError` with what it expects. It judges odd runs (errors, empty answers, calls
    without arguments) without raising, judges the same run alike each time, gives a reason with a failure, and changes
    nothing. Raises `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(evaluator, Group.EVALUATORS, "")
    _raise("evaluator", evaluator, shape or list(evaluator_faults(evaluator, arguments or (None,), refused)))


def check_importer(importer: type[Importer], suite: SuiteSpec, *, refused: Sequence[SuiteSpec] = ()) -> None:
    """Check that a class is an importer that agentmut can rely on.

    It has the signature of its seam. It reads `suite`: scenarios with evaluators, each under a name of its own, the
    same each time. It refuses each of `refused` by `UsageError`. Its adapter, if any, has the signature of an adapter.
    Raises `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(importer, Group.IMPORTERS, getattr(importer, "name", ""))
    _raise("importer", importer, shape or list(importer_faults(importer, suite, refused)))


def check_config_reader(reader: type[ConfigReader], *files: Path, others: Sequence[Path] = ()) -> None:
    """Check that a class is a reader of agent files that agentmut can rely on.

    It has the signature of its seam. It recognises and reads each of `files`, the same each time: agents with names of
    their own, whose texts stand on the lines that the reader names. It recognises none of `others`, which have another
    format. Raises `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(reader, Group.CONFIG_READERS, getattr(reader, "name", ""))
    _raise("config reader", reader, shape or list(config_reader_faults(reader(), files, others)))


def check_report_format(report_format: type[ReportFormat], *results: Result) -> None:
    """Check that a class is a report format that agentmut can rely on.

    It has the signature of its seam. It writes results without mutants, with mutants of every status, with texts of an
    attacker, and of a run that a budget stopped: the same text each time, with a last line break, and without
    characters that steer a terminal. It is tried on `results` too. Raises `AssertionError` with all that is wrong.
    """
    shape = signature_faults(report_format, Group.REPORT_FORMATS, getattr(report_format, "name", ""))
    _raise("report format", report_format, shape or list(report_format_faults(report_format(), results)))


def check_trace_format(trace_format: type[TraceFormat], *samples: Path) -> None:
    """Check that a class is a reader of recorded runs that agentmut can rely on.

    It has the signature of its seam. It recognises `samples`, files that its tool wrote, and nothing that is of no
    tool. It reads them into trials with steps, the same each time, with the file as their place. It raises nothing
    for an empty file, a file that was cut off, and one with other JSON in it, of which it makes no trial. Raises
    `AssertionError` with everything that is wrong.
    """
    shape = signature_faults(trace_format, Group.TRACE_FORMATS, getattr(trace_format, "name", ""))
    _raise("trace format", trace_format, shape or list(trace_format_faults(trace_format(), samples)))


def _raise(kind: str, plugin: Any, faults: Sequence[str]) -> None:
    told = list(dict.fromkeys(faults))
    more = [f"and {len(told) - _MOST_FAULTS} more"] if len(told) > _MOST_FAULTS else []
    if told:
        name = getattr(plugin, "__name__", repr(plugin))
        raise AssertionError("\n- ".join([f"{name} is no sound {kind}:", *told[:_MOST_FAULTS], *more]))


def check_codec(codec: Codec, *samples: HttpCall | bytes, except_for: Mapping[str, str] = _NONE) -> None:
    """Check that a codec is one that agentmut can rely on.

    It has the signature of its seam; it reads what it writes, requests and replies, plain and streamed; with nothing
    to change it gives bodies back as they were, order of keys included; a change of a text, a tool, a name or a
    setting changes that alone, and what it is given never; tools' names mapped there and back are the same; fields
    that it does not know stay; streams are cut into frames without loss, however they come; what it cannot read
    raises `ValueError`, and nothing else does.

    Tried on requests and replies made here, and on `samples`: requests and reply bodies of the service itself, plain
    or streamed. What a dialect cannot say is named in `except_for`: the name of a check, as the error has it before
    the colon, and the reason. One that does not fail after all is a fault too. Raises `AssertionError` with
    everything that is wrong.
    """
    found = list(codec_faults(codec, samples))
    told = list(without_repetitions(fault for fault in found if fault.check not in except_for))
    failed = {fault.check for fault in found}
    for name, reason in except_for.items():
        if not reason.strip():
            told.append(f"{name}: except_for must say why it fails")
        if name not in failed:
            told.append(f"{name}: it was to fail ({reason}), but holds, or there is no check of this name")
    if told:
        name = getattr(codec, "name", type(codec).__name__)
        raise AssertionError("\n- ".join([f"{name} is no sound codec:", *dict.fromkeys(told)]))


def check_adapter(
    make: Callable[[], Adapter],
    *,
    turns: Sequence[JsonValue] = ("Hello. What can you do?",),
    expect_tools: Sequence[str] = (),
    doubles: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    only: Collection[str] = CHECKS,
    except_for: Mapping[str, str] = MappingProxyType({}),
    timeout: float = 30.0,
    route: Literal["rebuild", "wire"] | None = None,
    at_once: int = AT_ONCE,
) -> Mapping[str, Support]:
    """Check that an adapter runs its agent as agentmut needs it.

    `make` gives the adapter of a small agent with a prompt, a model and tools; `turns` is what it is asked, and
    `expect_tools` are the tools that it calls then, by its own names. `doubles` are called in the place of tools, as
    the real ones would be called some hundred times. Where `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL` is not set, the
    simulator of agentmut answers, whose models are `sim-large` and so on; `make` is called with them set.

    Checked is, under these names: `config` (`with_config` makes another adapter and changes nothing), `run`, `steps`,
    `answers`, `arguments`, `outputs`, `usage`, `durations` (the trace tells what the wire saw), `fresh_state` and
    `concurrency` (`at_once` runs know nothing of each other), `errors`, `doubles`, `cancellation`, and
    `mutation.prompt`, `mutation.tool`, `mutation.model`, `mutation.context`, `mutation.orchestration` (a mutant of
    each kind arrives, unless `cannot_express` says why it cannot). An agent that makes no model request which agentmut
    can see is checked by what else there is of it. What `expect_tools` does not name is not checked of tools.

    `route` is how mutants are to reach the agent, where it is not the adapter's own choice. `only` names the checks
    to make. `except_for` names checks that are expected to fail, each with the reason; one that does not fail is
    reported, too. It must not be called from a running event loop, as it runs one of its own. LangChain's
    chat models share connections between event loops: in the same process as other runs of them, give each an
    `http_async_client` of its own.

    Gives, by operator class, the operators whose mutants were seen to arrive, those that the adapter cannot express,
    with its reason, and those of the orchestration that made no difference to this run, as a limit that it does not
    come to. Raises `AssertionError` with everything that is wrong.
    """
    check_names(only, except_for)

    async def check() -> tuple[str, Findings]:
        async with endpoint():
            adapter = make()
            subject = Subject(adapter, tuple(turns), tuple(expect_tools), doubles, timeout, route, at_once)
            return type(adapter).__name__, await adapter_findings(subject, only)

    name, found = asyncio.run(check())
    if said := list(dict.fromkeys(unexpected(found.faults, except_for))):
        raise AssertionError("\n- ".join([f"{name} is no sound adapter:", *said]))
    return found.support


def _reason_faults(operator: type[Operator]) -> Iterator[str]:
    why = getattr(operator, "why", "")
    if not str(why).strip() or "\n" in str(why):
        yield "why must say in one line how this happens in practice"


def _conduct_faults(
    operator: Operator, configs: Sequence[AgentConfig], options: OperatorOptions, other_processes: bool
) -> Iterator[str]:
    try:
        examples = [Example(*example) for example in operator.examples()]
    except Exception as error:
        yield f"examples() must give agentmut.seams.protocols.Example, but raised {one_line(error)}"
        examples = []
    yield from _example_faults(operator, examples)
    tried = [TriedConfig(config, options) for config in (*SAMPLES, *configs)]
    tried += [TriedConfig(example.config, example.options) for example in examples]
    for number, (config, its_options) in enumerate(tried, start=1):
        yield from (
            f"config {number}{_prompt_beginning(config)}: {fault}"
            for fault in _config_faults(operator, config, its_options)
        )
    if other_processes:
        yield from order_faults([(type(operator), tried)])


def _example_faults(operator: Operator, examples: Sequence[Example]) -> Iterator[str]:
    if not examples:
        yield "it has no example"
    for number, (config, first, options) in enumerate(examples, start=1):
        found = candidates_or_fault(operator, config, options)
        if isinstance(found, str):
            yield f"example {number}: {found}"
        elif not found:
            yield f"example {number}: there is no mutant"
        elif isinstance(result := applied(config, found[0]), str):
            yield f"example {number}: {result}"
        elif result != first:
            yield f"example {number}: the first mutant is {result!r}, expected {first!r}"
    nothing = candidates_or_fault(operator, AgentConfig(), OperatorOptions())
    if isinstance(nothing, str):
        yield f"an empty config: {nothing}"
    elif nothing:
        yield "an empty config has mutants"


def _config_faults(operator: Operator, config: AgentConfig, options: OperatorOptions) -> Iterator[str]:
    for fault in purity_faults(operator, config, options):
        if isinstance(fault, str):
            yield fault
            continue
        for candidate in fault:
            yield from candidate_faults(operator, config, candidate)
        yield from repetitions(fault)


def _prompt_beginning(config: AgentConfig) -> str:
    """Return the beginning of its prompt, so that a config can be told from the others."""
    first = config.prompt.strip().partition("\n")[0]
    return f" ({first[:40]!r})" if first else ""


def check_trace(
    trace: AgentTrace, *evaluators: Mapping[str, JsonValue], turns: Sequence[JsonValue] = ("",)
) -> None:
    """Check that evaluators hold of a run: `check_trace(trace, {"states": "30 days"}, {"max_steps": 8})`.

    Each is written as in a scenario file, as a mapping of its name to its argument; `turns` is what the agent was
    asked, where an evaluator looks at that. Raises `AssertionError` with every one that does not hold, and
    `UsageError` for what is no evaluator.
    """
    from agentmut.judging import build_all, judge
    from agentmut.nouns import EvaluatorSpec, Scenario

    specs = [EvaluatorSpec(name=name, argument=value) for one in evaluators for name, value in one.items()]
    if not specs:
        raise UsageError('check_trace needs an evaluator, such as {"tool_called": "lookup_order"}.')
    scenario = Scenario(name="trace", turns=tuple(turns), evaluators=tuple(specs))
    failed = [check for check in judge(build_all(specs), scenario, trace) if not check.passed]
    if failed:
        raise AssertionError("\n- ".join(["the run is not as it should be:", *map(_check_line, failed)]))


def _check_line(check: Check) -> str:
    return f"{check.evaluator}: {check.reason}"


__all__ = [
    "SAMPLES", "Example", "RelationExample", "check_adapter", "check_codec", "check_operator", "check_relation",
    "check_trace",
]  # fmt: skip
