"""Tensors in notebooks: a table for what fits into one, text for the rest."""
from __future__ import annotations

import html
import math
from typing import Any

from wherry_tensor._core import Tensor
from wherry_tensor.printing import shown_table, tensor_to_string

__all__ = ["tensor_to_html"]

_ROWS, _COLUMNS = 20, 12  # that a table shows


def tensor_to_html(x: Tensor) -> str:
    """The tensor as HTML: shape, dtype and place, and a table of its values if it has one or two axes.

    Examples:
        >>> wherry.to_tensor([1, 2])._repr_html_()[:37]
        '<div class="wherry-tensor"><div><code'
    """
    shape = list(x.shape)
    if getattr(x, "is_symbolic", False) or not 1 <= len(shape) <= 2 or not math.prod(shape):
        return f"<pre>{html.escape(tensor_to_string(x))}</pre>"
    facts = f"Tensor {shape}, {x.dtype.name}, {x.place!s}" + ("" if x.stop_gradient else ", with gradient")
    table = shown_table(x.detach(), _ROWS, _COLUMNS)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table)
    return f'<div class="wherry-tensor"><div><code>{html.escape(facts)}</code></div><table>{body}</table></div>'


def table_to_html(titles: list[str], rows: list[list[Any]], caption: str = "") -> str:
    """A table with a head, as HTML; its cells are escaped."""
    def line(cells: list[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<thead>{line(titles, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"
