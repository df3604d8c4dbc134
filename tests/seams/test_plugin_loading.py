"""Plugins through real entry points: distributions written to a folder on `sys.path`."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from agentmut._base.errors import PluginError
from agentmut.seams import plugins
from agentmut.wire.codecs import all_codecs, codec_for

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def write(distribution: str, group: str, name: str, source: str, attribute: str = "Plugin") -> None:
        module = f"plugin_{distribution}_{abs(hash(str(tmp_path)))}"
        (tmp_path / f"{module}.py").write_text(source)
        folder = tmp_path / f"{distribution}-1.0.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        with (folder / "entry_points.txt").open("a") as file:
            file.write(f"[agentmut.{group}]\n{name} = {module}:{attribute}\n")

    return write


def message(group: str, name: str) -> str:
    with pytest.raises(PluginError) as error:
        plugins.load(group, name)
    return str(error.value)


GOOD = """
from agentmut.nouns.trace import Check
class Plugin:
    def __init__(self, argument): self.argument = argument
    def evaluate(self, scenario, trace): return Check(evaluator="x", passed=True, reason="")
"""


def test_a_third_partys_plugin_loads_like_a_built_in(install: Install) -> None:
    install("mypkg", "evaluators", "polite", GOOD)
    assert "polite" in plugins.names("evaluators")
    assert plugins.load("evaluators", "polite").__name__ == "Plugin"


def test_listing_names_imports_nothing(install: Install) -> None:
    install("mypkg", "evaluators", "explosive", "raise RuntimeError('boom')")
    assert "explosive" in plugins.names(plugins.Group.EVALUATORS)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            GOOD.replace("scenario, trace)", "scenario)"),
            "evaluate() has no parameter 'trace'; expected (scenario, trace)",
        ),
        (
            GOOD.replace("scenario, trace)", "scenario, trace, judge)"),
            "evaluate() has the unknown parameter 'judge'; expected (scenario, trace)",
        ),
        (
            GOOD.replace("scenario, trace)", "trace, scenario)"),
            "evaluate() takes its parameters in the order (trace, scenario); expected (scenario, trace)",
        ),
        (
            GOOD.replace("def evaluate", "def judge"),
            "method evaluate() is missing; expected (scenario, trace)",
        ),
        (GOOD.replace("self, argument)", "self)").replace("argument\n", "1\n"), "callable with (argument)"),
        ("def Plugin(argument): pass", "expected a class, found function"),
    ],
)
def test_a_wrong_signature_names_plugin_distribution_and_argument(
    install: Install, source: str, fault: str
) -> None:
    install("mypkg", "evaluators", "polite", source)
    said = message("evaluators", "polite")
    assert said.startswith("evaluator 'polite' (mypkg): ")
    assert fault in said


@pytest.mark.parametrize(
    "signature",
    [
        "scenario, trace, strict=False)",
        "*args)",
        "scenario, trace, **options)",
        "scenario, trace, *, deep=1)",
    ],
)
def test_a_signature_may_have_more_as_long_as_it_can_be_called(install: Install, signature: str) -> None:
    install("mypkg", "evaluators", "polite", GOOD.replace("scenario, trace)", signature))
    assert plugins.load("evaluators", "polite").__name__ == "Plugin"


def test_a_plugin_that_fails_to_import_is_named_with_its_error(install: Install) -> None:
    install("mypkg", "evaluators", "polite", "import no_such_dependency")
    said = message("evaluators", "polite")
    for piece in (
        "evaluator 'polite' (mypkg)",
        "ModuleNotFoundError",
        "no_such_dependency",
        "uninstall mypkg",
    ):
        assert piece in said


def test_a_plugin_whose_object_is_missing_is_named(install: Install) -> None:
    install("mypkg", "evaluators", "polite", GOOD, "Plugins")
    assert "has no attribute 'Plugins'" in message("evaluators", "polite")


def test_an_unknown_name_suggests_the_nearest() -> None:
    assert message("evaluators", "regx") == "unknown evaluator 'regx'. Did you mean 'regex'?"


def test_two_distributions_with_one_name_are_both_named(install: Install) -> None:
    install("alpha", "evaluators", "polite", GOOD)
    install("beta", "evaluators", "polite", GOOD)
    assert "evaluator 'polite' is registered by alpha and beta" in message("evaluators", "polite")


def test_shadowing_a_built_in_is_an_error(install: Install) -> None:
    install("alpha", "evaluators", "contains", GOOD)
    assert "registered by agentmut and alpha" in message("evaluators", "contains")


ADAPTER = """
class Plugin:
    @classmethod
    def create(cls, spec, config): return cls()
    def get_config(self): ...
    def get_tools(self): ...
    def with_config(self, config): ...
    def doubled_tools(self): ...
    def cannot_express(self, mutant): ...
    def versions(self): ...
    async def run(self, turns, trial): ...
