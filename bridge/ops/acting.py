"""Runs a verb for a model: its texts may name secrets, which are revealed only to the document of the element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bridge.page.verbs import Verb

if TYPE_CHECKING:
    from bridge.ops.secrets import Secrets
    from bridge.page.page import Page
    from bridge.page.results import ActionResult


async def act(page: Page, verb: Verb, ref: str | None, given: Mapping[str, Any], secrets: Secrets) -> ActionResult:
    """Run `verb` on the page, or on the element `ref`. Raises as the page's method, and as `Secrets.revealed_at`."""
    named = {
        argument.name: secrets.revealed_at(given[argument.name], page, ref)
        if argument.is_secret and ref is not None
        else given[argument.name]
        for argument in verb.arguments
    }
    return await verb.run(page, ref, named)
