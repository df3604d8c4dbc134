"""One module per verb: what the command line and Python can do with a project, besides a campaign (`agentmut.usecases.campaigns`)."""
