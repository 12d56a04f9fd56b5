"""Tell a column, in Chromium: a table that is dropped is learned from, better than a straight line does."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import until  # noqa: E402

ROWS = 400
# Two numbers and a word; the target bends, so that a plane cannot tell it.
DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, { type: "text/csv" }));
  const place = document.getElementById("bring");
  for (const kind of ["dragover", "drop"]) place.dispatchEvent(new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


def measured() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    heat, wind, soil = random.uniform(0, 30, ROWS), random.uniform(0, 12, ROWS), random.integers(0, 3, ROWS)
    return heat, wind, soil, 20 + 15 * np.sin(heat / 5) - 2 * wind + 12 * (soil == 1) + random.normal(0, 1, ROWS)


def table() -> str:
    rows = zip(*measured(), strict=True)
    return "heat;wind;soil;crop\n" + "\n".join(f"{a:.3f};{b:.3f};{('sand', 'loam', 'clay')[c]};{d:.3f}" for a, b, c, d in rows)


def straight() -> float:
    """R² of scikit-learn's linear regression on rows that it did not learn from."""
    linear = pytest.importorskip("sklearn.linear_model")
    heat, wind, soil, crop = measured()
    inputs = np.column_stack([heat, wind, soil == 0, soil == 1])
    return float(linear.LinearRegression().fit(inputs[80:], crop[80:]).score(inputs[:80], crop[:80]))


@pytest.fixture
def taught(visit):
    """The page with a network that has learned from the dropped table."""
    page = visit().open("/table")
    page.evaluate(DROP, ["crops.csv", table()])
    until(page, "document.getElementById('status').textContent.includes('crops.csv is open: 400 rows, 4 columns')")
    assert page.input_value("#target") == "crop"
    name, _, holds, missing = page.locator("#columns tbody tr:visible").all_inner_texts()[2].split("\t")
    assert (name, set(re.findall(r"\w+", holds)), missing) == ("soil", {"3", "words", "clay", "loam", "sand"}, "0")
    page.click("#run")
    until(page, "document.getElementById('status').textContent.startsWith('Trained:')")
    return page


def test_a_dropped_table_is_learned_from(taught):
    far = float(taught.get_attribute("#answer", "data-r2"))
    assert far > 0.9 > straight() + 0.1  # a plane finds no sine
    assert "of the variance (R²)" in taught.inner_text("#held")
    assert taught.evaluate("""() => ["fit", "residuals"].every((name) => {
        const canvas = document.getElementById(name);
        return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
    })""")
    told = {}
    for soil in ("clay", "loam"):
        taught.fill("#ask [name=heat]", "8")
        taught.fill("#ask [name=wind]", "3")
        taught.select_option("#ask [name=soil]", soil)
        taught.wait_for_timeout(1000)  # the worker answers each change in turn
        told[soil] = float(re.search(r"crop: (-?[\d.]+)", taught.inner_text("#told"))[1])
    assert told["loam"] - told["clay"] == pytest.approx(12, abs=3)
    assert told["clay"] == pytest.approx(20 + 15 * np.sin(8 / 5) - 6, abs=3)


def test_the_file_that_is_taken_away_answers_the_same(taught, browser, tmp_path):
    from wherry_export.web import engine_files

    if engine_files.missing():
        pytest.skip("no engine: make engine")
    taught.fill("#ask [name=heat]", "8")
    taught.fill("#ask [name=wind]", "3")
    taught.select_option("#ask [name=soil]", "clay")
    with taught.expect_download() as download:
        taught.click("#save")
    download.value.save_as(tmp_path / "table.html")
    told = float(re.search(r"crop: (-?[\d.]+)", taught.inner_text("#told"))[1])
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "table.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    for column, value in ("heat", "8"), ("wind", "3"):
        page.get_by_label(column, exact=True).fill(value)
    page.get_by_label("soil", exact=True).select_option(label="clay")
    until(page, f"Math.abs(Number(document.getElementById('said').textContent.match(/crop: (-?[\\d.]+)/)?.[1]) - {told}) < 0.02")
    context.close()


def test_a_table_without_numbers_is_refused(visit):
    page = visit().open("/table")
    page.evaluate(DROP, ["words.csv", "a,b\n" + "x,y\nz,w\n" * 20])
    until(page, "document.getElementById('status').dataset.kind === 'error'")
    assert "No column of this table holds numbers" in page.inner_text("#status")
    assert page.is_disabled("#run")
