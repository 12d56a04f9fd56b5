"""Trains the tutorials and shows what came out: the text that each printed, and its losses as a picture.

Results are kept in .cache/site until a program, or a package, changes.
"""
from __future__ import annotations

import hashlib
import json
import sys
import time
from html import escape

from sources import ROOT

sys.path[:0] = [str(ROOT / "tools")]
import tutorials  # noqa: E402
import wheels  # noqa: E402

CACHE = ROOT / ".cache" / "site"
WIDTH, HEIGHT = 560, 200


def results() -> dict[str, str]:
    """Name of each tutorial -> Markdown."""
    packages = wheels.digest_of("wherry")
    found = {}
    for program in tutorials.PROGRAMS:
        digest = hashlib.sha256(packages.encode() + b"".join(path.read_bytes() for path in sorted(tutorials.FOLDER.glob("*.py")))).hexdigest()[:16]
        kept = CACHE / f"{program.stem}-{digest}.json"
        if not kept.exists():
            started = time.monotonic()
            text = tutorials.output_of("wherry", program)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps({"text": text, "seconds": time.monotonic() - started}))
        result = json.loads(kept.read_text())
        losses = tutorials.losses_of(result["text"])
        parts = [f"```text\n{result['text'].rstrip()}\n```"]
        if len(losses) > 2:
            parts.append(picture(losses, f"Losses of {program.stem}"))
        found[program.stem] = "\n\n".join(parts)
    return found


def picture(losses: list[float], title: str) -> str:
    """The losses, in the order in which they were printed, as an SVG in the page."""
    low, high = min(losses), max(losses)
    span = (high - low) or 1.0
    points = " ".join(f"{10 + i * (WIDTH - 20) / (len(losses) - 1):.1f},{10 + (high - loss) / span * (HEIGHT - 20):.1f}" for i, loss in enumerate(losses))
    label = f"{title}: {len(losses)} values, from {losses[0]:.4g} to {losses[-1]:.4g}"
    return (f'<figure><svg class="losses" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
            f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"></polyline></svg>'
            f"<figcaption>The losses that it prints, in this order: {losses[0]:.4g} first, {losses[-1]:.4g} last.</figcaption></figure>")
