"""What has to be known of imported runs before they are counted: a first pass over them."""

from collections import Counter
from dataclasses import dataclass, field

from agentmut.nouns import AgentConfig, ImportedTrial, ModelConfig, Origins, ToolSpec
from agentmut.store import ImportTotals
from agentmut.usecases.analysis_rows import Evidence


@dataclass
class Survey:
    """The sources of runs, and what their records tell of the agent."""

    runs: int = 0
    foreign: int = 0
    formats: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    first: float | None = None
    last: float | None = None
    called: dict[str, None] = field(default_factory=dict)
    """The tools that runs called, in the order of the first call."""
    _prompts: Counter[str] = field(default_factory=Counter)
    _models: Counter[str] = field(default_factory=Counter)
    _tools: dict[str, ToolSpec] = field(default_factory=dict)

    def add(self, found: ImportedTrial) -> None:
        """Take in one run."""
        self.runs += 1
        self.foreign += not found.trial.exported_as
        self.formats.add(found.format)
        self.files.add(found.files)
        self.versions.add(found.version)
        if (started := found.trial.started) is not None:
            self.first = started if self.first is None else min(self.first, started)
            self.last = started if self.last is None else max(self.last, started)
        self.called |= dict.fromkeys(found.trial.trace.tools_called)
        self._learn(found.trial.config)

    def _learn(self, config: AgentConfig) -> None:
        if config.prompt:
            self._prompts[config.prompt] += 1
        if config.model.name:
            self._models[config.model.model_dump_json()] += 1
        self._tools |= {tool.name: tool for tool in config.tools}

    @property
    def config(self) -> AgentConfig:
        """Return the agent of the records: each part as most runs have it, and the tools of all runs."""
        found = AgentConfig(tools=tuple(self._tools.values()))
        if self._prompts:
            found = found.model_copy(update={"prompt": self._prompts.most_common(1)[0][0]})
        if self._models:
            model = ModelConfig.model_validate_json(self._models.most_common(1)[0][0])
            found = found.model_copy(update={"model": model})
        return found

    def with_called_tools(self, config: AgentConfig) -> AgentConfig:
        """Return the config with the tools that runs called, if it has none."""
        if config.tools:
            return config
        tools = tuple(ToolSpec(name=name, description="") for name in self.called)
        return config.model_copy(update={"tools": tools})

    def evidence(self, totals: ImportTotals) -> Evidence:
        """Return the sources of the runs; `totals` are those of the whole store."""
        return Evidence(
            imported=self.runs,
            origins=Origins(runs=self.runs, foreign=self.foreign),
            formats=tuple(sorted(self.formats)),
            files=tuple(sorted(self.files)),
            versions=tuple(sorted(self.versions)),
            first=self.first,
            last=self.last,
            stored=totals.trials,
            stored_bytes=totals.bytes,
        )
