"""`webview-bridge mcp`: the tools for models over the Model Context Protocol."""
