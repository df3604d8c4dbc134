"""What a project says of privacy: the sections `secrets` and `store` of `agentmut.yaml`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from agentmut._base import BoundedPattern, Frozen


def _pattern(pattern: str) -> str:
    if BoundedPattern(pattern).search("") is not None:
        raise ValueError(
            f"{pattern!r} fits an empty text, so it would fit everywhere. Say what must be there."
        )
    return pattern


class SecretSettings(Frozen):
    """What is secret in this project, beside what agentmut knows: it is taken out of everything that is kept."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    names: tuple[Annotated[str, Field(pattern=r"^[\w.-]+$", examples=["customer_pin"])], ...] = ()
    """Names whose values are secret: of environment variables, arguments, JSON keys, and of `name=value` in texts.
    Capitals make no difference."""
    patterns: tuple[Annotated[str, AfterValidator(_pattern), Field(examples=[r"EMP-\d{6}"])], ...] = ()
    """Regular expressions: whatever they fit is secret."""


class StoreSettings(Frozen):
    """What is kept of runs."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    texts: Literal["full", "hashed", "none"] = "full"
    """Keep the texts of prompts, replies, arguments and results (`full`), digests that tell equal texts (`hashed`),
    or no text (`none`). Verdicts, kills and costs stay; what rests on texts says that it cannot be shown."""

    @property
    def keeps_texts(self) -> bool:
        """Return whether all texts are kept."""
        return self.texts == "full"
