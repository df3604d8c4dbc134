"""Why a change did not arrive: the probable cause, read from the requests, and its remedy."""

from collections.abc import Iterable, Sequence
from typing import Any

from agentmut._base import at_path, canonical_json, passage_at, shown
from agentmut.nouns import AgentConfig, Edit, Footprint, ModelConfig, Mutant, RequestShape, is_set
from agentmut.trial.on_wire import REQUESTS, Remedy
from agentmut.trial.witness.witness import Detector

QUOTED = 60
"""Characters of a text that are quoted."""
ANSWERS = 4
"""Names or values that are listed."""
WIRE = "or set `agent.route: wire`, which changes the requests themselves"


def absence(mutant: Mutant, base: AgentConfig, seen: Sequence[Footprint], on_wire: Remedy | None) -> str:
    """Return why a change of a prompt, tools, model or documents is in none of the trials with these footprints.

    `on_wire`: where it was to be made in the agent's requests, and not in its config, how the agent could be told.
    """
    together = Footprint(
        requests=tuple(dict.fromkeys(shape for print_ in seen for shape in print_.requests)),
        reads=tuple(sorted({read for print_ in seen for read in print_.reads})),
        strangers=tuple(sorted({name for print_ in seen for name in print_.strangers})),
        unread=tuple(sorted({said for print_ in seen for said in print_.unread})),
    )
    if together.strangers:
        return of_strangers(together.strangers)
    edit, as_before = Detector(mutant, base).looked_for(together)
    if edit is None or not together.requests:
        return _unseen(edit.part if edit else "", together, on_wire)
    if edit.part == "tools":
        return _tools(edit, base, together.requests, on_wire)
    if edit.part == "model":
        return _model(edit, base.model, together.requests, on_wire)
    return _text(edit, base, together.requests, as_before, on_wire)


def of_strangers(threads: Sequence[str]) -> str:
    """Return what could not be seen where such threads sent model requests during trials, and what helps."""
    return (
        f"model requests were sent in a thread that is older than the trial ({_listed(threads)}), and which trial they "
        "belong to cannot be told, so they passed unread. Set `execution.isolate: process`: a process runs one trial "
        "at a time, and all of its threads belong to that trial"
    )


KEPT_REPLIES = (
    "runs of the original sent model requests, and this one sent none. Probable cause: the agent keeps the replies of "
    "its model (a cache), so that a changed request is never sent. Let it run without its cache, such as by a variable "
    "under `agent.env`; a cache in memory does not outlive a trial with `adapter: command`"
)


def _unseen(part: str, seen: Footprint, on_wire: Remedy | None) -> str:
    if on_wire and seen.unread:
        return f"no model request was seen: {_listed(seen.unread)}"
    if on_wire:
        return f"no model request was seen, so none could be changed on the wire. {on_wire(REQUESTS)}"
    if seen.reads:
        return (
            f"no model request was seen, and of its config the agent read {_listed(seen.reads)}, but not {part}. "
            f"Let it read {part} of the config that it is given, each time it is called"
        )
    return (
        "no model request was seen, and the agent read nothing of its config. Let it use the config that it is given, "
        "run it as a program (`adapter: command`), or lead its requests through `agentmut proxy`"
    )


def _text(
    edit: Edit, base: AgentConfig, shapes: Sequence[RequestShape], as_before: bool, on_wire: Remedy | None
) -> str:
    what = "prompt" if edit.part == "prompt" else "documents"
    text = _quoted(_original_text(edit, base))
    if as_before and on_wire:
        return (
            f"requests still have the text from before ({text}): it stands there in a form that cannot be changed on "
            f"the wire, so {on_wire(what)}"
        )
    if as_before:
        return (
            f"requests still have the text from before ({text}). Probable cause: the agent copies the {what} when its "
            f"module is imported, or its framework ignores what is set later. Build the {what} inside the function "
            f"that is given the config, {WIRE}"
        )
    if _moves_around(edit, base, shapes):
        return (
            f"requests have the text {text}, but too little of what stands around it is the same in all of them to "
            "prove the change. Keep the request anew (`agentmut doctor --save-request FILE`, `agent.config.request`), "
            "so that what moves there becomes a placeholder"
        )
    sent = next((shape.instructions for shape in shapes if shape.instructions), "")
    begins = (
        f"; the system prompt of the first begins with {_quoted(sent)}"
        if sent
        else "; none has a system prompt"
    )
    why = (
        "On the wire a text is found word for word, but for white space and placeholders. " if on_wire else ""
    )
    written = "agent.config.prompt" if what == "prompt" else "agent.config.context"
    instead = on_wire(what) if on_wire else f"build the {what} from the config that the agent is given"
    return (
        f"no request has the text {text}{begins}. {why}Probable cause: the {what} changed since {written} was written "
        "or agent.config.request was saved, or the agent fills a template. Save what is sent now (`agentmut doctor "
        f"--save-request FILE`, `agent.config.request`), or {instead}"
    )


