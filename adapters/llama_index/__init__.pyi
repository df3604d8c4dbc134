from .adapter import LlamaIndexAdapter as LlamaIndexAdapter
