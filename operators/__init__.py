"""Mutation operators, one module per class: prompt, tool, model, context, orchestration."""

if __name__ != "agentmut.operators":  # a second copy under another name would break isinstance checks
    raise ImportError(
        "import agentmut.operators, not operators: the project's root folders are mapped into the package"
    )
