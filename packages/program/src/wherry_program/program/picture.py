# ruff: noqa: RUF001  sizes are written with the sign of multiplication
"""A program as a picture (SVG): a box for each node, top to bottom, with shapes on the edges.

The layout is the layered one of Sugiyama, Tagawa and Toda (1981): nodes get a layer by the longest way from the inputs; edges that pass
layers get a bend in each; the order inside of a layer follows the mean place of the neighbours, sweeping down and up; then nodes move
towards their neighbours as far as there is room. Parameters and constants stand in the box of the node that reads them. The blocks of
control flow are drawn beside, each in a frame of its own.
"""
from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_tensor._core import DType
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.sizes import Size

__all__ = ["to_svg"]

_LAYER_GAP, _NODE_GAP, _MARGIN, _LINE, _CHAR = 44, 26, 28, 15, 6.6

# Colours by family of op: fill and border; readable on white and in the dark (the text colour follows the scheme).
_COLOURS = {
    "data": ("#e8f1fb", "#2f6fb3"), "result": ("#e7f6ec", "#2c8a4b"), "convolution": ("#fde9d9", "#c2661b"),
    "contraction": ("#fde9d9", "#c2661b"), "normalization": ("#f1e8fb", "#7a48b5"), "activation": ("#fbe9ee", "#bb3d63"),
    "recurrent": ("#fde9d9", "#c2661b"), "attention": ("#f1e8fb", "#7a48b5"), "reduction": ("#fff6d6", "#a98600"),
    "control": ("#e3e7ec", "#46546a"), "other": ("#f4f5f7", "#7b8794"),
}
_STYLE = """
  text{font-family:ui-sans-serif,system-ui,'Segoe UI',Roboto,sans-serif;font-size:12px;fill:#1c2430}
  .small{font-size:10.5px;fill:#5a6675}.title{font-size:13px;font-weight:600}.name{font-weight:600}
  .edge{fill:none;stroke:#8a94a3;stroke-width:1.3}.frame{fill:none;stroke:#b7bfca;stroke-dasharray:5 4}
  .paper{fill:#ffffff}
  @media (prefers-color-scheme:dark){.paper{fill:#12161c}.outside{fill:#dfe5ee}.edge{stroke:#6d7886}.small.outside{fill:#9aa6b5}}
"""


def to_svg(program: Program, title: str = "", most: int | None = None) -> str:
    """Draw a program.

    Args:
        program: it; `feeds` and `fetches` are drawn as its ends.
        title: written above.
        most: how many boxes and bends of edges a block may have; None sets no bound. An edge has a bend in each layer that it passes.

    Returns:
        The text of an SVG file. It names no other file and runs no script. The group of a node has `data-node="block:position"`, that of an
        input `data-feed="position"`, that of a result `data-fetch="position"`.

    Raises:
        ValueError: a block has more than `most`.
    """
    panels = [_Panel(program.blocks[0], program.feeds, program.fetches, "", most)]
    owners = {block.index: node for node in program.walk() for block in node.blocks}
    for block in program.blocks[1:]:
        node = owners.get(block.index)
        if node is None:
            continue
        words = {"cond": ("if true", "if false"), "while": ("while this holds", "a round")}.get(node.type, ())
        which = node.blocks.index(block)
        name = words[which] if which < len(words) else f"block {which}"
        heading = f"{node.type} {node.outputs[0].name if node.outputs else ''}: {name}"
        panels.append(_Panel(block, block.inputs, block.outputs, heading, most))
    top = _MARGIN + (28 if title else 0)
    parts: list[str] = []
    x, y, wide = float(_MARGIN), float(top), 0.0
    tall = panels[0].height
    for i, panel in enumerate(panels):  # those of control flow below each other, in columns as tall as the program
        if i and (i == 1 or y - top + panel.height > tall):
            x, y, wide = x + wide + 2 * _MARGIN, float(top), 0.0
        parts.append(panel.drawn(x, y, framed=i > 0))
        y += panel.height + 2 * _MARGIN
        wide = max(wide, panel.width)
    width, height = x + wide + _MARGIN, top + max(panel.height for panel in panels) + _MARGIN
    heading = f'<text class="title outside" x="{_MARGIN}" y="{_MARGIN}">{escape(title)}</text>' if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(title or "program", quote=True)}"><style>{_STYLE}</style>'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0.8 L7,4 L0,7.2 z" fill="#8a94a3"/></marker></defs>'
        f'<rect class="paper" width="100%" height="100%"/>{heading}{"".join(parts)}</svg>\n'
    )


