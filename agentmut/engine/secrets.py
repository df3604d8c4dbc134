"""What is secret in a project."""

import os
from collections.abc import Iterator

from agentmut.project import Project
from agentmut.redaction import CREDENTIAL, Redactor, header_secrets, secret_values, url_secrets


def redactor(project: Project) -> Redactor:
    """What takes the secrets of the project and of this process out of trials.

    Of the agent's own variables these are the ones that are filled in with `${NAME}` or named like credentials: what
    the project file says in plain words may be an agent's everyday words too.
    """
    secrets = secret_values(_declared(project), os.environ)
    agent = project.agent
    return Redactor(
        secrets | header_secrets(agent.headers) | url_secrets(agent.url or ""), _own_texts(project)
    )


def _declared(project: Project) -> Iterator[str]:
    for name, secret in project.env.items():
        if name in project.filled or CREDENTIAL.search(name):
            yield secret.get_secret_value()


def _own_texts(project: Project) -> Iterator[str]:
    """What the project says to a model."""
    yield project.config.prompt
    yield from (tool.description for tool in project.config.tools)
    yield from (document.text for document in project.config.context)
    yield from (document.text for scenario in project.scenarios for document in scenario.context)
