"""Calls whose answer differs from real Paddle 2.6.2 on purpose: expression -> reason.

Each has a row in docs/compatibility.md.
"""

DIFFERENCES: dict[str, str] = {}
