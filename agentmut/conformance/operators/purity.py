"""Whether an operator is a pure function: of the config alone, and with no effect on anything."""

import random
from collections.abc import Iterator

from agentmut._base import PluginError
from agentmut.mutation import candidates
from agentmut.nouns import AgentConfig, Candidate
from agentmut.seams import Operator, OperatorOptions


def made(operator: Operator, config: AgentConfig, options: OperatorOptions) -> list[Candidate] | str:
    """Return the candidates, or the fault that the operator shows in their place."""
    try:
        return list(candidates(operator, config, options))
    except PluginError as error:
        return str(error)
    except Exception as error:  # an error for users, which `candidates` lets pass
        return f"it raised {type(error).__name__}: {error}"


def purity_faults(
    operator: Operator, config: AgentConfig, options: OperatorOptions
) -> Iterator[str | list[Candidate]]:
    """What is impure, one phrase a fault; and the candidates, where there are any."""
    before = config.model_copy(deep=True)
    states = random.getstate(), numpy_state()
    found = made(operator, config, options)
    if isinstance(found, str):
        yield found
        return
    if random.getstate() != states[0]:
        yield "it draws from the global random generator; make choices by what the config says"
    if numpy_state() != states[1]:
        yield "it draws from numpy's global random generator; make choices by what the config says"
    if config != before:
        yield "it changed the config that it was given"
    if found != made(operator, before, options):
        yield "the same config gave other mutants the second time"
    yield found


def numpy_state() -> tuple[object, ...]:
    """Return the state of numpy's global generator."""
    import numpy as np

    state = np.random.get_state(legacy=False)
    inner = state["state"]
    return inner["key"].tobytes(), inner["pos"], state["has_gauss"]
