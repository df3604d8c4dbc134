"""A tool server on stdin and stdout that needs no package: quick to start."""

import json
import sys
import time
from typing import Any

TOOLS = [
    {
        "name": "look_up_order",
        "description": "Look up an order by its number.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
        },
    },
    {
        "name": "issue_refund",
        "description": "Pay money back.",
        "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
]
ABLE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "o", "version": "1"},
}


def answer(method: str, params: Any) -> Any:
    if method == "initialize":
        return ABLE
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params["arguments"].get("order_id") == "crash":
        sys.exit("out of order")
    if method == "tools/call" and params["arguments"].get("order_id") == "hang":
        time.sleep(600)
    if method == "tools/call":
        text = f"{params['name']}: {params['arguments'].get('order_id')} was delivered on Monday."
        return {"content": [{"type": "text", "text": text}], "isError": False}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked["method"], asked.get("params") or {})
    said = {"error": {"code": -32601, "message": "not known"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
