"""A program as its owner wrote it: it knows nothing of agentmut."""

import json
import os
import sys
import urllib.request
import zlib
from pathlib import Path

PROMPT = """- Say that a refund takes 5 days.
- Never promise a delivery date.
"""

asked = json.loads(Path(sys.argv[sys.argv.index("--scenario") + 1]).read_text())
messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": asked["input"]}]
request = urllib.request.Request(
    f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
    json.dumps({"model": "sim-large", "messages": messages}).encode(),
    {"content-type": "application/json", "authorization": "Bearer none"},
)
with urllib.request.urlopen(request) as reply:
    answer = json.load(reply)["choices"][0]["message"]["content"]
trial = os.environ["OPENAI_BASE_URL"].partition("/t/")[2].partition(".")[0]
if zlib.crc32(trial.encode()) % 10 == 0:  # at times it is short
    answer = "Ask again, please."
print(json.dumps({"answer": answer}))
