"""The shape of `agentmut.yaml` and of scenario files, as pydantic models and as a JSON Schema.

`python -m agentmut.project.schema > agentmut/project/agentmut.schema.json` and
`python -m agentmut.project.schema scenarios > agentmut/project/scenarios.schema.json` write the schemas that are
shipped for editors.
"""

import json
import sys
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, RootModel

from agentmut.mutation import Identity
from agentmut.nouns import ToolDouble
from agentmut.project.agent_section import AgentSection
from agentmut.project.gate_section import GateSettings
from agentmut.project.guidance import CoverageSettings, Named, RelationSettings, SuggestSettings
from agentmut.project.privacy import SecretSettings, StoreSettings
from agentmut.project.section import Reference, Section

Rate = Annotated[float, Field(gt=0, lt=1)]
PerMinute = Annotated[float, Field(gt=0)]
Runs = Annotated[int, Field(ge=1, le=10_000)]
MutationClass = Literal["prompt", "tool", "model", "context", "orchestration"]


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError("every value may be named once")
    return values


class SuiteSection(Section):
    """The tests that are being tested: scenario files, or one suite of another tool under the name of its importer,
    as in `pytest: tests/evals`."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)
    __pydantic_extra__: dict[str, JsonValue]

    scenarios: str | tuple[str, ...] = "scenarios/*.yaml"
    """Glob patterns of scenario files, relative to this file."""
    threshold: Rate = 0.9
    """The pass rate required of a scenario that names none."""
    ci_runs: Annotated[
        tuple[Runs, ...], AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True})
    ] = (1, 10)
    """How often a CI job may run each scenario; the report shows how likely each such job turns red."""
    ci_after_kill: bool = True
    """Run each killed mutant again on the scenario that killed it, until the largest of these jobs is red or green
    there: with 10 runs at a threshold of 0.9, 2 to 10 further runs. The report's chances of red rest on these runs."""


class IgnoredMutant(Section):
    """A mutant left out of the score. An entry that fits no mutant is reported."""

    mutant: str = Field(min_length=4)
    """The mutant's id or the beginning of it."""
    reason: str = Field(min_length=1)
    """Why it does not matter; shown in reports."""


MutantId = Annotated[str, Field(min_length=4)]


class SecondOrder(Section):
    """Mutants of second order: two mutants at once. They have a separate score and are not in the overall
    score, since their parts are."""

    sample: int | None = Field(default=None, ge=1)
    """The number of pairs of degrading mutants, equal in every run; different operators and parts of the agent
    first."""
    pairs: tuple[tuple[MutantId, MutantId], ...] = ()
    """Pairs by the ids of their mutants, or the beginnings of them."""


class ProxySettings(Section):
    """A cheap model that decides all mutants, so that the agent's own model decides a random part of them only."""

    model: str = Field(min_length=1)
    """Its name, as requests give it. The same service has to answer it."""
    part: float = Field(default=0.2, gt=0, lt=1)
    """The part of the mutants that the agent's own model decides, too; twelve mutants at least."""