class _Box:
    """A box in the drawing, or a bend of an edge."""

    def __init__(self, lines: list[str], family: str, tip: str = "", place: str = "") -> None:
        self.lines, self.family, self.tip, self.place = lines, family, tip, place
        self.bend = not lines
        self.width = 8.0 if self.bend else max(64.0, 22 + _CHAR * max(len(line) for line in lines))
        self.height = 1.0 if self.bend else 12.0 + _LINE * len(lines)
        self.layer = 0
        self.x = self.y = 0.0
        self.above: list[_Box] = []
        self.below: list[_Box] = []


class _Edge:
    def __init__(self, path: list[_Box], label: str) -> None:
        self.path, self.label = path, label


class _Panel:
    """One block, laid out."""

    def __init__(self, block: Block, takes: Sequence[Variable], gives: Sequence[Variable], title: str, most: int | None = None) -> None:
        self.title, self.most = title, most
        self.boxes: list[_Box] = []
        self.edges: list[_Edge] = []
        self.build(block, takes, gives)
        self.layers = self.layered()
        self.order()
        self.place()

    def build(self, block: Block, takes: Sequence[Variable], gives: Sequence[Variable]) -> None:
        """The boxes and edges of the block."""
        made: dict[int, _Box] = {}
        wires: list[tuple[_Box, _Box, Variable]] = []
        outer = block.parent is None  # ends of inner blocks have no place of their own
        for i, x in enumerate(takes):
            made[id(x)] = self.add([x.name, f"{_shape(x)} {x.dtype.name}"], "data", place=f'data-feed="{i}"' if outer else "")
        outside: dict[int, _Box] = {}
        for i, node in enumerate(block.nodes):
            tip = f"{node!r}{f' ({node.line})' if node.line else ''}"
            box = self.add(_lines_of(node), _family_of(node), tip, place=f'data-node="{block.index}:{i}"')
            for y in dict.fromkeys(v for v in node.reads() if v.bound is None and not v.is_parameter and not v.persistable):
                source = made.get(id(y))
                if source is None:
                    if id(y) not in outside:
                        outside[id(y)] = self.add([y.name, "from around" if block.parent is not None else "not fed"], "data", first=True)
                    source = outside[id(y)]
                wires.append((source, box, y))
            for y in node.outputs:
                made[id(y)] = box
        for i, x in enumerate(gives):
            source = made.get(id(x))
            if source is not None:
                wires.append((source, self.add([x.name, f"{_shape(x)} {x.dtype.name}"], "result", place=f'data-fetch="{i}"' if outer else ""), x))
        depth: dict[int, int] = {id(box): 0 for box in self.boxes}
        below: dict[int, list[_Box]] = {}
        for source, target, _ in wires:
            below.setdefault(id(source), []).append(target)
        for box in self.boxes:  # a node stands after those that it reads from
            for target in below.get(id(box), ()):
                depth[id(target)] = max(depth[id(target)], depth[id(box)] + 1)
        for box in self.boxes:
            box.layer = depth[id(box)]
        size = len(self.boxes) + sum(target.layer - source.layer - 1 for source, target, _ in wires)
        if self.most is not None and size > self.most:
            raise InvalidArgumentError(
                f"picture: the program is too large to draw. Got {size} boxes and bends of edges in a block, expected at most {self.most}. "
                f"Print it as text."
            )
        for source, target, y in wires:
            path = [source]
            for layer in range(source.layer + 1, target.layer):
                bend = _Box([], "")
                bend.layer = layer
                self.boxes.append(bend)
                path.append(bend)
            path.append(target)
            for a, b in zip(path, path[1:]):
                a.below.append(b)
                b.above.append(a)
            self.edges.append(_Edge(path, _shape(y)))

    def add(self, lines: list[str], family: str, tip: str = "", first: bool = False, place: str = "") -> _Box:
        """Enter a box, after those that it reads from; `first` in front of all."""
        box = _Box(lines, family, tip, place)
        self.boxes.insert(0 if first else len(self.boxes), box)
        return box

    def layered(self) -> list[list[_Box]]:
        """The boxes by layer."""
        layers: list[list[_Box]] = [[] for _ in range(1 + max((box.layer for box in self.boxes), default=0))]
        for box in self.boxes:
            layers[box.layer].append(box)
        return layers

    def order(self) -> None:
        """Put the boxes of each layer in an order with few crossings."""
        place = {id(box): float(i) for layer in self.layers for i, box in enumerate(layer)}
        for sweep in range(8):
            down = sweep % 2 == 0
            for layer in self.layers if down else self.layers[::-1]:
                keys = {}
                for box in layer:
                    near = box.above if down else box.below
                    keys[id(box)] = sum(place[id(n)] for n in near) / len(near) if near else place[id(box)]
                layer.sort(key=lambda box: keys[id(box)])  # noqa: B023  used at once
                for i, box in enumerate(layer):
                    place[id(box)] = float(i)

    def place(self) -> None:
        """Give every box its place."""
        y = 0.0
        for layer in self.layers:
            tall = max((box.height for box in layer), default=0.0)
            x = 0.0
            for box in layer:
                box.x, box.y = x + box.width / 2, y + tall / 2
                x += box.width + _NODE_GAP
            y += tall + _LAYER_GAP
        for sweep in range(24):
            down = sweep % 2 == 0
            for layer in self.layers if down else self.layers[::-1]:
                wanted = []
                for box in layer:
                    near = (box.above if down else box.below) or (box.below if down else box.above)
                    wanted.append(sum(n.x for n in near) / len(near) if near else box.x)
                _spread(layer, wanted)
        left = min((box.x - box.width / 2 for box in self.boxes), default=0.0)
        for box in self.boxes:
            box.x -= left
        self.width = max((box.x + box.width / 2 for box in self.boxes), default=0.0) + 40
        self.width = max(self.width, _CHAR * len(self.title) + 20)
        self.height = y

    def drawn(self, x0: float, y0: float, framed: bool) -> str:
        """The panel as SVG."""
        parts = [f'<g transform="translate({x0:.1f},{y0:.1f})">']
        if framed:
            parts.append(f'<rect class="frame" x="-14" y="-22" width="{self.width:.1f}" height="{self.height + 14:.1f}" rx="10"/>')
            parts.append(f'<text class="small outside" x="-4" y="-8">{escape(self.title)}</text>')
        for edge in self.edges:
            parts.append(_curve(edge))
        for box in self.boxes:
            if not box.bend:
                parts.append(_drawn_box(box))
        parts.append("</g>")
        return "".join(parts)


