"""agentmut: if my agent silently got worse, would my tests notice?

The core imports no agent framework and no scientific library. Importing this package costs nothing: its public names,
listed in `__init__.pyi` and on docs/python.md, are loaded when they are first used.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, MappingProxyType, ModuleType
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name not in ("__all__", "__version__"):
        raise AttributeError(name)
    import lazy_loader  # not before a name is asked for: the proxy of tool servers runs without site-packages

    face = dict(
        zip(("__getattr__", "__dir__", "__all__"), lazy_loader.attach_stub(__name__, __file__), strict=True)
    )
    globals().update(face)
    return face["__all__"] if name == "__all__" else face["__getattr__"](name)


_MOVED = MappingProxyType({
    "agentmut.calls.offered": "agentmut.trial.calls.offered",
    "agentmut.config": "agentmut.nouns.config",
    "agentmut.errors": "agentmut._base.errors",
    "agentmut.mcp": "agentmut.trial.mcp",
    "agentmut.metamorphic": "agentmut.seams.make_relation",
    "agentmut.mutant": "agentmut.nouns.mutant",
    "agentmut.operator": "agentmut.seams.make_operator",
    "agentmut.protocols": "agentmut.seams.protocols",
    "agentmut.relation": "agentmut.nouns.relation",
    "agentmut.scenario": "agentmut.nouns.scenario",
    "agentmut.stopping": "agentmut.suites.inspect_ai.stopping",
    "agentmut.tools": "agentmut.nouns.tools",
    "agentmut.trace": "agentmut.nouns.trace",
})  # fmt: skip
"""Modules that pages of earlier versions named, and where their code is now. The old names go with version 0.2."""


class _MovedModules(MetaPathFinder, Loader):
    """Finds a moved module under its old name, so that projects that were written for it still run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an old name; None for any other name."""
        return ModuleSpec(fullname, self) if fullname in _MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module at its new place, and no copy: its classes stay the same classes."""
        module = import_module(_MOVED[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back its own spec, which the import system has just replaced."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code for `python -m OLD_NAME`."""
        spec = import_module(_MOVED[fullname]).__spec__
        assert spec is not None
        code: CodeType | None = spec.loader.get_code(spec.name)  # type: ignore[union-attr]  # the loader of a file
        return code


class _Root(ModuleType):
    """This package. A public name is not hidden by a moved module whose old name was the same."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (f"{__name__}.{name}" in _MOVED and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.meta_path.append(_MovedModules())
sys.modules[__name__].__class__ = _Root
