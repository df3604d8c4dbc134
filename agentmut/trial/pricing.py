"""The cost of a run, from the tokens that its model calls report."""

from collections.abc import Mapping
from types import MappingProxyType

from agentmut.nouns import Action, AgentTrace, Step, Usage
from agentmut.project import Price, Project

_SERVICES = MappingProxyType({"bedrock": "aws", "bedrock_agents": "aws"})
"""By adapter: the provider in the list of prices, whose models it does not find by their names alone."""


def provider_of(project: Project) -> str | None:
    """Return whose prices the project's agent pays; None where that is not known."""
    return project.config.model.provider or _SERVICES.get(project.agent.adapter)


class Pricer:
    """Prices by model name: the project's own first, then the public list that genai-prices carries."""

    def __init__(self, prices: Mapping[str, Price], provider: str | None = None) -> None:
        self._prices = dict(prices)
        self._provider = provider
        self._known: dict[tuple[str, Usage], float | None] = {}

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of one call in US dollars; None if the model has no known price or reports no tokens."""
        if not usage.total:  # a streamed reply need not report any
            return None
        if price := self._prices.get(model):
            return _at(price, usage)
        key = (model, usage)
        if key not in self._known:
            self._known[key] = self._listed(model, usage)
        return self._known[key]

    def priced(self, trace: AgentTrace) -> AgentTrace:
        """Return the trace with the cost of each model call filled in."""
        steps = self.steps(trace.steps)
        if steps is trace.steps and not trace.recalled:
            return trace
        recalled = tuple(
            part.model_copy(update={"usd": self.cost(part.model, part.usage)}) for part in trace.recalled
        )
        return trace.model_copy(update={"steps": steps, "recalled": recalled})

    def steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Return the steps with the cost of each model call; the same object where no model was called."""
        if not (steps and any(step.action is Action.REASON for step in steps)):
            return steps
        return tuple([self._step(step) for step in steps])

    def _step(self, step: Step) -> Step:
        if step.action is not Action.REASON or step.usd is not None:
            return step
        if step.error:  # services do not charge for calls that fail
            return step.model_copy(update={"usd": 0.0})
        usd = self.cost(step.model or "", step.usage)
        update = {"usd": usd}
        if usd is not None and step.usage.uncached != step.usage:
            update["saved_usd"] = (self.cost(step.model or "", step.usage.uncached) or usd) - usd
        return step.model_copy(update=update)

    def _listed(self, model: str, usage: Usage) -> float | None:
        """Return the price of the model's own provider, or of another provider that offers the model."""
        from genai_prices import Usage as ListedUsage
        from genai_prices import calc_price

        tokens = ListedUsage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_written_tokens,
        )
        for provider in dict.fromkeys((self._provider, None)):
            try:
                return float(calc_price(tokens, model_ref=model, provider_id=provider).total_price)
            except (LookupError, ValueError):
                continue
        return None


def _at(price: Price, usage: Usage) -> float:
    """Return the cost at a project's own price; cached input costs as much as other input unless the price differs."""
    read = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    plain = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
    of_input = plain * price.input + usage.cached_tokens * read + usage.cache_written_tokens * written
    return (of_input + usage.output_tokens * price.output) / 1e6
