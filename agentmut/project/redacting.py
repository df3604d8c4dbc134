"""What is taken out of the trials of a project."""

import os
from collections.abc import Iterator

from agentmut.project.project import Project
from agentmut.recording import (
    CREDENTIAL,
    DeclaredSecrets,
    Redactor,
    header_secrets,
    secret_values,
    short_secrets,
    url_secrets,
)


def redactor(project: Project) -> Redactor:
    """Return the redactor that removes the secrets of the project and of this process from trials.

    Of the agent's own variables these are the ones that are filled in with `${NAME}` or named like credentials: what
    the project file says in plain words may be an agent's everyday words too, and so is what stands in its prompt.
    """
    own = tuple(_own_texts(project))
    declared = DeclaredSecrets(project.secrets.names, project.secrets.patterns)
    filled = {value for value in _filled(project) if not any(value in text for text in own)}
    agent = project.agent
    store = {"store": project.store_url.get_secret_value()} if project.store_url else {}
    given = {
        name: secret.get_secret_value() for name, secret in (*project.env.items(), *agent.headers.items())
    } | store
    named = declared.values(os.environ) | declared.values(given)
    secrets = secret_values({*filled, *named, *_named(project)}, {**os.environ, **store})
    short = short_secrets(os.environ) | short_secrets(given)
    elsewhere = {word for word in short if not any(word in text for text in own)}
    known = secrets | header_secrets(agent.headers) | url_secrets(agent.url or "")
    return Redactor(known, own, elsewhere | named, declared)


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
    for scenario in project.scenarios:
        yield from (document.text for document in scenario.context)
        yield from (turn for turn in scenario.turns if isinstance(turn, str))
