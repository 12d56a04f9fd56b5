"""docs/reading.md: each file and line that it names holds the definition that it names."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.append(str(ROOT / "tools"))
import reading  # noqa: E402


@pytest.mark.parametrize("page", reading.PAGES, ids=lambda page: page.name)
def test_references_lead_to_definitions(page):
    text, faults = reading.checked(page)
    assert not faults, "\n".join(faults)
    assert text == page.read_text()
    assert len(reading.REFERENCE.findall(text)) > 40


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("    def step(self) -> None:", "step", True),
        ("        optimizer.step()", "step", False),
        ("cdef int perform(Op op, PyObject **inputs,", "perform", True),
        ("    perform(op, inputs, n, attrs, outs, NULL, thread)", "perform", False),
        ('add = op("add", "x, y")', "add", True),
        ('    NUMBERS("add", Add),', "add", True),
        ("WRY_ARITHMETIC(Add, +)", "Add", True),
        ("WRY_INLINE int pointwise2(const wry_call *call, const F &f) {", "pointwise2", True),
        ("  return pointwise2<T, T, T>(call, F());", "pointwise2", False),
        ("export async function load(url, { signal } = {}) {", "load", True),
        ("  async predict(inputs) {", "predict", True),
        ("typedef struct wry_call {", "wry_call", True),
        ("class Node(NodeMembers):", "Node", True),
        ("class Nodes:", "Node", False),
    ],
)
def test_what_a_definition_looks_like(line, name, expected):
    assert reading.defines(line, name) is expected


def test_a_method_is_looked_for_behind_its_class():
    text = "def step(): pass\n\n\nclass A:\n    def other(self): pass\n\n    def step(self): pass\n"
    assert reading.line_of(text, "step") == 1
    assert reading.line_of(text, "A.step") == 7
    assert reading.line_of(text, "A.missing") is None
