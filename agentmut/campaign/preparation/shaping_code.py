"""The project's source files that shape its trials: the agent's files, not those that only judge runs."""

from pathlib import Path

from pydantic import JsonValue

from agentmut._base import digest_of
from agentmut.campaign.preparation.identity import code_digest, unused_elsewhere
from agentmut.nouns import EvaluatorSpec
from agentmut.project import Project, named


def shaping_code(project: Project) -> str:
    """Return the hash of the source files that shape trials; modules that only judge runs are left out.

    They are named by evaluators, by what runs are compared by, or by relations (what those change is part of a
    trial's key); and neither by what makes a run nor by another source file.
    """
    judging = {name: path for name, path in _judging(project).items() if name not in _running(project)}
    return code_digest(project.root, unused_elsewhere(project.root, judging), project.agent)


def judging_code(project: Project) -> dict[str, str]:
    """Return hashes of the user's modules that evaluators, comparisons and relations name, by the module's name."""
    return {name: digest_of(path.read_text("utf-8", "replace")) for name, path in _judging(project).items()}


def _judging(project: Project) -> dict[str, Path]:
    specs = [spec for s in project.scenarios for spec in (*s.evaluators, *s.compare)]
    specs += [named(written) for written in project.relations.compare or ()]
    judges = [*map(_function_of, specs), *project.relations.own]
    modules = sorted({name.partition(":")[0] for name in judges if isinstance(name, str)})
    files = {name: project.root / f"{name.replace('.', '/')}.py" for name in modules}
    return {name: path for name, path in files.items() if path.is_file()}


def _function_of(spec: EvaluatorSpec) -> JsonValue:
    """Return the `module:function` that an evaluator of the user's own names."""
    if spec.name not in ("python", "langsmith"):
        return None
    return spec.argument.get("function") if isinstance(spec.argument, dict) else spec.argument


def _running(project: Project) -> set[str]:
    """Return the modules that take part in a run: the agent's, and those of doubles, preparation and clean-up."""
    spec = project.agent
    references = [spec.factory, spec.run, spec.functions, project.sources.tools]
    references += [  # python path/to/agent.py, or python -m path.to.agent
        word.removeprefix("./").removesuffix(".py").replace("/", ".")
        for word in " ".join(spec.command).split()
    ]
    for scenario in project.scenarios:
        references += [
            scenario.setup,
            scenario.teardown,
            *(double.python for double in scenario.tools.values()),
        ]
    return {reference.partition(":")[0] for reference in references if reference}
