"""`python -m agentmut`: runs the command line."""

from agentmut.cli import main

main()
