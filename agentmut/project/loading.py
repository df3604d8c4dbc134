"""Read a project file and every file that it names."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agentmut._base import (
    KeyPath,
    ProjectError,
    YamlSource,
    finish_edits,
    joined,
    make_importable,
    read_yaml,
    validated,
)
from agentmut.mutation import OperatorCatalogue
from agentmut.nouns import Sources
from agentmut.project.agent_section import AgentSection
from agentmut.project.config import LocatedConfig, collecting, read_parts
from agentmut.project.paper_spec import is_paper_spec, project_of_paper_spec
from agentmut.project.places import project_path
from agentmut.project.privacy import check_store_scheme
from agentmut.project.project import Project
from agentmut.project.scenarios import LocatedScenario, compared, find_scenario_files, read_scenarios
from agentmut.project.schema import ProjectFile
from agentmut.project.section_problems import (
    agent_problems,
    mutation_problems,
    suite_problems,
    workspace_problems,
)
from agentmut.seams import (
    AgentSpec,
    Group,
    SuiteSpec,
    names,
)

VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def load_project(
    path: Path,
    agent: str | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    with_store: bool = True,
    awaited_request: Path | None = None,
) -> Project:
    """Read a project file, or the one in a directory, and every file it names.

    A test specification in the format of the AgentAssay paper is read too; `agent` is the
    `module:object` that its agent's name stands for. `environment` is where `${NAME}` is looked up, the
    process's own by default. `with_store=False` leaves the store's URL out, for a process that has no right to it.
    `awaited_request` is a recorded request that the caller is about to write, so the project may name it already.
    The agent's own code is not imported; modules named by `tools:` and by `python:` evaluators are. Raises
    `ProjectError`, which lists every problem found.
    """
    path = project_path(path)
    finish_edits(path.parent)
    source = read_yaml(path, path.name)
    make_importable(path.parent)
    if is_paper_spec(source):
        return project_of_paper_spec(source, path, agent)
    if agent is not None:
        raise ProjectError(
            f"{source.label} names its own agent (agent.adapter); an agent is given on the command line only "
            "for a test specification in the format of the AgentAssay paper."
        )
    file = validated(source, ProjectFile)
    if not with_store:
        file = file.model_copy(update={"store": file.store.model_copy(update={"url": None})})
    variables = os.environ if environment is None else environment
    return _ProjectReader(source, file, path, variables, awaited_request).project()


class _ProjectReader:
    """Turns a valid file into a project, and collects the faults of what the file names."""

    def __init__(
        self,
        source: YamlSource,
        file: ProjectFile,
        path: Path,
        env: Mapping[str, str],
        awaited_request: Path | None,
    ) -> None:
        self.source = source
        self.file = file
        self.path = path
        self.root = path.parent
        self.environment = env
        self.awaited_request = awaited_request
        self.problems: list[str] = []
        self._checked = collecting(source, self.problems)

    def project(self) -> Project:
        """Return the project. Raise `ProjectError` with every fault that was found."""
        imported = self._imported()
        self._extend(agent_problems(self.file.agent, needs_adapter=imported is None))
        operators = self._operators()
        self._extend(mutation_problems(self.file.mutation, operators))
        self._check_relations()
        config, sources = self._parts(operators)
        if config.workspace and imported is None:
            self._extend(workspace_problems(self.file.agent))
        env, headers = (dict(self._filled(key, getattr(self.file.agent, key))) for key in ("env", "headers"))
        store_url = self._store_url()
        located = () if imported else self._scenarios(config.tool_names)
        self._compare()
        self._extend(self._recording_problems())
        if self.problems:
            raise ProjectError(joined(self.problems))
        return self._assembled(
            headers=headers,
            env=env,
            filled=frozenset(name for name in env if VARIABLE.search(self.file.agent.env[name])),
            config=config,
            sources=_with_scenarios(sources, located),
            scenarios=tuple(s.scenario for s in located),
            imported=imported,
            store_url=store_url,
        )

    def _parts(self, operators: Sequence[str]) -> LocatedConfig:
        """Return the agent's config and where its parts stand; faults are noted."""
        return read_parts(
            self.source,
            ("agent", "config"),
            self.file.agent.config,
            self.root,
            self._checked,
            operators,
            self.awaited_request,
        )

    def _store_url(self) -> SecretStr | None:
        """Return the URL of the store, if the file has one; faults are noted."""
        written = self.file.store.url or ""
        store = dict(self._filled_in(("store", "url"), "url", written, "leave the URL out"))
        if not self.file.store.url:
            return None
        if "url" in store:
            self._checked(("store", "url"), lambda: check_store_scheme(store["url"].get_secret_value()))
        return store.get("url")

    def _imported(self) -> SuiteSpec | None:
        """Return the other tool's suite that the file names; faults are noted."""
        given, known = self.file.suite.__pydantic_extra__, names(Group.IMPORTERS)
        self._extend(suite_problems(self.file.suite, known))
        kinds = [kind for kind in given if kind in known]
        if not kinds:
            return None
        root, threshold = str(self.root), self.file.suite.threshold
        return SuiteSpec(kind=kinds[0], argument=given[kinds[0]], root=root, threshold=threshold)

    def _assembled(self, headers: dict[str, SecretStr], imported: SuiteSpec | None, **parts: Any) -> Project:
        file, agent = self.file, self.file.agent
        return Project(
            root=self.root,
            path=self.path,
            agent=agent_spec(agent, headers, self.root, otherwise=imported.kind if imported else ""),
            agent_version=agent.version,
            safe_tools=(agent.safe_tools,) if isinstance(agent.safe_tools, str) else agent.safe_tools,
            patterns=_several(file.suite.scenarios),
            threshold=file.suite.threshold,
            ci_runs=file.suite.ci_runs,
            ci_after_kill=file.suite.ci_after_kill,
            mutation=file.mutation,
            statistics=file.statistics,
            test=file.test,
            compare=file.compare,
            budget=file.budget,
            execution=file.execution,
            relations=file.relations,
            coverage=file.coverage,
            suggest=file.suggest,
            gate=file.gate,
            secrets=file.secrets,
            store=file.store.model_copy(update={"url": None}),  # it may hold a password: see `store_url`
            imported=imported,
            **parts,
        )

    def _scenarios(self, tools: Sequence[str]) -> tuple[LocatedScenario, ...]:
        patterns = _several(self.file.suite.scenarios)
        files = self._checked(("suite", "scenarios"), lambda: find_scenario_files(patterns, self.root))
        try:
            return read_scenarios(files or (), self.root, tools)
        except ProjectError as error:  # its problems are located in the scenario files already
            self.problems.append(str(error))
            return ()

    def _filled(self, key: str, values: Mapping[str, str]) -> Iterator[tuple[str, SecretStr]]:
        """Return a mapping of the agent's section with values of the environment in place of `${NAME}`."""
        for name, written in values.items():
            yield from self._filled_in(("agent", key, name), name, written, f"leave {name} out")

    def _filled_in(
        self, where: KeyPath, name: str, written: str, otherwise: str
    ) -> Iterator[tuple[str, SecretStr]]:
        """Yield the name with its value, if the environment has what it needs; else note what is missing."""
        missing = [v for v in VARIABLE.findall(written) if v not in self.environment]
        for variable in missing:
            said = f"the environment variable {variable} is not set; set it, or {otherwise}"
            self.problems.append(self.source.problem(where, said))
        if not missing:
            yield name, SecretStr(VARIABLE.sub(lambda match: self.environment[match[1]], written))

    def _compare(self) -> None:
        for index, written in enumerate(self.file.relations.compare or ()):
            self._checked(("relations", "compare", index), partial(compared, written))

    def _operators(self) -> tuple[str, ...]:
        own = self.file.mutation.own_operators
        found = self._checked(
            ("mutation", "own_operators"), lambda: OperatorCatalogue.from_references(own, self.root).names
        )
        return found or names(Group.OPERATORS)

    def _check_relations(self) -> None:
        """Check what the section `relations` names. Without the section nothing is imported."""
        wanted = self.file.relations
        if not wanted.own and wanted.use is None:
            return
        from agentmut.seams import RelationCatalogue

        catalogue = self._checked(
            ("relations", "own"), lambda: RelationCatalogue.from_references(wanted.own, self.root)
        )
        if catalogue is not None and wanted.use is not None:
            for index, entry in enumerate(wanted.use):
                self._checked(("relations", "use", index), partial(catalogue.choose, [entry]))

    def _recording_problems(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield the settings that record runs although no text may be kept."""
        execution, store = self.file.execution, self.file.store
        said = f"a recording is the text of a run, and store.texts: {store.texts} keeps none"
        for name, asked in (("record", execution.record), ("fork", execution.fork)):
            if asked and not store.keeps_texts:
                yield ("execution", name), f"{said}. Leave one of them out"

    def _extend(self, found: Iterator[tuple[KeyPath, str]]) -> None:
        self.problems += [self.source.problem(path, message) for path, message in found]


def _with_scenarios(sources: Sources, located: Sequence[LocatedScenario]) -> Sources:
    """Return the sources with the places of scenarios and of their evaluators."""
    return sources.model_copy(
        update={
            "scenarios": {s.scenario.name: s.where for s in located},
            "evaluators": {s.scenario.name: s.evaluators for s in located},
        }
    )


def _several(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def agent_spec(
    agent: AgentSection, headers: dict[str, SecretStr], root: Path, otherwise: str = ""
) -> AgentSpec:
    """Return the spec for the adapter; `headers` are the section's, with values of the environment filled in.

    `otherwise` is the name of the adapter where the section names none.
    """
    command = (agent.command,) if isinstance(agent.command, str) else tuple(agent.command or ())
    own = {"adapter", "command", "factory", "headers", "root"}
    same = agent.model_dump(include=set(AgentSpec.model_fields) - own)
    adapter = agent.adapter or otherwise
    return AgentSpec(
        **same, adapter=adapter, command=command, factory=agent.source, headers=headers, root=str(root)
    )
