"""What all sections of `agentmut.yaml` are made of."""

from typing import Annotated

from pydantic import ConfigDict, Field

from agentmut._base import Frozen

Reference = Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$", examples=["my_package.agent:run"])]


class Section(Frozen):
    """A mapping of the file. Attribute docstrings become the descriptions that editors show."""

    model_config = ConfigDict(use_attribute_docstrings=True)
