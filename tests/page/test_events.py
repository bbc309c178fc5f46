"""Listeners of a page and waits for events."""

from __future__ import annotations
