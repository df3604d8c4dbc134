from .adapter import CrewAIAdapter as CrewAIAdapter