def _spread(layer: list[_Box], wanted: list[float]) -> None:
    """Move the boxes of a layer to where they want to be, as far as their neighbours leave room."""
    groups: list[tuple[list[_Box], float, float]] = []  # boxes that touch, the place of the first's left end, their width
    for box, x in zip(layer, wanted):
        groups.append(([box], x - box.width / 2, box.width))
        while len(groups) > 1 and groups[-2][1] + groups[-2][2] + _NODE_GAP > groups[-1][1]:
            (a, ax, aw), (b, bx, bw) = groups[-2:]
            # Both as one; its place is the mean of where its boxes would go.
            joined = aw + _NODE_GAP + bw
            at = (len(a) * ax + len(b) * (bx - aw - _NODE_GAP)) / (len(a) + len(b))
            groups[-2:] = [(a + b, at, joined)]
    for boxes, x, _ in groups:
        for box in boxes:
            box.x = x + box.width / 2
            x += box.width + _NODE_GAP


def _curve(edge: _Edge) -> str:
    first, last = edge.path[0], edge.path[-1]
    points = [(first.x, first.y + first.height / 2), *((box.x, box.y) for box in edge.path[1:-1]), (last.x, last.y - last.height / 2)]
    text = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (ax, ay), (bx, by) in zip(points, points[1:]):
        middle = (ay + by) / 2
        text += f" C{ax:.1f},{middle:.1f} {bx:.1f},{middle:.1f} {bx:.1f},{by:.1f}"
    (ax, ay), (bx, by) = points[0], points[1]
    label = f'<text class="small outside" x="{(ax + bx) / 2 + 5:.1f}" y="{(ay + by) / 2 + 3:.1f}">{escape(edge.label)}</text>'
    return f'<path class="edge" d="{text}" marker-end="url(#tip)"/>{label}'


