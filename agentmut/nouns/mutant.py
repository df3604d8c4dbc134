"""A broken version of an agent: located edits, a stable id, and pure application to a config."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any

from pydantic import Field, JsonValue, ValidationError

from agentmut._base import Frozen, MutationError, canonical_json, digest_of, parts_of
from agentmut.nouns.config import AgentConfig

ID_LENGTH = 8


class OperatorClass(StrEnum):
    """Which part of the agent an operator changes."""

    PROMPT = "prompt"
    TOOL = "tool"
    MODEL = "model"
    CONTEXT = "context"
    ORCHESTRATION = "orchestration"
    CONTROL = "control"
    """Identity and destroyed agent: they check the campaign itself and are never scored."""
    HIGHER_ORDER = "higher_order"
    """Two mutants at once."""


class Intent(StrEnum):
    """The purpose of a mutant."""

    DEGRADE = "degrade"
    """A regression that a good suite notices: counts in the mutation score."""
    PRESERVE = "preserve"
    """A change that should not matter: counts in robustness."""
    CONTROL = "control"


class Reach(StrEnum):
    """Which scenarios can notice a mutant."""

    CALLED = "called"
    """Scenarios whose baseline traces call the tool named by the mutant's subject."""
    CARRIED = "carried"
    """Scenarios that carry the document named by the subject, or any document where it is empty."""
    SENT = "sent"
    """Scenarios with a baseline request that carried the part."""
    REPEATED = "repeated"
    """Scenarios whose baseline traces call the tool named by the subject at least twice in a run."""
    RAN = "ran"
    """Scenarios whose baseline runs enter the node named by the subject, or any node where it is empty."""
    CONVERSED = "conversed"
    """Scenarios with more than one turn."""


class Effect(StrEnum):
    """The effect of an operator's mutants, where reports have a section for it."""

    DROPS_RULE = "drops_rule"
    """A rule of the prompt is gone: the text before the change is the rule."""
    NEGATES_RULE = "negates_rule"
    """A rule of the prompt says the opposite: the text before the change is the rule."""
    DROPS_TOOL = "drops_tool"
    """A tool is gone: the mutant's subject is its name."""
    REWIRES = "rewires"
    """Edges of the flow are others: the texts before and after are lists of nodes, a line each."""


class Status(StrEnum):
    """The outcome of a mutant's trials."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    NO_COVERAGE = "no_coverage"
    """No scenario of the suite reaches the mutated part."""
    UNDECIDED = "undecided"
    UNTESTABLE = "untestable"
    """The original fails too often on every scenario that reaches the mutant: no drop could show there."""
    NOT_APPLIED = "not_applied"
    """The mutation never reached the model or the tool."""
    IGNORED = "ignored"
    NOT_DRAWN = "not_drawn"
    """Left out of the random sample that the budget or `--precision` was enough for: the sample speaks for it."""
    ERROR = "error"
    """The mutant could not be run: its factory raised, or the service refused its requests as invalid."""


class Edit(Frozen):
    """One located change of a config.

    `pointer` is an RFC 6901 JSON pointer into the config's JSON form. With a `span` (start and end in
    characters) the value there is text, and `before` / `after` are the fragment replaced. Without one
    they are the whole value: `before` null inserts a list item or sets a value that is unset or absent,
    `after` null removes the item or the key. All edits of a mutant refer to the original config, not to
    each other's results.
    """

    pointer: str = Field(pattern="^/")
    before: JsonValue
    after: JsonValue
    span: tuple[int, int] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Return the pointer's parts, unescaped.

        >>> Edit(pointer="/tools/0/description", before="a", after="b").path
        ('tools', '0', 'description')
        """
        return parts_of(self.pointer)

    @property
    def part(self) -> str:
        """Return the part of the config: `prompt`, `tools`, `model` and so on."""
        return self.path[0]

    @property
    def index(self) -> int | None:
        """Return the index of the edited item in its list; None if the part is no list, or is edited as a whole.

        >>> Edit(pointer="/tools/3/description", before="a", after="b").index
        3
        """
        path = self.path
        return int(path[1]) if len(path) > 1 and path[1].isdigit() else None

    @property
    def inserts_item(self) -> bool:
        """Return whether the edit adds a tool or document; the item at that place moves on."""
        return self._is_whole_item and self.before is None

    @property
    def removes_item(self) -> bool:
        """Return whether the edit removes a tool or document."""
        return self._is_whole_item and self.after is None

    @property
    def is_fault(self) -> bool:
        """Return whether the edit makes calls of a tool fail."""
        return self.part == "tools" and self.path[2:] == ("fault",)

    @property
    def _is_whole_item(self) -> bool:
        return self.index is not None and len(self.path) == 2 and self.span is None


