"""An agent in one file: Anthropic's Messages API with the tools of `webview-bridge mcp`.

ANTHROPIC_API_KEY=… python agent_anthropic.py "Which articles are on https://example.com/ ?"
BRIDGE_POLICY_ALLOWED_ORIGINS names the sites that the model may open. Further arguments are options of
`webview-bridge mcp`, such as --device SERIAL.
"""

import asyncio
import os
import sys

import httpx
from mcp import Client, StdioServerParameters

API = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
MODEL = os.environ.get("MODEL", "claude-sonnet-4-5")
HEADERS = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
MAX_ROUNDS = 30


async def run(task: str) -> str:
    server = StdioServerParameters(command="webview-bridge", args=["mcp", *sys.argv[2:]], env=dict(os.environ))
    async with Client(server) as bridge, httpx.AsyncClient(base_url=API, headers=HEADERS, timeout=120) as api:
        listed = (await bridge.list_tools()).tools
        tools = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in listed]
        messages: list[dict[str, object]] = [{"role": "user", "content": task}]
        for _ in range(MAX_ROUNDS):
            request = {"model": MODEL, "max_tokens": 4096, "tools": tools, "messages": messages}
            response = (await api.post("/v1/messages", json=request)).raise_for_status().json()
            messages.append({"role": "assistant", "content": response["content"]})
            calls = [part for part in response["content"] if part["type"] == "tool_use"]
            if not calls:
                return "".join(part["text"] for part in response["content"] if part["type"] == "text")
            results = []
            for call in calls:
                result = await bridge.call_tool(call["name"], call["input"])
                text = "\n".join(part.text for part in result.content if part.type == "text")
                results.append({"type": "tool_result", "tool_use_id": call["id"], "content": text})
            messages.append({"role": "user", "content": results})
    return "The model made more calls than allowed."


if __name__ == "__main__":
    print(asyncio.run(run(sys.argv[1])))