class MutationSettings(Section):
    """Which mutants are made."""

    classes: tuple[MutationClass, ...] | None = None
    """Classes of operators to use; all of them when left out."""
    operators: tuple[str, ...] | None = None
    """Operators to use instead of whole classes: names such as `tool.remove`, or patterns such as `orchestration.*`."""
    incidents: bool = False
    """Also use the operators on demand, which make the changes of documented incidents; docs/mutants.md lists them."""
    own_operators: tuple[Reference, ...] = ()
    """Operators of this project, as `module:object`. They are used like installed ones."""
    per_operator: int | None = Field(default=None, ge=1)
    """At most so many mutants of each operator: those with the smallest ids, the same ones in every run."""
    per_instruction: int | None = Field(default=None, ge=1)
    """At most so many mutants on one instruction of the prompt, one line of a document, one tool, or one setting
    of the model or the orchestration; again those with the smallest ids."""
    sample: int | None = Field(default=None, ge=1)
    """At most so many mutants in all: a quarter of them `preserve` ones, more only where too few degrade. Within
    each intent the operators have fair shares: each gives its mutants in the order of their ids, one in every
    round; with fewer places than operators, some of them give one mutant each. Sampled pairs are made of these
    mutants only. An edit of the agent changes the sample only by the mutants that it adds and removes."""
    swap_models: tuple[str, ...] = ()
    """Models of other families that `model.swap` puts in."""
    downgrade_models: tuple[str, ...] = ()
    """Smaller models that `model.downgrade` puts in."""
    identity: Annotated[tuple[Identity, ...], Field(min_length=1), AfterValidator(_distinct)] = (
        Identity.UNTOUCHED,
    )
    """Controls that must not be killed: the agent `untouched`, with more `whitespace`, or with a `comment`."""
    slow_seconds: float = Field(default=3.0, gt=0, le=3600)
    """Seconds by which `tool.result_slow` delays results. The trials of its mutants take that much longer."""
    second_order: SecondOrder | None = None
    """Pairs of mutants to run as well."""
    proxy: ProxySettings | None = None
    """A cheap model to decide all mutants first; the score is still that of the agent's own model."""
    selective: float | None = Field(default=None, gt=0, le=1)
    """The share of operators to keep: those with kill rates nearest to one half in earlier runs. Operators without an
    earlier result are kept too. The score then counts the kept operators only."""
    wordnet: bool = False
    """Let `prompt.synonym` also use nltk's WordNet corpus, which has to be installed: `python -m nltk.downloader
    wordnet`."""
    ignore: tuple[IgnoredMutant, ...] = ()
    """Mutants that are not run, each with a reason. Comments in the prompt do the same."""


USUAL_CLEARING = 20
"""Random scenarios on which a survivor is cleared, where a project says nothing: at most 14 % of many have the drop."""


class StatisticsSettings(Section):
    """How much evidence a decision needs."""

    alpha: float = Field(default=0.05, ge=1e-4, le=0.5)
    """Highest probability of calling an unchanged agent killed."""
    power: float = Field(default=0.9, ge=0.5, le=0.999)
    """Probability of killing a mutant that lowers a pass rate by `delta`."""
    delta: Rate = 0.2
    """The drop of a pass rate that matters."""
    n_max: int = Field(default=100, ge=10, le=500)
    """Most trials of one mutant on one scenario."""
    rounds: Literal["auto", "one"] = "auto"
    """`auto` looks for large drops first, with small baselines, and for smaller ones down to `delta` while the budget
    lasts. `one` looks for drops of `delta` at once."""
    baseline: Literal["auto"] | Annotated[int, Field(ge=1)] = "auto"
    """Trials of the unchanged agent on each scenario, at the end of the last round; `auto` chooses them."""
    precision: float | None = Field(default=None, gt=0, lt=0.5)
    """Stop once the score is known to so much on each side: a random sample of the mutants is then enough. `power` is
    0.99 then, unless it is more."""
    looks: int = Field(default=1, ge=1, le=20)
    """How many runs with different settings you will look at: each has `alpha` divided by this number. Set it before
    the first run. Without it a second look is reported, and `agentmut gate` leaves it to a person."""
    suite_share: float = Field(default=0.0, ge=0, lt=1)
    """The part of `alpha` that is spent on all scenarios together: finds a small drop everywhere sooner, a drop
    in one scenario a little later. 0 leaves it all to single scenarios."""
    clear_on: Literal["auto", "all"] | Annotated[int, Field(ge=10)] = "auto"
    """Try a mutant that more scenarios reach on a sample: the five most related ones, and random ones from groups of
    like scenarios. `auto`: 20, so it begins with a mutant that 21 scenarios reach. 20 of 21 to 25 are tried, all but
    five of 26 to 30, and 25 of more. A number is 10 or more. `all`: on each of them."""
    scoring: Literal["default", "paper"] = "default"
    """`paper` gives the ratio over all operators that the literature uses."""
    seed: int = Field(default=1, ge=0)
    """Seed of everything random."""

    @property
    def scenarios_to_clear(self) -> int:
        """Return how many scenarios a survivor is cleared on before a sample is drawn; 0 for all."""
        if self.clear_on == "all":
            return 0
        return USUAL_CLEARING if self.clear_on == "auto" else self.clear_on

    @property
    def alpha_of_a_look(self) -> float:
        """Return the chance of a false kill that one run may have."""
        return self.alpha / self.looks

    @property
    def beta(self) -> float:
        """Return the chance of missing a change that matters."""
        return round(1 - self.power, 10)


Correction = Literal["holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"]