class About(Frozen):
    """A place of the original config that a mutant concerns, where its edits are elsewhere.

    `span` counts characters of the text at `pointer`; without one the whole value is meant. An empty span is
    a place between characters: what is added there is about none of the text around it.
    """

    pointer: str = Field(pattern="^/")
    span: tuple[int, int] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Return the pointer's parts, unescaped."""
        return parts_of(self.pointer)

    @property
    def is_gap(self) -> bool:
        """Return whether it is a place between characters."""
        return self.span is not None and self.span[0] == self.span[1]


class Candidate(Frozen):
    """An operator's candidate: a mutant without an identity yet."""

    edits: tuple[Edit, ...] = Field(min_length=1)
    description: str
    anchor: str
    """The text that identifies the place: the edited instruction, the tool's name. No positions."""
    subject: str = ""
    """The tool or document that a scenario must reach; empty for prompt and model."""
    about: tuple[About, ...] = ()
    """What the change is about, where the edits do not tell: the rule that is repeated at the end. No part of
    the id."""


class Mutant(Frozen):
    """A candidate with its operator and a stable id."""

    id: str
    operator: str
    version: int
    operator_class: OperatorClass
    intent: Intent
    reach: Reach
    effect: Effect | None = None
    """What its operator declares that it does."""
    subject: str = ""
    description: str
    edits: tuple[Edit, ...]
    parts: tuple["Mutant", ...] = ()
    """The two mutants that a higher-order mutant is made of; their edits together are its own."""
    about: tuple[About, ...] = ()
    """What the change is about, where the edits do not tell."""

    @property
    def places(self) -> tuple[Edit | About, ...]:
        """Return the mutant's places: those that it names, or its edits. A pair has the places of both parts."""
        if self.parts:
            return tuple(place for part in self.parts for place in part.places)
        return self.about or self.edits

    def apply(self, config: AgentConfig) -> AgentConfig:
        """Return the mutated config. Pure; raises `MutationError` when an edit does not fit."""
        return apply_edits(config, self.edits)


def mutant_id(operator: str, version: int, candidate: Candidate, duplicate: int) -> str:
    """Return a short hash of operator, version, anchor text, replacement and duplicate index.

    Positions stay out of it, and so does what is replaced: the anchor says where. So an edit elsewhere in
    the prompt changes no id, not even by adding a bullet's line break or another tool before this one.
    """
    replacement = [_replacement(edit) for edit in candidate.edits]
    return digest_of([operator, version, candidate.anchor, replacement, duplicate])[:ID_LENGTH]


def _replacement(edit: Edit) -> list[JsonValue]:
    place = "/".join(part for part in edit.path if not part.isdigit())
    return [place, "the same items" if _is_reordering(edit) else edit.after]


def _is_reordering(edit: Edit) -> bool:
    """Return whether the edit adds nothing new, so that its anchor alone identifies it."""
    if not (isinstance(edit.before, list) and isinstance(edit.after, list)):
        return False
    return sorted(map(canonical_json, edit.before)) == sorted(map(canonical_json, edit.after))


def prompt_edit(prompt: str, start: int, end: int, after: str) -> Edit:
    """Put `after` in the place of the characters `start` to `end` of the prompt."""
    return Edit(pointer="/prompt", before=prompt[start:end], after=after, span=(start, end))


def unreachable_fault(
    mutant: Mutant, config: AgentConfig, interceptable: Callable[[], frozenset[str]]
) -> str:
    """Return why a mutant's tool faults cannot take effect: agentmut does not see calls of those tools.

    `interceptable` gives the tools whose calls do; it is only asked for mutants with faults.
    """
    faulty = [edit.index for edit in mutant.edits if edit.is_fault]
    names = {config.tools[index].own_name for index in faulty if index is not None}
    beyond = sorted(names - interceptable()) if names else []
    return f"calls of {', '.join(beyond)} cannot be intercepted" if beyond else ""


