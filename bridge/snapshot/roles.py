"""The three classes of roles that decide who gets a ref and what stays as structure.

Roles are the words of WAI-ARIA 1.2 §5.4. INTERACTIVE nodes always have a ref, CONTENT nodes have one when they say
something, everything else is STRUCTURAL and is shown only as structure around them.
"""

from __future__ import annotations

from bridge.snapshot.role_table import CONTENT, INTERACTIVE, NAME_FROM_CONTENT, ROLE_TRAITS


def _words(roles: str) -> frozenset[str]:
    return frozenset(roles.split())


def _with(trait: int) -> frozenset[str]:
    return frozenset(role for role, traits in ROLE_TRAITS.items() if traits & trait)


INTERACTIVE_ROLES = _with(INTERACTIVE)
CONTENT_ROLES = _with(CONTENT)

#: Roles that are more than structure to a reader who wants to act.
TELLING_ROLES = INTERACTIVE_ROLES | CONTENT_ROLES

#: Roles with a ref whose name is the text below them (WAI-ARIA 1.3 §5.2.8.6): that text would repeat the name.
NAMED_BY_CONTENT = _with(NAME_FROM_CONTENT) & TELLING_ROLES

#: Boxes and inline elements without meaning to a reader: the compact form shows their content instead.
TRANSPARENT_ROLES = _words(
    "generic none presentation document paragraph rowgroup group code deletion emphasis insertion mark strong "
    "subscript superscript time"
)

#: Items that are worth a line of their own only when they have words, a ref, or more than one thing in them.
ITEM_ROLES = _words("listitem cell gridcell row article figure definition term")

#: Roles whose `value` a person sees on the screen; a check box's or a button's `value` is only for the server.
VALUE_ROLES = _words("textbox searchbox combobox listbox spinbutton slider progressbar meter")
