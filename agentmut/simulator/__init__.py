"""An offline stand-in for a language model, for demos and tests; no evidence about real models.

`behave.reply` is the model as a pure function; `server.serve` puts it on a loopback port.
"""
