"""An agent in one file: OpenAI's Chat Completions API, which many vendors offer, and `webview-bridge mcp`.

OPENAI_API_KEY=… python agent_openai.py "Which articles are on https://example.com/ ?"
BRIDGE_POLICY_ALLOWED_ORIGINS names the sites that the model may open. Further arguments are options of
`webview-bridge mcp`, such as --device SERIAL.
"""

import asyncio
import json
import os
import sys

import httpx
from mcp import Client, StdioServerParameters

API = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
MODEL = os.environ.get("MODEL", "gpt-5")
HEADERS = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
MAX_ROUNDS = 30


async def run(task: str) -> str:
    server = StdioServerParameters(command="webview-bridge", args=["mcp", *sys.argv[2:]], env=dict(os.environ))
    async with Client(server) as bridge, httpx.AsyncClient(headers=HEADERS, timeout=120) as api:
        listed = (await bridge.list_tools()).tools
        functions = [{"name": t.name, "description": t.description, "parameters": t.input_schema} for t in listed]
        tools = [{"type": "function", "function": function} for function in functions]
        messages: list[dict[str, object]] = [{"role": "user", "content": task}]
        for _ in range(MAX_ROUNDS):
            request = {"model": MODEL, "tools": tools, "messages": messages}
            response = (await api.post(f"{API}/chat/completions", json=request)).raise_for_status().json()
            message = response["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                result = await bridge.call_tool(call["function"]["name"], arguments)
                text = "\n".join(part.text for part in result.content if part.type == "text")
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return "The model made more calls than allowed."


if __name__ == "__main__":
    print(asyncio.run(run(sys.argv[1])))
