from .adapter import OpenAIAgentsAdapter as OpenAIAgentsAdapter
