"""The JSON documents of runs besides `result.json` (`agentmut.nouns.result`), and comparisons of them."""
