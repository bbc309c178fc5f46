"""From a ref to its element inside the page: small functions that run beside the injected script, in its world."""

from __future__ import annotations

import json

# The script answers with the element, or with why there is none.
_ELEMENT_OF = "(e=>e.nodeType?e:null)"


def on_element(function: str, local: str) -> str:
    """An expression that applies `function` (JavaScript, of an element or null) to what the script calls `local`.

    It stands where `a` is the script's API.
    """
    return f"({function})({_ELEMENT_OF}(a.element({json.dumps(local)})))"