def _drawn_box(box: _Box) -> str:
    fill, border = _COLOURS.get(box.family, _COLOURS["other"])
    left, top = box.x - box.width / 2, box.y - box.height / 2
    round_ = box.height / 2 if box.family in ("data", "result") else 6
    tip = f"<title>{escape(box.tip)}</title>" if box.tip else ""
    place = f" {box.place}" if box.place else ""
    lines = "".join(
        f'<text class="{"small" if i else "name"}" x="{box.x:.1f}" y="{top + 17 + _LINE * i:.1f}" text-anchor="middle">{escape(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    return (
        f'<g{place}>{tip}<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{round_:.1f}" fill="{fill}" '
        f'stroke="{border}" stroke-width="1.2"/>{lines}</g>'
    )


def _family_of(node: Node) -> str:
    if node.is_control:
        return "control"
    from wherry_tensor.ops.declare import family_of

    return str(family_of(node.op))


_TELLING = ("strides", "paddings", "dilations", "kernel", "groups", "axis", "axes", "perm", "shape", "dtype", "transpose_y", "p")
_USUAL: dict[str, set[Any]] = {"strides": {1}, "dilations": {1}, "paddings": {0}, "groups": {1}, "transpose_y": {False}}


def _lines_of(node: Node) -> list[str]:
    """The text of the box: the op, what tells it from others of its kind, and the shapes of its parameters."""
    lines = [node.type]
    told = []
    for name, value in node.named_attrs().items():
        if name not in _TELLING:
            continue
        parts: set[Any] = set() if _is_size(value) else set(value) if type(value) is tuple else {value}
        if parts and parts <= _USUAL.get(name, set()):
            continue
        told.append(f"{name} {_short(value)}")
    text = ", ".join(told)
    if text:
        lines.append(text if len(text) <= 44 else text[:43] + "…")
    held = [x for x in node.inputs if x is not None and (x.bound is not None or x.is_parameter or x.persistable)]
    for x in held[:4]:
        if x.bound is not None and not x.persistable and not x.sizes:
            lines.append(str(x.bound.item()))
        else:
            lines.append(f"{x.name} {_shape(x)}" if len(x.name) <= 30 else f"…{x.name[-28:]} {_shape(x)}")
    if len(held) > 4:
        lines.append(f"and {len(held) - 4} more")
    return lines


def _is_size(value: Any) -> bool:
    return type(value) is Size or (type(value) is tuple and any(type(v) is Size for v in value))


def _short(value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if type(value) is tuple:
        shown = [_short(v) for v in value]
        return shown[0] if len(set(shown)) == 1 and len(shown) > 1 else "[" + ", ".join(shown) + "]"
    return "?" if type(value) is Size else str(value)


def _shape(x: Variable) -> str:
    return "list" if x.is_array else " × ".join("?" if n < 0 else str(n) for n in x.sizes) or "number"
