"""Find the secrets of a project, to redact them."""

import os
from collections.abc import Iterator

from agentmut.project.project import Project
from agentmut.recording import CREDENTIAL, Redactor, header_secrets, secret_values, url_secrets


def redactor(project: Project) -> Redactor:
    """Return the redactor that removes the secrets of the project and of this process from trials.

    Of the agent's own variables these are the ones that are filled in with `${NAME}` or named like credentials: what
    the project file says in plain words may be an agent's everyday words too, and so is what stands in its prompt.
    """
    own = tuple(_own_texts(project))
    filled = {value for value in _filled(project) if not any(value in text for text in own)}
    secrets = secret_values({*filled, *_named(project)}, os.environ)
    agent = project.agent
    return Redactor(secrets | header_secrets(agent.headers) | url_secrets(agent.url or ""), own)


def _filled(project: Project) -> Iterator[str]:
    for name in project.filled:
        if name in project.env:
            yield project.env[name].get_secret_value()


def _named(project: Project) -> Iterator[str]:
    for name, secret in project.env.items():
        if CREDENTIAL.search(name):
            yield secret.get_secret_value()


def _own_texts(project: Project) -> Iterator[str]:
    """Yield the texts that the project sends to a model."""
    yield project.config.prompt
    yield project.config.model.name
    yield from (tool.description for tool in project.config.tools)
    yield from (document.text for document in project.config.context)
    yield from (document.text for scenario in project.scenarios for document in scenario.context)
