"""Files of other tools that describe an agent, one reader each, found through entry points."""
