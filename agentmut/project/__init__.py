"""Everything that is read from the user's files: the project, its parts, scenarios, requests, revisions."""