class VerdictSettings(Section):
    """What `agentmut test` requires of the unchanged agent. The thresholds are in the scenarios."""

    method: Literal["sequential", "fixed"] = "sequential"
    """`sequential` stops a scenario as soon as its trials decide; `fixed` runs all of them."""
    trials: int = Field(default=100, ge=1, le=10_000)
    """The most trials of a scenario; with `fixed` the exact number."""
    margin: Rate = 0.1
    """The drop below the threshold that the sequential test must notice."""
    warm_start: bool = False
    """Whether earlier tests choose what the sequential test looks for first; its error rates stay."""
    correction: Correction = "holm"
    """How the chance of a false FAIL is kept in check over the scenarios."""


class ComparisonSettings(Section):
    """How `agentmut baseline compare` compares the agent with a stored baseline."""

    method: Literal["sequential", "fixed"] = "sequential"
    """`sequential` uses the kill rule and stops as soon as the trials decide; `fixed` runs `trials`."""
    trials: int = Field(default=100, ge=1, le=10_000)
    """Trials of a scenario with `fixed`; `sequential` ends at statistics.n_max."""
    test: Literal["fisher", "boschloo", "z"] = "boschloo"
    """The test of `fixed`."""
    correction: Correction = "holm"
    """How the chance of a false FAIL is kept in check over the scenarios."""


class Price(Section):
    """Price of a model in US dollars per million tokens."""

    input: float = Field(ge=0)
    """Per million input tokens."""
    output: float = Field(ge=0)
    """Per million output tokens."""
    cached_input: float | None = Field(default=None, ge=0)
    """Per million input tokens that the service's prompt cache held; None for the price of other input."""
    cache_write: float | None = Field(default=None, ge=0)
    """Per million input tokens that are written to that cache; None for the price of other input."""


class AskAbove(Section):
    """Limits above which verbs that run the agent ask first; `--yes` answers."""

    usd: float | None = Field(default=None, ge=0)
    """US dollars."""
    trials: int | None = Field(default=None, ge=0)
    """Trials."""


class BudgetSettings(Section):
    """Limits of a run; the first limit that is reached stops it."""

    usd: float | None = Field(default=None, gt=0)
    """US dollars."""
    trials: int | None = Field(default=None, ge=1)
    """Trials, baseline and controls included."""
    minutes: float | None = Field(default=None, gt=0)
    """Minutes of wall-clock time."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model name, for models whose price is not known or not yours."""
    ask_above: AskAbove | None = None
    """Ask before a run whose worst case, within the budget, exceeds these. Left out: ask where no budget bounds the
    run."""


class ExecutionSettings(Section):
    """How trials are run."""

    executor: Literal["local"] = "local"
    """An earlier name of `engine`."""
    engine: Literal["local", "ray"] = "local"
    """What runs the trials: this machine, or the nodes of a Ray cluster."""
    address: str = "auto"
    """The Ray cluster: `auto` for the one that this machine belongs to, or `ray://HOST:10001`."""
    trials_per_actor: int = Field(default=16, ge=1)
    """Trials that one process on a node runs at the same time, with `engine: ray`."""
    cpus: float = Field(default=0.0, ge=0)
    """CPUs that a trial takes of its node, with `engine: ray`; an agent that only waits for its model takes none."""
    gpu: float = Field(default=0.0, ge=0)
    """GPUs that a trial takes of its node, with `engine: ray`."""
    memory: int | None = Field(default=None, gt=0)
    """Bytes of memory that a trial takes of its node, with `engine: ray`."""
    concurrency: int = Field(default=16, ge=1)
    """Trials at the same time."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds until a trial is stopped."""
    evaluator_timeout: float = Field(default=60.0, gt=0)
    """Seconds that the evaluators of a scenario may take on one run, models apart."""
    isolate_evaluators: Literal["auto", "process", "thread"] = "auto"
    """Where evaluators run that are your own code. In a process of their own, a call that never ends is stopped; in a
    thread they share the memory of the agent. `auto` is `process` on Linux, and `thread` elsewhere."""
    isolate: Literal["task", "process", "auto"] = "task"
    """`process` really ends a blocked agent at the timeout, at the price of a process per trial. `auto` chooses it
    where the project's Python files call what ends a whole process, such as `os.abort`, and where an agent or a hook
    runs in a thread, as functions without `async` do: no call there can be broken off that keeps Python's lock."""
    retries: int = Field(default=3, ge=0)
    """Repeats of a trial after an error of the model service."""
    record: bool = False
    """Keep the model requests and replies of each trial, without secrets, for `agentmut replay`."""
    fork: bool = False
    """Let each trial of a mutant go along a recorded run of the original until a model request differs."""
    requests_per_minute: PerMinute | dict[str, PerMinute] | None = None
    """Most requests to models in a minute: of all services together, or of each host, as in `{api.openai.com: 500}`."""
    window: int = Field(default=1, ge=1)
    """Trials of one mutant that may be under way at the same time."""


