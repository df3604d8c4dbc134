"""What runs leave as JSON documents besides `result.json` (`agentmut.result`), and comparisons of them."""
