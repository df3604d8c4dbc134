from .adapter import SemanticKernelAdapter as SemanticKernelAdapter
