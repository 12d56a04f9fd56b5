"""How the page Read text finds lines in a detector's map and reads them: its JavaScript, in Node."""
import itertools
import json
import math
import shutil
import subprocess

import pytest

from wherry_web.files import STATIC

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
SIDE = 160
START = f"""
import {{ linesIn, outline, place, logLikelihood, readOut, straightened, HEIGHT }} from "{(STATIC / 'js' / 'text-lines.js').as_uri()}";
const SIDE = {SIDE};
// A map with the middle of one line: from column `from` to `to`, its row a function, `high` pixels high.
function bar(from, to, row, high, map = new Float32Array(SIDE * SIDE)) {{
  for (let x = from; x < to; x++) for (let y = 0; y < SIDE; y++) if (Math.abs(y + 0.5 - row(x)) < high / 2) map[y * SIDE + x] = 0.9;
  return map;
}}
"""


def run(code):
    done = subprocess.run(["node", "--input-type=module", "-e", START + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_lines_are_found_in_the_order_of_reading():
    lines = run("""
      const map = bar(20, 60, () => 100, 8);
      bar(90, 140, () => 101, 8, map); bar(30, 130, () => 40, 10, map);
      map[5 * SIDE + 5] = 1;  // a speck
      console.log(JSON.stringify(linesIn(map, SIDE).map(({ middle, from, to, height }) => [...middle, to - from, height])));
    """)
    assert [[round(x), round(y)] for x, y, *_ in lines] == [[80, 40], [40, 100], [115, 101]]
    for (_, _, length, height), (bar_length, bar_height) in zip(lines, [(100, 10), (40, 8), (50, 8)]):
        assert length == pytest.approx(bar_length + 1.5 * bar_height, rel=0.05)  # the ends that were cut off
        assert height == pytest.approx(2.9 * bar_height, rel=0.1)


@pytest.mark.parametrize("row", ["60 + 0.2 * (x - 80)", "60 - 0.1 * (x - 80)", "80 - 0.006 * (x - 80) ** 2", "40 + 0.006 * (x - 80) ** 2"])
def test_tilted_and_bent_lines_are_followed(row):
    apart = run(f"""
      const [line, ...others] = linesIn(bar(20, 140, (x) => {row}, 8), SIDE);
      const apart = [];
      for (let u = -50; u <= 50; u += 10) {{
        const [x, y] = place(line, u, 0);
        apart.push(Math.abs(y - ({row})));
      }}
      console.log(JSON.stringify([others.length, Math.max(...apart), outline(line).flat().every(Number.isFinite)]));
    """)
    assert apart[0] == 0 and apart[1] < 1.2 and apart[2] is True


def test_a_line_is_made_straight():
    """A picture whose rows are as bright as they are far from a bent line is, made straight, the same in all columns."""
    columns = run("""
      const row = (x) => 80 - 0.006 * (x - 80) ** 2;
      const [line] = linesIn(bar(20, 140, row, 8), SIDE);
      const image = { width: 2 * SIDE, height: 2 * SIDE, data: new Uint8ClampedArray(16 * SIDE * SIDE).fill(255) };
      for (let y = 0; y < 2 * SIDE; y++) for (let x = 0; x < 2 * SIDE; x++) for (let c = 0; c < 3; c++)
        image.data[(y * 2 * SIDE + x) * 4 + c] = Math.abs(y / 2 - row(x / 2)) < 3 ? 0 : 255;
      const { data, width } = straightened(line, image, 2);
      const dark = [];
      for (let x = 12; x < width - 12; x++) {
        let sum = 0, weight = 0;
        for (let y = 0; y < HEIGHT; y++) { const ink = (1 - data[y * width + x]) / 2; sum += ink * (y + 0.5); weight += ink; }
        dark.push(sum / weight);
      }
      console.log(JSON.stringify([width, Math.min(...dark), Math.max(...dark)]));
    """)
    width, low, high = columns
    assert width % 4 == 0 and 180 < width < 280
    assert low > 13.5 and high < 18.5  # around the middle of 32


def test_a_map_that_is_all_text_and_one_without_any_are_borne():
    assert run("""
      const maps = [new Float32Array(640 * 640).fill(0.9), new Float32Array(640 * 640)];
      console.log(JSON.stringify(maps.map((map) => linesIn(map, 640).length)));
    """) == [1, 0]


def test_the_classes_of_the_steps_become_text():
    labels = ["", "a", "b", " "]
    steps = [0, 1, 1, 0, 1, 2, 2, 3, 3, 0]
    probabilities = [0.9 if c == step else 0.03 for step in steps for c in range(4)]
    read = run(f"console.log(JSON.stringify(readOut([Float32Array.from({probabilities})], {labels})));")
    assert read["text"] == "aab" and read["sure"] == pytest.approx(0.9)


def test_of_what_several_views_say_the_likeliest_of_all_is_taken():
    """Two views of three columns, and one of four: the first is for "a" by a hair, the others are sure of "b"."""
    views = [[[0.8, 0.1, 0.1], [0.1, 0.46, 0.44], [0.8, 0.1, 0.1]], [[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.2, 0.1, 0.7], [0.9, 0.05, 0.05]]]
    read = run(f"console.log(JSON.stringify(readOut({views}.map((view) => Float32Array.from(view.flat())), ['', 'a', 'b'])));")
    assert read["text"] == "b" and read["sure"] == pytest.approx((0.46 + 0.8) / 2)
    wanted = [(), (1,), (2,), (1, 2), (2, 1), (1, 1), (2, 2), (1, 2, 1)]
    likely = run(f"""
      const view = Float32Array.from({views[1]}.flat());
      console.log(JSON.stringify({[list(classes) for classes in wanted]}.map((classes) => Math.exp(logLikelihood(view, 3, classes)))));
    """)
    # Each sum over all ways to spread the classes over the columns, by trying all ways.
    every = {}
    for columns in itertools.product(range(3), repeat=4):
        classes = tuple(c for before, c in zip((0, *columns), columns) if c and c != before)
        every[classes] = every.get(classes, 0) + math.prod(view[c] for view, c in zip(views[1], columns))
    assert likely == pytest.approx([every.get(classes, 0) for classes in wanted], rel=1e-5)


def test_parts_of_a_line_beside_a_wide_space_are_one_line():
    lines = run("""
      const row = (x) => 60 + 0.1 * (x - 80);
      const map = bar(20, 70, row, 8);
      bar(86, 140, row, 8, map);  // goes on
      bar(20, 60, () => 120, 8, map); bar(100, 140, () => 120, 8, map);  // too far
      bar(20, 60, () => 95, 8, map); bar(70, 120, () => 95, 16, map);  // as high again
      console.log(JSON.stringify(linesIn(map, SIDE).map(({ from, to, height }) => [to - from, height])));
    """)
    assert len(lines) == 5
    assert lines[0] == [pytest.approx(120 + 12, rel=0.03), pytest.approx(2.9 * 8, rel=0.1)]


@pytest.mark.parametrize(("labels", "read", "doubt", "text"), [
    (["", "5", "O", "0"], [1, 2], 3, "50"), (["", "ρ", "Θ", "θ"], [1, 2], 3, "ρθ"), (["", "P", "a", "а"], [1, 3], 2, "Pa"),  # noqa: RUF001
    (["", "5", "0", "O"], [1, 2], 3, "50"), (["", ".", "O", "0"], [1, 2], 3, ".O"),
])
def test_neighbours_say_which_of_two_that_look_alike_it_is(labels, read, doubt, text):
    steps = [[0.97 if c == read[0] else 0.01 for c in range(4)], [0.97, 0.01, 0.01, 0.01],
             [0.58 if c == read[1] else 0.4 if c == doubt else 0.01 for c in range(4)]]
    found = run(f"console.log(JSON.stringify(readOut([Float32Array.from({steps}.flat())], {labels})));")
    assert found["text"] == text
