"""How the page Read text finds lines in a detector's map and reads them: its JavaScript, in Node."""
import json
import shutil
import subprocess

import pytest

from wherry_web.files import STATIC

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
SIDE = 160
START = f"""
import {{ linesIn, outline, place, readOut, straightened, HEIGHT }} from "{(STATIC / 'js' / 'text-lines.js').as_uri()}";
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
        assert height == pytest.approx(2.4 * bar_height, rel=0.1)


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
    read = run(f"console.log(JSON.stringify(readOut(Float32Array.from({probabilities}), {labels})));")
    assert read["text"] == "aab" and read["sure"] == pytest.approx(0.9)
