"""Clients of Azure OpenAI, whose address says which deployment is asked: the name of the model decides nothing."""

from typing import Any

DEPLOYMENT = "the deployment in an Azure client's address chooses the model, not its name"
OTHERWISE = "a function that takes the config can build the agent with another deployment"


def cannot_rename(client: Any) -> str:
    """Why a client of the package openai asks the same model under any name; empty where it does not.

    >>> cannot_rename(None)
    ''
    """
    path = getattr(getattr(client, "base_url", None), "path", "")
    return f"{DEPLOYMENT}; {OTHERWISE}" if "/deployments/" in str(path) else ""
