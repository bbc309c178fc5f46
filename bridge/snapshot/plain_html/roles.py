"""The injected script's rules for tags and boxes, for trees without a browser.

Roles are in `role_table`. Boxes are those of the browser's own style sheet (HTML §15.3).
"""

from __future__ import annotations


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


SKIPPED_TAGS = _tags("script style template noscript head meta link title desc defs")
#: What has no content of its own to walk.
VOID_TAGS = _tags("input textarea img iframe frame video audio canvas object embed progress meter")
#: `display: none` (§15.3.1), as far as `SKIPPED_TAGS` does not have them.
UNRENDERED_TAGS = _tags("area base datalist noembed noframes param rp")
#: Everything else is inline, custom elements too.
BLOCK_TAGS = _tags(
    "html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main marquee menu nav ol optgroup "
    "option p plaintext pre search section summary table tbody td tfoot th thead tr caption col colgroup ul xmp "
    "button input select textarea meter progress text math"
)
LABELABLE_TAGS = _tags("button input meter output progress select textarea")
#: Elements whose `tabIndex` is 0 without an attribute.
FOCUSABLE_TAGS = _tags("button input select textarea iframe")
#: Elements that can have a ref without an attribute saying so.
REF_TAGS = _tags(
    "a area button input select option textarea summary datalist h1 h2 h3 h4 h5 h6 td th li article section main nav "
    "img image figure output progress meter"
)
INPUT_TYPES = _tags(
    "text search tel url email password date month week time datetime-local number range color checkbox radio file "
    "submit image reset button hidden"
)
