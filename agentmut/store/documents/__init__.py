"""What runs leave as JSON documents besides `result.json` (`agentmut.nouns.result`), and comparisons of them."""
