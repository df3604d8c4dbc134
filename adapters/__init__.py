"""Adapters: one module per agent framework, each turning its agents into agentmut's trace protocol."""

if __name__ != "agentmut.adapters":  # a second copy under another name would break isinstance checks
    raise ImportError(
        "import agentmut.adapters, not adapters: the project's root folders are mapped into the package"
    )
