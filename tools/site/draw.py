"""Messages of the Playground with pictures (wherry_web.playground.pictures) as HTML: lines as SVG, pictures as one PNG."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from html import escape
from typing import Any

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 240, 56, 34, 12
SHOWN = 480  # pixels of the page that a row of pictures may be wide
LARGEST = 6  # a pixel of a picture on the page
COLOURS = ("first", "second", "third", "fourth")  # classes of site.css


def figure(inside: str, caption: str) -> str:
    return f"<figure>{inside}" + (f"<figcaption>{escape(caption)}</figcaption>" if caption else "") + "</figure>"


def lines(message: dict[str, Any]) -> str:
    """A message of `plot`."""
    x, rows = message["x"], message["lines"]
    known = [value for row in rows for value in row["y"] if value is not None]
    if not known:
        return ""
    scale = (lambda value: math.log10(value)) if message["log"] else (lambda value: value)
    low, high = scale(min(known)), scale(max(known))
    left, right = min(x), max(x)

    def place(a: float, b: float) -> tuple[float, float]:
        return (LEFT + (a - left) / ((right - left) or 1) * (WIDTH - LEFT - 12),
                HEIGHT - BOTTOM - (scale(b) - low) / ((high - low) or 1) * (HEIGHT - BOTTOM - TOP))

    parts = [f'<path class="axes" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - 12}"></path>']
    for at, value, anchor in ((TOP + 8, max(known), "end"), (HEIGHT - BOTTOM, min(known), "end")):
        parts.append(f'<text x="{LEFT - 6}" y="{at}" text-anchor="{anchor}">{value:.3g}</text>')
    for place_x, value, anchor in ((LEFT, left, "start"), (WIDTH - 12, right, "end")):
        parts.append(f'<text x="{place_x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{value:.3g}</text>')
    if message["x_label"]:
        parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(message["x_label"])}</text>')
    for row, colour in zip(rows, COLOURS * len(rows)):
        drawn = [(*place(a, b),) for a, b in zip(x, row["y"]) if b is not None]
        if message["points"]:
            parts += [f'<circle class="{colour}" cx="{a:.1f}" cy="{b:.1f}" r="2.5"></circle>' for a, b in drawn]
        else:
            parts.append(f'<polyline class="{colour}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in drawn)}"></polyline>')
    for number, (row, colour) in enumerate(zip(rows, COLOURS * len(rows))):
        if row["label"]:
            down = TOP + 12 + 16 * number
            parts.append(f'<text class="{colour} label" x="{WIDTH - 16}" y="{down}" text-anchor="end">{escape(row["label"])}</text>')
    names = ", ".join(row["label"] for row in rows if row["label"])
    said = f"{message['title'] or 'A plot'}{f' of {names}' if names else ''}: {len(x)} points, from {min(known):.3g} to {max(known):.3g}"
    return figure(f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(said)}">{"".join(parts)}</svg>', message["title"])


def pictures(message: dict[str, Any], content: bytes) -> str:
    """A message of `show`: all its pictures in a grid."""
    count, channels, height, width = (message[key] for key in ("count", "channels", "height", "width"))
    most = max(1, SHOWN // (width + 1))
    columns = min(count, max(1, min(most, 8)))
    rows = math.ceil(count / columns)
    across, down = columns * (width + 1) - 1, rows * (height + 1) - 1
    grid = bytearray([255, 255, 255, 0]) * (across * down)  # what lies between them is transparent
    size = channels * height * width
    for number in range(count):
        top, left = (number // columns) * (height + 1), (number % columns) * (width + 1)
        for y in range(height):
            at = number * size + y * width * channels
            row = content[at : at + width * channels]
            pixels = bytearray([255]) * (4 * width)
            for channel in range(3):
                pixels[channel::4] = row[channel % channels :: channels]
            begin = 4 * ((top + y) * across + left)
            grid[begin : begin + 4 * width] = pixels
    address = base64.b64encode(png(bytes(grid), across, down)).decode()
    times = max(1, min(LARGEST, SHOWN // across))
    said = f"{message['title'] or 'Pictures'}: {count} of {width} x {height}"
    image = f'<img class="pixels" alt="{escape(said)}" width="{times * across}" height="{times * down}" src="data:image/png;base64,{address}">'
    return figure(image, message["title"])


def png(pixels: bytes, width: int, height: int) -> bytes:
    """A PNG of red, green, blue and opacity."""
    rows = b"".join(b"\0" + pixels[4 * width * y : 4 * width * (y + 1)] for y in range(height))

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
