from .adapter import SmolagentsAdapter as SmolagentsAdapter
