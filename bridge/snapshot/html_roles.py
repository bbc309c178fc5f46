"""What the injected script knows about roles and boxes, for trees without a browser. Pure.

The table says the same as `injected_js/src/role-table.js`, and a test holds the two together. Sources as there:
WAI-ARIA 1.3 §5.4, HTML-AAM 1.0 §3.5, SVG-AAM 1.0 §6. Boxes are those of the browser's own style sheet (HTML §15.3).
"""

from __future__ import annotations

INTERACTIVE, CONTENT, FROM_CONTENT, LEAF, THIN, APART, SAYS_IT = 1, 2, 4, 8, 16, 32, 64

_TABLE = {
    0: "application banner:header complementary:aside contentinfo:footer document feed form: "
    "graphics-document:svg group:address,details,fieldset,hgroup,optgroup iframe: list:dir,menu,ol,ul "
    "note search: table: tabpanel timer",
    9: "combobox:select searchbox:@search slider:@range spinbutton:@number textbox:textarea,input",
    2: "alert article: figure: listitem:li log main: navigation:nav region:section status:output",
    4: "row:tr",
    69: "link:a,area menuitem treeitem",
    6: "cell:td columnheader:th gridcell rowheader tooltip",
    70: "heading:h1,h2,h3,h4,h5,h6",
    8: "math: scrollbar separator:hr",
    10: "img:img,image meter: progressbar:progress",
    77: "button:button,summary,@button,@submit,@reset,@image,@file checkbox:@checkbox menuitemcheckbox "
    "menuitemradio option: radio:@radio switch tab",
    16: "blockquote: caption: code: definition:dd deletion:del,s emphasis:em insertion:ins mark: none:@hidden "
    "paragraph:p presentation strong: subscript:sub superscript:sup term:dfn,dt time:",
    80: "generic",
    20: "rowgroup:tbody,tfoot,thead",
    32: "alertdialog dialog: grid menu menubar radiogroup tablist toolbar tree treegrid",
    33: "listbox:datalist",
}

ROLE_FLAGS: dict[str, int] = {}
#: The role an element has by nature; "@" stands before the type of an `input`.
TAG_ROLES: dict[str, str] = {}
for _flags, _words in _TABLE.items():
    for _word in _words.split():
        _role, _colon, _elements = _word.partition(":")
        ROLE_FLAGS[_role] = _flags
        if _colon:
            TAG_ROLES.update(dict.fromkeys((_elements or _role).split(","), _role))


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
    "button input select textarea meter progress rt"
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
