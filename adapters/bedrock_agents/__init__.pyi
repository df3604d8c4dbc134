from .adapter import BedrockAgentsAdapter as BedrockAgentsAdapter
