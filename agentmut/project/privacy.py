"""What a project says of privacy: the sections `secrets` and `store` of `agentmut.yaml`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from agentmut._base import BoundedPattern
from agentmut.project.section import Section
from agentmut.recording import SizeLimits


def _pattern(pattern: str) -> str:
    if BoundedPattern(pattern).search("") is not None:
        raise ValueError(
            f"{pattern!r} fits an empty text, so it would fit everywhere. Say what must be there."
        )
    return pattern


class SecretSettings(Section):
    """What is secret in this project, beside what agentmut knows: it is taken out of everything that is kept."""

    names: tuple[Annotated[str, Field(pattern=r"^[\w.-]+$", examples=["customer_pin"])], ...] = ()
    """Names whose values are secret: of environment variables, arguments, JSON keys, and of `name=value` in texts.
    Capitals make no difference."""
    patterns: tuple[Annotated[str, AfterValidator(_pattern), Field(examples=[r"EMP-\d{6}"])], ...] = ()
    """Regular expressions: whatever they fit is secret."""


class StoreSettings(Section):
    """What is kept of runs."""

    texts: Literal["full", "hashed", "none"] = "full"
    """Keep the texts of prompts, replies, arguments and results (`full`), digests that tell equal texts (`hashed`),
    or no text (`none`). Verdicts, kills and costs stay; what rests on texts says that it cannot be shown."""

    max_text: int = Field(default=SizeLimits().text, ge=1000)
    """Most characters of one answer, argument or result. The middle of a longer one is left out, and said to be."""
    max_trial: int = Field(default=SizeLimits().trial, ge=1000)
    """Most characters of the answers, arguments and results of one trial."""
    max_run: int = Field(default=SizeLimits().run, ge=1000)
    """Most characters of the answers, arguments and results of one run: later trials are kept without texts."""

    @property
    def limits(self) -> SizeLimits:
        """Return the limits on sizes."""
        return SizeLimits(self.max_text, self.max_trial, self.max_run)

    @property
    def keeps_texts(self) -> bool:
        """Return whether all texts are kept."""
        return self.texts == "full"