def _tools(edit: Edit, base: AgentConfig, shapes: Sequence[RequestShape], on_wire: Remedy | None) -> str:
    offered = list(dict.fromkeys(tool.name for shape in shapes for tool in shape.tools))
    if (
        edit.index is None
        and edit.after
        and len(orders := _orders(shapes)) > len(set(map(frozenset, orders)))
    ):
        return (
            "the agent itself offers its tools now in one order, now in another, so that no order is the mutant's. "
            "Sort them in the agent, or leave the operator out"
        )
    if edit.index is None and edit.after and on_wire and len(offered) > 1:
        return (
            f"the agent offers its tools in its own order ({_listed(offered)}), or shuffles them, so that no order "
            "is the mutant's. Sort them as in agent.config.tools, or leave the operator out"
        )
    name = base.tools[edit.index].name if edit.index is not None and not edit.inserts_item else ""
    instead = on_wire("tools") if on_wire else "offer the tools of the config that the agent is given"
    if not offered:
        return (
            "no request offers any tool: the agent tells the model of its tools in another way (in the prompt, say), "
            f"or of none. Leave `tool` out of mutation.classes, or {instead}"
        )
    if name and name not in offered:
        return f"no request offers {name}; they offer {_listed(offered)}. Correct agent.config.tools, or {instead}"
    still = f"requests still offer {name or 'the tools'} as before"
    if on_wire:
        return f"{still}: they are offered in a form that cannot be changed on the wire, so {instead}"
    return (
        f"{still}. Probable cause: the agent holds its tools in a closure or a list of its module. Bind those of "
        f"the config that it is given (`agentmut.toolbox`; `bind_tools` for LangChain), {WIRE}"
    )


def _orders(shapes: Sequence[RequestShape]) -> set[tuple[str, ...]]:
    return {tuple(tool.name for tool in shape.tools) for shape in shapes}


def _model(edit: Edit, model: ModelConfig, shapes: Sequence[RequestShape], on_wire: Remedy | None) -> str:
    key = edit.path[1] if len(edit.path) > 1 else "name"
    if key not in RequestShape.model_fields and key != "name":
        return f"no request shows the model's {key}. Leave it out of the config"
    values = list(
        dict.fromkeys(canonical_json(value) for shape in shapes if is_set(value := _setting(shape, key)))
    )
    if on_wire:
        return _model_on_wire(key, model, shapes, values)
    if not values:
        said = f"no request has a {key}: the agent does not pass it on"
    else:
        said = f"requests have {key} {_listed(values)} all the same. Probable cause: it is fixed in the agent's code"
    return f"{said}. Take it from config.model.{key} when the agent is built, {WIRE}"


def _model_on_wire(
    key: str, model: ModelConfig, shapes: Sequence[RequestShape], values: Sequence[str]
) -> str:
    names = list(dict.fromkeys(shape.model for shape in shapes))
    if model.name and model.name not in names:
        return (
            f"requests go to the model {_listed(names)}, and agent.config.model.name says {model.name}: what goes to "
            "another model is left alone on the wire. Name the model that the agent uses"
        )
    if values:
        return (
            f"requests have {key} {_listed(values)}, and agent.config.model.{key} says "
            f"{canonical_json(_setting(model, key))}: another value is left alone on the wire. Give the one that is "
            "sent"
        )
    return f"no request has a {key}, and its service has no such setting"


def _setting(source: RequestShape | ModelConfig, key: str) -> Any:
    name = "model" if key == "name" and isinstance(source, RequestShape) else key
    value = getattr(source, name)
    return list(value) if isinstance(value, tuple) else value


def _moves_around(edit: Edit, base: AgentConfig, shapes: Sequence[RequestShape]) -> bool:
    """Return whether requests have the changed text itself, in other surroundings than the config says."""
    whole = at_path(base.model_dump(mode="json"), edit.path) if edit.span is not None else None
    if edit.span is None or not isinstance(whole, str):
        return False
    passage = passage_at(whole, *edit.span, left=0, right=0)
    return bool(passage) and any(shown(passage, shape.text) for shape in shapes)


def _original_text(edit: Edit, base: AgentConfig) -> str:
    """Return the text that an edit changes; for an addition, the text around it."""
    if isinstance(edit.before, str) and edit.before.strip():
        return edit.before
    if edit.span is not None:
        whole = at_path(base.model_dump(mode="json"), edit.path)
        return str(whole)[max(0, edit.span[0] - QUOTED // 2) :]
    if isinstance(edit.before, dict):
        return str(edit.before.get("text", ""))
    first = base.context[0].text if edit.part == "context" and base.context else ""
    return first or base.prompt


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return f'"{flat}"' if len(flat) <= QUOTED else f'"{flat[:QUOTED].rstrip()}..."'


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - ANSWERS} more" if len(known) > ANSWERS else ""
    return ", ".join(known[:ANSWERS]) + more