"""


def test_a_whole_adapter_passes(install: Install) -> None:
    install("mypkg", "adapters", "mine", ADAPTER)
    assert plugins.load("adapters", "mine")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("async def run", "def run", "run() must be an async function"),
        ("    @classmethod\n", "", "create() must be a classmethod"),
        ("def versions(self): ...", "pass", "method versions() is missing; expected ()"),
        ("turns, trial", "turns", "run() has no parameter 'trial'; expected (turns, trial)"),
        ("def get_tools(self): ...", "get_tools = 3", "get_tools is not a method"),
    ],
)
def test_an_adapter_is_checked_method_by_method(
    install: Install, before: str, after: str, fault: str
) -> None:
    install("mypkg", "adapters", "mine", ADAPTER.replace(before, after))
    assert fault in message("adapters", "mine")


OPERATOR = """
from agentmut.nouns.mutant import Intent, OperatorClass, Reach
class Plugin:
    id = "prompt.mine"
    version = 1
    operator_class = OperatorClass.PROMPT
    intent = Intent.DEGRADE
    reach = Reach.SENT
    why = "it happens"
    def mutants(self, config, options): yield from ()
    def examples(self): return []
"""


def test_a_whole_operator_passes(install: Install) -> None:
    install("mypkg", "operators", "prompt.mine", OPERATOR)
    assert plugins.load("operators", "prompt.mine")


def test_an_operator_needs_its_attributes_and_its_registered_id(install: Install) -> None:
    install("mypkg", "operators", "prompt.mine", OPERATOR.replace('why = "it happens"', "pass"))
    assert "class attribute 'why' is missing" in message("operators", "prompt.mine")
    install("other", "operators", "prompt.other", OPERATOR)
    assert "its id is 'prompt.mine', but it is registered as 'prompt.other'" in message(
        "operators", "prompt.other"
    )


CODEC = """
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions
class Plugin(ChatCompletions):
    name = "own_chat"
    def matches(self, path): return path.partition("?")[0].endswith("/own/talk")
"""


@pytest.fixture
def fresh_codecs() -> Iterator[None]:
    """Codecs are loaded once in a process."""
    all_codecs.cache_clear()
    yield
    all_codecs.cache_clear()


@pytest.mark.usefixtures("fresh_codecs")
def test_a_third_partys_codec_is_asked_before_the_built_in_ones(install: Install) -> None:
    install("mypkg", "codecs", "own_chat", CODEC)
    found = codec_for("/t/1/own/talk?x=1")
    assert found is not None and found.name == "own_chat"
    assert [codec.name for codec in all_codecs()] == ["own_chat", *sorted(BUILT_IN_CODECS)]
    assert all_codecs() is all_codecs()


@pytest.mark.usefixtures("fresh_codecs")
def test_a_codec_without_the_signature_of_its_seam_is_refused_with_the_fault(install: Install) -> None:
    install("mypkg", "codecs", "own_chat", CODEC.replace("self, path)", "self, url)"))
    with pytest.raises(PluginError, match=r"codec 'own_chat' \(mypkg\): matches\(\) has no parameter 'path'"):
        codec_for("/v1/chat/completions")


BUILT_IN_CODECS = {
    *(
        "chat_completions",
        "responses",
        "anthropic_messages",
        "gemini",
        "converse",
        "invoke_model",
        "ollama_chat",
    )
}


def test_a_module_of_agentmut_that_is_gone_is_no_reason_to_uninstall_it() -> None:
    """After a pull the entry points of an editable install still name modules that were renamed."""
    gone = EntryPoint("old", "agentmut.relations.gone:Old", "agentmut.relations")
    assert _remedy_of(gone, "agentmut") == (
        "The installed list of plugins is older than the code. Install agentmut again: pip install -e /path/to/agentmut"
    )
    assert _remedy_of(gone, "theirs") == "Install what it needs, or uninstall theirs."
    renamed = EntryPoint("old", "agentmut.nouns.trace:NoSuchName", "agentmut.relations")
    assert _remedy_of(renamed, "agentmut").startswith("The installed list of plugins is older")
    extra = EntryPoint("old", "no_such_framework:Adapter", "agentmut.adapters")
    assert _remedy_of(extra, "agentmut") == "Install what it needs, or uninstall agentmut."


def _remedy_of(entry: EntryPoint, distribution: str) -> str:
    with pytest.raises((ImportError, AttributeError)) as error:
        entry.load()
    return plugins._remedy_for(distribution, error.value)
