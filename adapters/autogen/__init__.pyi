from .adapter import AutoGenAdapter as AutoGenAdapter
