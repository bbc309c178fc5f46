"""Chromium as a WebView engine: a browser, its tabs, and the relay that gives it WebView's manners."""
