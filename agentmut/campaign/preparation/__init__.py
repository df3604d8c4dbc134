"""Before the first trial: the session, the plan, identities of trials, decision tables."""
