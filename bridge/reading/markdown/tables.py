"""Tables as GFM knows them (GFM 0.29 §4.10): one header row, one line per cell; spans filled with what they span."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

# A page can ask for 1,000 columns in 10 bytes; the product of such wishes is not followed.
MAX_SPAN = 100
MAX_FILLED_CELLS = 5_000
MAX_FILLED_CHARS = 200
_HEADER_ROWS = 3
_BLOCKS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "dl", "table", "form", "article", "section"]
)
_LOOKED_AT = 3_000


@dataclass(slots=True)
class Cell:
    text: str
    is_header: bool = False
    is_bold: bool = False
    colspan: int = 1
    rowspan: int = 1


@dataclass(slots=True)
class Table:
    """Rows as they come; `head_rows` of them stood in `thead`."""

    rows: list[list[Cell]] = field(default_factory=list)
    head_rows: int = 0
    caption: str = ""

    def to_markdown(self) -> str:
        """The lines of the table; "" where no cell holds anything."""
        rows = zip(_grid(self.rows), self.rows, strict=True)
        filled = [(row, cells) for row, cells in rows if any(cell.text for cell in cells)]
        if not filled:
            return ""
        width = max(len(row) for row, _ in filled)
        count = self._header_count([cells for _, cells in filled])
        header = _joined_rows([row for row, _ in filled[:count]], width)
        return "\n".join([_line(header), f"|{' --- |' * width}", *(_line(row) for row, _ in filled[count:])])

    def _header_count(self, rows: list[list[Cell]]) -> int:
        if self.head_rows:
            return min(self.head_rows, len(rows), _HEADER_ROWS)
        filled = [cell for cell in rows[0] if cell.text]
        is_header = all(cell.is_header for cell in filled) or (len(filled) > 1 and all(cell.is_bold for cell in filled))
        return 1 if is_header else 0


def is_layout(table: etree._Element) -> bool:
    """Does the table place things on the page instead of relating them? Then its cells are read as text."""
    if table.get("role") in ("presentation", "none"):
        return True
    rows = most_cells = cells = 0
    has_blocks = False
    for looked_at, element in enumerate(table.iter()):
        tag = element.tag
        if looked_at > _LOOKED_AT:
            break
        if tag == "th" or tag == "caption" or (tag == "thead" and len(element)):
            return False
        if tag == "tr":
            rows += 1
            cells = 0
        elif tag == "td":
            cells += 1
            most_cells = max(most_cells, cells)
        elif tag in _BLOCKS and element is not table:
            if tag == "table":
                return True
            has_blocks = True
    return rows < 2 or most_cells < 2 or (has_blocks and most_cells < 4 and rows < 4)


def span_of(cell: etree._Element, name: str) -> int:
    value = cell.get(name)
    if value is None:
        return 1
    value = value.strip()
    return max(1, min(int(value), MAX_SPAN)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _grid(rows: list[list[Cell]]) -> list[list[str]]:
    grid: list[list[str]] = []
    # Column → rows that a cell above still reaches into, and its text.
    reaching: dict[int, tuple[int, str]] = {}
    budget = MAX_FILLED_CELLS
    for cells in rows:
        row: list[str] = []
        still: dict[int, tuple[int, str]] = {}

        for cell in cells:
            _inherit(row, reaching, still)
            wide, high = cell.colspan, cell.rowspan
            if wide == high == 1:
                row.append(cell.text)
                continue
            fill = cell.text if len(cell.text) <= MAX_FILLED_CHARS else ""
            budget -= wide * high
            if budget < 0:
                wide = high = 1
            for column in range(wide):
                if high > 1:
                    still[len(row)] = (high - 1, fill)
                row.append(fill if column else cell.text)
        _inherit(row, reaching, still)
        reaching = {**reaching, **still}
        grid.append(row)
    return grid


def _inherit(row: list[str], reaching: dict[int, tuple[int, str]], still: dict[int, tuple[int, str]]) -> None:
    """Fill the next columns as long as cells from above reach into them."""
    while (found := reaching.pop(len(row), None)) is not None:
        left, text = found
        if left > 1:
            still[len(row)] = (left - 1, text)
        row.append(text)


def _joined_rows(rows: list[list[str]], width: int) -> list[str]:
    """Several header rows as one: what stands above each other, without repeating."""
    if len(rows) == 1:
        return rows[0] + [""] * (width - len(rows[0]))
    columns = [[row[column] for row in rows if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in columns]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
