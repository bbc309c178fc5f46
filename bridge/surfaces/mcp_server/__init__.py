"""`webview-bridge mcp`: the tools for models over the Model Context Protocol.

Only `protocol.py` imports the SDK; `options.py` is what the operator decides before a model is heard.
"""