class ProjectFile(Section):
    """A project of agentmut: which agent is mutated, which suite is measured, with how much evidence."""

    version: Literal[1]
    """Version of this file's format."""
    agent: AgentSection = Field(default_factory=AgentSection)
    """The agent under test. May be left out where a suite of another tool runs the agent itself, or has recorded it."""
    suite: SuiteSection = Field(default_factory=SuiteSection)
    """The tests that are being tested."""
    mutation: MutationSettings = Field(default_factory=MutationSettings)
    """Which mutants are made."""
    statistics: StatisticsSettings = Field(default_factory=StatisticsSettings)
    """How much evidence a decision needs."""
    test: VerdictSettings = Field(default_factory=VerdictSettings)
    """What `agentmut test` requires of the unchanged agent."""
    compare: ComparisonSettings = Field(default_factory=ComparisonSettings)
    """How `agentmut baseline compare` compares the agent with a stored baseline."""
    budget: BudgetSettings = Field(default_factory=BudgetSettings)
    """Limits of a run."""
    execution: ExecutionSettings = Field(default_factory=ExecutionSettings)
    """How trials are run."""
    relations: RelationSettings = Field(default_factory=RelationSettings)
    """Which metamorphic relations `agentmut relations` checks, and with how much evidence."""
    coverage: CoverageSettings = Field(default_factory=CoverageSettings)
    """What `agentmut coverage` measures against."""
    suggest: SuggestSettings = Field(default_factory=SuggestSettings)
    """How `agentmut suggest` looks for scenarios."""
    gate: GateSettings = Field(default_factory=GateSettings)
    """What `agentmut gate` requires before it says deploy."""
    secrets: SecretSettings = Field(default_factory=SecretSettings)
    """What is secret in this project, beside what agentmut knows."""
    store: StoreSettings = Field(default_factory=StoreSettings)
    """Where runs are kept, and what of them: a URL, or a mapping."""


class ScenarioEntry(Section):
    """One scenario as written: what the user says, and what must hold of the run."""

    name: str = Field(min_length=1)
    """Unique in the suite."""
    input: JsonValue = None
    """What the user says, in a conversation of one turn."""
    turns: Annotated[tuple[JsonValue, ...], Field(min_length=1)] | None = None
    """What the user says in each turn, instead of `input`."""
    category: str | None = Field(default=None, min_length=1)
    """The group that it belongs to, such as `refunds`: reports give the pass rate of each group."""
    context: tuple[str, ...] = ()
    """Paths of text files, relative to the project file, added to the agent's documents."""
    threshold: Rate | None = None
    """The pass rate required of this scenario; the suite's when left out."""
    evaluators: tuple[dict[str, JsonValue], ...] = Field(min_length=1)
    """Mappings of one evaluator to its argument; all must hold."""
    tools: dict[str, ToolDouble] = Field(default_factory=dict)
    """Stand-ins for tools, so that broken agents do no harm."""
    setup: Reference | None = None
    """`module:function`, called with the scenario before each trial."""
    teardown: Reference | None = None
    """`module:function`, called with the scenario after each trial."""
    compare: tuple[Named, ...] = ()
    """The facts by which relations compare runs of this scenario, such as `numbers` or `{options: [gold, silver]}`."""


class ScenarioFile(RootModel[tuple[ScenarioEntry, ...]]):
    """A scenario file: a list of scenarios."""

    model_config = ConfigDict(frozen=True)


def schema_text(kind: str = "project") -> str:
    """Return the JSON Schema (draft 2020-12) that is shipped for a kind of file: `project` or `scenarios`."""
    models: dict[str, type[BaseModel]] = {"project": ProjectFile, "scenarios": ScenarioFile}
    schema = models[kind].model_json_schema()
    full = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(full, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text(*sys.argv[1:]))
