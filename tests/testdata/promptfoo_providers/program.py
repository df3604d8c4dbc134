"""A program as a provider: promptfoo gives it prompt, options and context as its last three arguments."""

import json
import sys

from asking import answer

flag, prompt, options, context = sys.argv[1:]
assert flag == "--quiet" and prompt.startswith("Customer Ada: ")
print(answer(json.loads(context)["vars"]["question"], json.loads(options)["config"]["model"]))
