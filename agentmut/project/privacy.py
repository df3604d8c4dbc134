"""What a project says of privacy: the sections `secrets` and `store` of `agentmut.yaml`."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from agentmut._base import BoundedPattern, UsageError
from agentmut.project.section import Section
from agentmut.recording import SizeLimits


def _pattern(pattern: str) -> str:
    if BoundedPattern(pattern).search("") is not None:
        raise ValueError(
            f"{pattern!r} fits an empty text, so it would fit everywhere. Say what must be there."
        )
    return pattern


STORE_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
STORE_FORM = "postgresql://USER@HOST:PORT/DATABASE"


def check_store_scheme(url: str) -> None:
    """Raise `UsageError` for a URL of another kind of database; no secret is printed."""
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in STORE_SCHEMES:
        known = f"{scheme!r} is not known" if separator else "it has no scheme"
        raise UsageError(
            f"a store's URL is written as in {STORE_FORM}: {known}. Leave it out to keep trials in a file."
        )


class SecretSettings(Section):
    """What is secret in this project, beside what agentmut knows: it is taken out of everything that is kept."""

    names: tuple[Annotated[str, Field(pattern=r"^[\w.-]+$", examples=["customer_pin"])], ...] = ()
    """Names whose values are secret: of environment variables, arguments, JSON keys, and of `name=value` in texts.
    Capitals make no difference."""
    patterns: tuple[Annotated[str, AfterValidator(_pattern), Field(examples=[r"EMP-\d{6}"])], ...] = ()
    """Regular expressions: whatever they fit is secret."""


class StoreSettings(Section):
    """Where runs are kept, and what of them. A URL alone, as in `store: postgresql://...`, stands for `{url: ...}`."""

    url: str | None = Field(default=None, examples=["postgresql://ci:${PGPASSWORD}@db.example.org/agentmut"])
    """A PostgreSQL database that a team shares, as in `postgresql://USER@HOST/DATABASE?sslmode=verify-full`; `${NAME}`
    is filled in from the environment. Left out: the file `.agentmut/store.db`."""
    project: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9_]{0,49}$", examples=["support_desk"])
    """The project's name in a shared database: its tables stand in the schema `agentmut_<project>`. Left out: the name
    of the project file's folder."""
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

    @model_validator(mode="before")
    @classmethod
    def _url_alone(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value
