"""Tables that are made when the site is built: documents of the repository have a place for them.

A document has `<!-- table: NAME -->` where one belongs.
"""
from __future__ import annotations

from collections.abc import Callable

FILLED: dict[str, Callable[[str], str]] = {}
