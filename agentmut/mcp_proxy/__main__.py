"""`python -m agentmut.mcp_proxy`."""

import os
import sys

from agentmut.mcp_proxy import main

code = main(sys.argv[1:])
sys.stderr.flush()
os._exit(code)  # a thread that still reads stdin makes an ordinary exit abort
