from .adapter import PydanticAIAdapter as PydanticAIAdapter
