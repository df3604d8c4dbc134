"""Semantic Kernel functions in the form of a config, with their calls passed on by agentmut."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from semantic_kernel.connectors.ai.function_call_choice_configuration import FunctionCallChoiceConfiguration
from semantic_kernel.connectors.ai.function_calling_utils import (
    kernel_function_metadata_to_function_call_format,
)
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.functions import (
    FunctionResult,
    KernelFunction,
    KernelFunctionMetadata,
    KernelParameterMetadata,
    KernelPlugin,
)

from agentmut.adapters._shared.change import Offer
from agentmut.mutation import decoy_answer
from agentmut.nouns import Edit, ToolSpec
from agentmut.recording import call_place
from agentmut.trial import pass_call

_NAME = re.compile(r"(\w+-)?[\w-]+", re.ASCII)
_TOLD = frozenset({"type", "properties", "required"})
"""The keys of a tool's parameters that Semantic Kernel sends."""
_LOOSE = "agentmut"
"""The plugin that holds what is called by a name without a plugin."""


def spec_of(function: KernelFunction) -> ToolSpec:
    """Return a function as the model gets it."""
    function_format = kernel_function_metadata_to_function_call_format(function.metadata)["function"]
    return ToolSpec(
        name=function_format["name"],
        description=function_format["description"],
        parameters=function_format["parameters"],
    )


def untellable(edit: Edit) -> str:
    """Return why Semantic Kernel cannot show a changed tool to a model; empty if it can."""
    key, after = edit.path[-1], edit.after
    if edit.index is None:
        return ""
    if len(edit.path) == 2 and isinstance(after, dict):
        key, after = "name", after.get("name")
    if key == "name" and len(edit.path) < 4 and isinstance(after, str) and not _NAME.fullmatch(after):
        return f"Semantic Kernel has no functions that are called {after!r}"
    untold = _changed_keys(edit) - _TOLD
    return f"Semantic Kernel does not send {min(untold)!r} of a tool's parameters" if untold else ""


def _changed_keys(edit: Edit) -> set[str]:
    """Return the top-level keys of a tool's parameters that an edit changes."""
    if edit.path[2:3] != ("parameters",):
        return set()
    if len(edit.path) > 3:
        return {edit.path[3]}
    before = edit.before if isinstance(edit.before, dict) else {}
    after = edit.after if isinstance(edit.after, dict) else {}
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


class ChangedFunction(KernelFunction):
    """A function as the model gets it; its calls are passed on."""

    own: KernelFunction | None = None
    """The agent's function, None where there is nothing behind it."""
    own_name: str

    async def _invoke_internal(self, context: Any) -> None:
        if call_place().call_id is None:  # a template calls it, not the model
            context.result = await self._result(context)
            return
        given = {
            one.name: context.arguments[one.name] for one in self.parameters if one.name in context.arguments
        }
        found = await pass_call(self.own_name, given, lambda: self._value(context))
        context.result = FunctionResult(function=self.metadata, value=found)

    async def _value(self, context: Any) -> Any:
        if self.own is None:
            return decoy_answer()
        result = await self._result(context)
        return result.value if result is not None else None

    async def _result(self, context: Any) -> FunctionResult | None:
        """Return the result of the agent's own function, which reads its arguments by its own parameters."""
        if self.own is None:
            return None
        inner = type(context)(function=self.own, kernel=context.kernel, arguments=context.arguments)
        await self.own._invoke_internal(inner)  # by `invoke`, the user's filters would run twice
        result: FunctionResult | None = inner.result
        return result

    async def _invoke_internal_stream(self, context: Any) -> None:
        await self._invoke_internal(context)


def offered(offer: Offer, own: KernelFunction | None) -> ChangedFunction:
    """Return the function as offered."""
    metadata = own.metadata if own and not offer.changed else _metadata(offer.spec, own)
    # each new one is kept for ever
    meters = (
        "invocation_duration_histogram",
        "streaming_duration_histogram",
    )
    kept = {name: getattr(own, name) for name in meters} if own else {}
    return ChangedFunction(metadata=metadata, own=own, own_name=offer.spec.own_name, **kept)


def _metadata(spec: ToolSpec, own: KernelFunction | None) -> KernelFunctionMetadata:
    plugin, name = parts_of_name(spec.name)
    return KernelFunctionMetadata(
        name=name,
        plugin_name=plugin or None,
        description=spec.description,
        parameters=list(_parameters(spec.parameters)),
        is_prompt=bool(own and own.is_prompt),
        return_parameter=own.return_parameter if own else None,
    )


def _parameters(schema: Mapping[str, Any]) -> Iterator[KernelParameterMetadata]:
    required = schema.get("required") or ()
    for name, inner in (schema.get("properties") or {}).items():
        yield KernelParameterMetadata(name=name, schema_data=inner, is_required=name in required)


def parts_of_name(name: str) -> tuple[str, str]:
    """Return the plugin and the function in a model's name for it, which Semantic Kernel splits at the first hyphen.

    >>> parts_of_name("Orders-look_up"), parts_of_name("look_up")
    (('Orders', 'look_up'), ('', 'look_up'))
    """
    plugin, hyphen, function = name.partition("-")
    return (plugin, function) if hyphen else ("", name)


def plugins_with(
    own: Mapping[str, KernelPlugin], functions: Iterable[KernelFunction]
) -> dict[str, KernelPlugin]:
    """Return copies of plugins with `functions` in the place of functions with the same names."""
    held = {name: dict(plugin.functions) for name, plugin in own.items()}
    for function in functions:
        held.setdefault(function.plugin_name or _LOOSE, {})[function.name] = function
    return {
        name: own[name].model_copy(update={"functions": inside}) if name in own else _plugin(name, inside)
        for name, inside in held.items()
    }


def _plugin(name: str, functions: dict[str, KernelFunction]) -> KernelPlugin:
    return KernelPlugin(name=name).model_copy(update={"functions": functions})


class OfferedFunctions(FunctionChoiceBehavior):
    """Offers certain functions in a certain order, and the functions added while the agent runs."""

    own: FunctionChoiceBehavior
    names: tuple[str, ...]
    known: frozenset[str]
    """The functions that the kernel had at first."""

    def get_config(self, kernel: Any) -> FunctionCallChoiceConfiguration:
        """Return what is offered, and what was added since, as by an orchestration."""
        found = {one.fully_qualified_name: one for one in kernel.get_full_list_of_function_metadata()}
        offered = [found[name] for name in self.names if name in found]
        available = self.own.get_config(kernel).available_functions or ()
        later = [one for one in available if one.fully_qualified_name not in self.known]
        return FunctionCallChoiceConfiguration(available_functions=[*offered, *later])


def listed(
    own: FunctionChoiceBehavior, names: Sequence[str], plugins: Mapping[str, KernelPlugin], **changes: Any
) -> OfferedFunctions:
    """Return the behavior that offers `names` in order; calls of all other functions are refused."""
    everything = frozenset(one.fully_qualified_name for plugin in plugins.values() for one in plugin)
    hidden = [name for name in everything if name not in names]
    kept = own.model_dump(include={"enable_kernel_functions", "maximum_auto_invoke_attempts", "type_"})
    return OfferedFunctions(
        **kept | changes,
        own=own,
        names=tuple(names),
        known=everything,
        filters={"excluded_functions": hidden},
    )
