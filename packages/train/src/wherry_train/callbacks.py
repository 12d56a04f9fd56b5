"""What happens between the steps of `Model.fit`."""
from __future__ import annotations

__all__: list[str] = []