def unique_ids(
    operator: str, version: int, candidates: Iterable[Candidate]
) -> Iterator[tuple[str, Candidate]]:
    """Pair each candidate with an id; candidates that hash alike get duplicate indexes in order."""
    seen: Counter[str] = Counter()
    for candidate in candidates:
        first = mutant_id(operator, version, candidate, 0)
        yield (first if not seen[first] else mutant_id(operator, version, candidate, seen[first])), candidate
        seen[first] += 1


def apply_edits(config: AgentConfig, edits: Iterable[Edit]) -> AgentConfig:
    """Apply edits that all refer to `config`; later positions first, so that earlier ones stay valid.

    Raises `MutationError` when an edit does not fit, or when the result is not a config.
    """
    ordered = sorted(edits, key=_position, reverse=True)
    touched = {edit.part for edit in ordered}
    # What no edit names is passed on as it is: dumping it would cost most of the time.
    plain: dict[str, Any] = {name: getattr(config, name) for name in AgentConfig.model_fields}
    whole = touched - _LISTS | {edit.part for edit in ordered if len(edit.path) == 1}
    plain |= config.model_dump(mode="json", include=whole)
    plain |= {name: _with_plain_items(plain[name], name, ordered) for name in touched - whole}
    for edit in ordered:
        _apply_one(plain, edit)
    try:
        return AgentConfig.model_validate(plain)
    except ValidationError as error:
        changed = ", ".join(sorted(touched))
        raise MutationError(f"edits of {changed} leave no valid config: {error}") from error


_LISTS = frozenset({"tools", "context"})
"""Parts that are lists of models."""


def _with_plain_items(items: Iterable[Any], part: str, edits: Iterable[Edit]) -> list[Any]:
    """Return the list of a part, with the edited items in their JSON form."""
    named = {edit.index for edit in edits if edit.part == part}
    return [item.model_dump(mode="json") if i in named else item for i, item in enumerate(items)]


def _position(edit: Edit) -> tuple[Any, ...]:
    parts = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in edit.path)
    return (parts, edit.span or (0, 0))


def _apply_one(root: Any, edit: Edit) -> None:
    parent = root
    for part in edit.path[:-1]:
        parent = _child(parent, part, edit)
    if not isinstance(parent, list | dict):
        raise MutationError(f"edit of {edit.pointer} does not fit this config: its parent holds no values")
    if isinstance(parent, list):
        _apply_to_list(parent, _index(edit.path[-1], edit), edit)
    else:
        _apply_to_mapping(parent, edit.path[-1], edit)


def _apply_to_mapping(values: dict[str, Any], key: str, edit: Edit) -> None:
    inside = len(edit.path) > 1  # a config has all its parts; what they hold may be absent
    value = values.get(key) if inside and edit.before is None else _child(values, key, edit)
    replaced = _replaced(value, edit)
    if replaced is None and inside:
        values.pop(key, None)
    else:
        values[key] = replaced


def _apply_to_list(items: list[Any], index: int, edit: Edit) -> None:
    if edit.before is None and index <= len(items):
        items.insert(index, edit.after)
        return
    value = _replaced(_child(items, str(index), edit), edit)
    items[index : index + 1] = [] if value is None else [value]


def _replaced(value: Any, edit: Edit) -> Any:
    if edit.span is None:
        found = value
    else:
        start, end = edit.span
        found = value[start:end] if isinstance(value, str) else None
    if found != edit.before:
        raise misfit(edit, found)
    return edit.after if edit.span is None else f"{value[:start]}{edit.after}{value[end:]}"


def misfit(edit: Edit, found: Any) -> MutationError:
    """Return what to raise where something else is found than the edit replaces."""
    return MutationError(
        f"edit of {edit.pointer} does not fit this config: expected {edit.before!r}, "
        f"found {found!r}. The mutant was made from another version of the agent."
    )


def _child(parent: Any, part: str, edit: Edit) -> Any:
    try:
        return parent[_index(part, edit)] if isinstance(parent, list) else parent[part]
    except (KeyError, IndexError, TypeError):
        raise MutationError(
            f"edit of {edit.pointer} does not fit this config: there is no {part!r}"
        ) from None


def _index(part: str, edit: Edit) -> int:
    if not part.isdigit():
        raise MutationError(f"edit of {edit.pointer} does not fit this config: {part!r} is not a list index")
    return int(part)
