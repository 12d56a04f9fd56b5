# ruff: noqa: RUF001  sizes are written with the sign of multiplication
"""Programs as pictures."""
from xml.etree import ElementTree

import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.program.control import cond, while_loop
from wherry_program.program.picture import _Panel, to_svg
from wherry_tensor import float32, int64

SVG = "{http://www.w3.org/2000/svg}"


def drawn(program):
    return ElementTree.fromstring(to_svg(program, "A <program> & more"))


def words(root):
    return [text.text for text in root.iter(f"{SVG}text")]


def test_every_node_stands_there_with_its_parameters_and_shapes():
    net = nn.Sequential(nn.Conv2D(3, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 2))
    program = Program()
    x = program.feed([-1, 3, 8, 8], float32, "image")
    with capture(program):
        program.fetches = [net(x)]
    root = drawn(program)
    found = words(root)
    assert {"A <program> & more", "image", "conv2d", "relu", "linear", "strides 2", "? × 3 × 8 × 8", "? × 4 × 3 × 3"} <= set(found)
    assert f"{net[0].weight.name} 4 × 3 × 3 × 3" in found
    assert len(list(root.iter(f"{SVG}path"))) >= len(program.nodes)


def test_boxes_do_not_overlap():
    program = Program()
    x = program.feed([-1, 4], float32, "x")
    with capture(program):
        parts = [x * float(i) for i in range(7)]
        y = parts[0]
        for part in parts[1:]:
            y = y.tanh() + part
        program.fetches = [y, parts[3]]
    panel = _Panel(program.blocks[0], program.feeds, program.fetches, "")
    boxes = [box for box in panel.boxes if not box.bend]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
            assert apart, (a.lines, b.lines)
        assert all(other.y < a.y for other in a.above)


def test_branches_and_loops_have_frames_of_their_own():
    program = Program()
    x, n = program.feed([-1, 4], float32, "x"), program.feed([], int64, "n")
    with capture(program):
        y = cond(x.sum() > 0, lambda: x * 2, lambda: x - 1)
        _i, y = while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y.tanh()), [wt.full([], 0, "int64"), y])
        program.fetches = [y]
    root = drawn(program)
    assert len([r for r in root.iter(f"{SVG}rect") if r.get("class") == "frame"]) == 4
    assert any(text and text.endswith("if true") for text in words(root))
    assert any(text and text.endswith("a round") for text in words(root))


def test_an_empty_program_is_a_picture_too():
    assert drawn(Program()).tag == f"{SVG}svg"


def test_boxes_say_which_node_input_or_result_they_are():
    program = Program()
    x = program.feed([-1, 4], float32, "x")
    with capture(program):
        y = cond(x.sum() > 0, lambda: x * 2, lambda: x - 1)
        program.fetches = [y.tanh()]
    places = [dict(group.attrib) for group in drawn(program).iter(f"{SVG}g") if "transform" not in group.attrib]
    nodes = {place["data-node"] for place in places if "data-node" in place}
    assert nodes == {f"{block.index}:{i}" for block in program.blocks for i in range(len(block.nodes))}
    assert [place for place in places if "data-feed" in place] == [{"data-feed": "0"}]
    assert [place for place in places if "data-fetch" in place] == [{"data-fetch": "0"}]


def test_a_program_that_is_too_large_to_draw_says_so_before_it_is_laid_out():
    program = Program()
    x = program.feed([4], float32, "x")
    with capture(program):
        y = x
        for _ in range(300):
            y = y * x  # the edge from x passes all layers before
        program.fetches = [y]
    assert to_svg(program, most=50_000)
    with pytest.raises(ValueError, match=r"too large to draw. Got \d+ boxes and bends of edges in a block, expected at most 40000"):
        to_svg(program, most=40_000)
