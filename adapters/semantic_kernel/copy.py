"""Copies of Semantic Kernel's agents, each with its own kernel and a trial's changes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.exceptions import TemplateSyntaxError
from semantic_kernel.filters import FilterTypes
from semantic_kernel.functions import KernelArguments, KernelFunction
from semantic_kernel.prompt_template import KernelPromptTemplate, PromptTemplateConfig
from semantic_kernel.prompt_template.prompt_template_base import PromptTemplateBase

from agentmut._base import AdapterError, described, one_line
from agentmut.adapters._shared.change import Change
from agentmut.adapters.semantic_kernel.model import Model, choice_of
from agentmut.adapters.semantic_kernel.run import answer_of, placing
from agentmut.adapters.semantic_kernel.tools import listed, plugins_with
from agentmut.nouns import Flow
from agentmut.recording import Trial, call_place


def asking_copy(
    own: KernelFunction, target: str, source: str, copies: Mapping[str, ChatCompletionAgent], trial: Trial
) -> KernelFunction:
    """Return the function that asks the copy of `target`, as a step of the trace."""
    recorder = trial.recorder

    async def ask(messages: str | list[str], instructions_override: str | None = None) -> str:
        place, started = call_place(), recorder.now()
        recorder.edges[source, target] = None
        name, arguments = own.fully_qualified_name, {"messages": messages}
        try:
            answer = await answer_of(copies[target], messages, ChatHistoryAgentThread(), trial, place.turn)
        except Exception as error:
            recorder.note_call(name, arguments, started, error=described(error), **place._asdict())
            raise
        recorder.note_call(name, arguments, started, output=answer, **place._asdict())
        return answer

    return own.model_copy(update={"method": ask})


def copy_of(
    agent: ChatCompletionAgent, model: Model, functions: Sequence[KernelFunction], change: Change | None
) -> ChatCompletionAgent:
    """Copy the agent with these functions on a new kernel."""
    kernel = _kernel_with(agent.kernel, functions)
    changes = change.model if change else {}
    settings = model.changed(changes)
    if model.behavior is not None:
        limit = Flow.from_orchestration(change.wanted.orchestration).max_steps if change else None
        settings.function_choice_behavior = listed(
            model.behavior,
            [one.fully_qualified_name for one in functions],
            kernel.plugins,
            **choice_of(changes),
            **({"maximum_auto_invoke_attempts": limit} if limit else {}),
        )
    updates = {
        "kernel": kernel,
        "arguments": model.arguments(agent.arguments, settings),
        "function_choice_behavior": settings.function_choice_behavior,
    }
    return agent.model_copy(update=updates | (_instructions(agent, change) if change else {}))


def _kernel_with(own: Kernel, functions: Iterable[KernelFunction]) -> Kernel:
    """Return a kernel with the services, filters and plugins of `own`, which stays unchanged."""
    kernel = Kernel(
        plugins=plugins_with(own.plugins, functions),
        services=dict(own.services),
        ai_service_selector=own.ai_service_selector,
        function_invocation_filters=list(own.function_invocation_filters),
        prompt_rendering_filters=list(own.prompt_rendering_filters),
        auto_function_invocation_filters=list(own.auto_function_invocation_filters),
    )
    known = frozenset(one.fully_qualified_name for plugin in kernel.plugins.values() for one in plugin)
    kernel.add_filter(FilterTypes.AUTO_FUNCTION_INVOCATION, placing(known))
    return kernel


def _instructions(agent: ChatCompletionAgent, change: Change) -> dict[str, Any]:
    """Return changed instructions, and the template made of them."""
    if change.prompt is None:
        return {}
    text = change.wanted.prompt
    documents = change.prompt.removeprefix(text)
    own = agent.prompt_template
    config = own.prompt_template_config if own else PromptTemplateConfig()
    made = config.model_copy(update={"template": text})
    template = _template(type(own) if own else KernelPromptTemplate, made)
    followed = TemplateWithDocuments(prompt_template_config=made, template=template, documents=documents)
    return {"instructions": text, "prompt_template": followed if documents else template}


def _template(kind: type[PromptTemplateBase], made: PromptTemplateConfig) -> PromptTemplateBase:
    """Return a template of that kind. Raise `AdapterError` for a text that a change has made invalid."""
    try:
        return kind(prompt_template_config=made)
    except (TemplateSyntaxError, ValueError) as error:
        raise AdapterError(
            f"the changed instructions cannot be read as a template: {one_line(error)}"
        ) from error


class TemplateWithDocuments(PromptTemplateBase):
    """A template, and documents that are no templates."""

    template: PromptTemplateBase
    documents: str

    async def render(self, kernel: Any, arguments: KernelArguments | None = None) -> str:
        """Return the rendered template, and the documents unchanged."""
        return await self.template.render(kernel, arguments) + self.documents
