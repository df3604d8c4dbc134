"""Metamorphic relations: permutation, perturbation, composition, oracle."""

if __name__ != "agentmut.relations":  # a second copy under another name would break isinstance checks
    raise ImportError(
        "import agentmut.relations, not relations: the project's root folders are mapped into the package"
    )
