"""The page Your model in Chromium: files come in, the graph is looked at, the program answers, and nothing hangs."""
from __future__ import annotations

import json
import os
import struct
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from conftest import CHROMIUM, NUMPY, Visit, until  # noqa: E402

IMAGES = os.environ.get("WHERRY_IMAGES")
ANSWERED = "Number(document.getElementById('answers').dataset.runs ?? 0) >= {}"
SETTLED = "document.body.dataset.opened !== undefined || document.getElementById('status').dataset.kind === 'error'"


def put(page, *files: Path | tuple[str, bytes]) -> str:
    """Choose files and wait until the model is open or refused; returns what the page says."""
    given = [file if isinstance(file, Path) else {"name": file[0], "mimeType": "application/octet-stream", "buffer": file[1]} for file in files]
    page.evaluate("delete document.body.dataset.opened; document.getElementById('status').dataset.kind = ''")
    page.set_input_files("#files", given)
    until(page, SETTLED)
    return page.inner_text("#status")


def example(page) -> None:
    page.wait_for_selector("#example:enabled")
    page.click("#example")
    page.wait_for_selector("body[data-opened]")


def run(page) -> None:
    before = int(page.evaluate("document.getElementById('answers').dataset.runs ?? 0"))
    page.click("#run")
    until(page, f"{ANSWERED.format(before + 1)} || document.getElementById('status').dataset.kind === 'error'")


def view(page) -> list[float]:
    return [float(n) for n in page.get_attribute("#graph", "data-view").split()]


def picture_of(page) -> str:
    """The texts of the picture, which stands in a shadow tree."""
    return page.evaluate("[...document.querySelector('#graph > div').shadowRoot.querySelectorAll('text')].map((text) => text.textContent).join('|')")


def saved(folder: Path, name: str, net, *spec) -> tuple[Path, Path]:
    import wherry as paddle

    net.eval()
    paddle.jit.save(net, str(folder / name), input_spec=list(spec))
    return folder / f"{name}.pdmodel", folder / f"{name}.pdiparams"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[Path, Path]:
    """Two inputs, one of them words, and two results, one of them a picture."""
    import wherry as paddle
    from wherry.static import InputSpec

    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.table = paddle.nn.Embedding(11, 4)
            self.lift = paddle.nn.Linear(4, 3)

        def forward(self, words, picture):
            return self.lift(self.table(words).mean(axis=1)), paddle.nn.functional.relu(picture)

    paddle.seed(0)
    spec = InputSpec([None, None], "int64", "words"), InputSpec([1, 3, 16, 24], "float32", "picture")
    return saved(tmp_path_factory.mktemp("small"), "small", Net(), *spec)


@pytest.fixture(scope="module")
def endless(tmp_path_factory) -> Path:
    """A loop that would go on for hours."""
    import wherry_tensor as wt
    from wherry_paddle_files.models import write_program
    from wherry_program import Program
    from wherry_program.program.capture import capture
    from wherry_program.program.control import while_loop

    program = Program()
    x = program.feed([4], wt.float32, "x")
    with capture(program):
        last = wt.full([], 10**12, "int64")
        _i, y = while_loop(lambda i, y: i < last, lambda i, y: (i + 1, y.tanh()), [wt.full([], 0, "int64"), x])
        program.fetches = [y]
    file = tmp_path_factory.mktemp("endless") / "endless.pdmodel"
    file.write_bytes(write_program(program))
    return file


def test_the_example_recognises_a_digit(visit):
    one = visit()
    page = one.open("/model")
    sent: list[str] = []
    example(page)
    one.context.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    assert "61,610" in page.inner_text("#about")
    run(page)
    assert page.inner_text("#answers .bars .best .label") == "0"
    assert "100.0 %" in page.inner_text("#answers .bars .best")
    assert "conv2d_blocked" in page.inner_text("#ops") and "µs" in page.inner_text("#time")
    assert "246.4 kB" in page.inner_text("#memory")
    assert sent == [], "the answer was made in the tab"
    page.click("#inputs button:has-text('Clear')")
    run(page)
    page.select_option("#answers select", "Values")
    assert len(page.inner_text("#answers pre").split()) == 10


def test_the_graph_is_the_picture_of_the_command_line_and_is_searched(visit, tmp_path):
    import wherry as paddle
    from wherry.static import InputSpec
    from wherry_paddle_files.models import read_program
    from wherry_program.program.picture import to_svg

    net = paddle.vision.models.mobilenet_v2(scale=0.35, num_classes=10)
    model, params = saved(tmp_path, "mobilenet", net, InputSpec([None, 3, 96, 96], "float32", "image"))
    page = visit().open("/model")
    assert put(page, model, params) == "mobilenet is open."
    drawn = ElementTree.fromstring(to_svg(read_program(model.read_bytes()), "mobilenet"))
    assert picture_of(page).split("|") == [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "? × 3 × 96 × 96" in picture_of(page)  # noqa: RUF001

    page.fill("#search", "reduce_mean")
    assert page.inner_text("#matches").startswith("1 found")
    before = view(page)
    page.keyboard.press("Enter")
    assert view(page) != before
    marked = "document.querySelector('#graph > div').shadowRoot.querySelector('g.chosen')"
    inside = (
        f"(() => {{ const a = {marked}.getBoundingClientRect(), b = document.getElementById('graph').getBoundingClientRect();"
        " return a.top > b.top && a.bottom < b.bottom; })()"
    )
    assert page.evaluate(inside)
    assert "reduce_mean(" in page.inner_text("#chosen")
    parameter = next(node.inputs[1].name for node in read_program(model.read_bytes()).nodes if node.type == "matmul")
    page.fill("#search", parameter)  # a parameter is found by the box that reads it
    page.click("#results button >> nth=0")
    assert page.evaluate(f"{marked}.querySelector('text').textContent") == "matmul" and page.evaluate(inside)

    page.click("#fit")
    assert view(page)[2] < 0.2
    page.click("#top")
    _x, y, scale = view(page)
    page.focus("#graph")
    page.keyboard.press("+")
    assert view(page)[2] == pytest.approx(scale * 1.3, abs=0.01)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert view(page)[1] == pytest.approx(y + 60 / scale, abs=0.1)
    box = page.locator("#graph").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 100, steps=5)
    page.mouse.up()
    assert view(page)[1] == pytest.approx(y + 160 / scale, abs=6)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    until(page, f"Number(document.getElementById('graph').dataset.view.split(' ')[2]) > {scale * 1.5}", 5)
    with page.expect_download() as download:
        page.click("#save-svg")
    assert download.value.suggested_filename == "mobilenet.svg"
    assert ElementTree.fromstring(download.value.path().read_text()).get("viewBox") == drawn.get("viewBox")


def test_rows_of_the_table_are_sorted_and_lead_to_boxes(visit):
    page = visit().open("/model")
    example(page)
    page.uncheck("#fused")
    run(page)
    column = "[...document.querySelectorAll('#ops tbody tr')].map((row) => row.cells[{}].textContent)"
    assert page.evaluate(column.format(1))[:3] == ["conv2d", "add", "relu"]
    page.click("#ops th button[data-key=op]")
    assert page.evaluate(column.format(1)) == sorted(page.evaluate(column.format(1)))
    page.click("#ops th button[data-key=milliseconds]")
    assert page.get_attribute("#ops th:nth-child(3)", "aria-sort") == "descending"
    shares = [float(text.split()[0]) for text in page.evaluate(column.format(3))]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(100, abs=1)
    page.click("#ops td button:has-text('max_pool2d') >> nth=0")
    assert page.inner_text("#chosen").count("max_pool2d(") == 1


def test_inputs_of_all_kinds_become_a_form(visit, small):
    page = visit().open("/model")
    assert put(page, *small) == "small is open."
    words, picture = page.locator("#inputs fieldset").all()
    assert "words: int64 [?, ?]" in words.inner_text()
    words.locator("input[type=number]").nth(1).fill("3")
    words.locator("input[type=number]").nth(1).press("Tab")
    words.locator("textarea").fill("1, 2 10")
    assert picture.locator("canvas").count() == 1
    run(page)
    assert page.inner_text("#status") == "small answered."
    scores, image = page.locator("#answers .answer").all()
    assert "[1, 3]" in scores.inner_text() and "[1, 3, 16, 24]" in image.inner_text()
    assert image.locator("select").input_value() == "Picture" and image.locator("canvas").get_attribute("width") == "24"
    for wrong, says in (("1 2", "got 2 numbers, expected 3"), ("1 2 x", 'number 3 is "x", expected a whole number'), ("1 2 11", "11")):
        words.locator("textarea").fill(wrong)
        run(page)
        assert says in page.inner_text("#status"), page.inner_text("#status")
        assert page.get_attribute("#status", "role") == "alert"
    words.locator("select").select_option("chance")
    picture.locator("select").first.select_option("chance")
    run(page)
    assert page.inner_text("#status") == "small answered."


def test_labels_come_from_a_file(visit, small):
    page = visit().open("/model")
    put(page, *small)
    run(page)
    assert "class 0" in page.inner_text("#answers")
    page.set_input_files("#labels", {"name": "names.txt", "mimeType": "text/plain", "buffer": b"ape\nbee\ncat\n"})
    until(page, "document.getElementById('answers').textContent.includes('bee')")


def test_a_picture_from_a_file_is_what_the_program_gets(visit, small):
    page = visit().open("/model")
    put(page, *small)
    png = page.evaluate("""async () => {
      const canvas = new OffscreenCanvas(48, 32), context = canvas.getContext("2d");
      context.fillStyle = "#f00";
      context.fillRect(0, 0, 48, 32);
      return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
    }""")
    picture = page.locator("#inputs fieldset").nth(1)
    picture.locator("input[type=file]").set_input_files({"name": "red.png", "mimeType": "image/png", "buffer": bytes(png)})
    until(page, "document.getElementById('status').textContent.startsWith('red.png is')")
    picture.locator("label:has-text('Pixels become') select").select_option("0 to 1")
    run(page)
    assert "min 0 · max 1 · mean 0.333333" in page.locator("#answers .answer").nth(1).inner_text()
    picture.locator("input[type=file]").set_input_files({"name": "text.png", "mimeType": "image/png", "buffer": b"no picture"})
    until(page, "document.getElementById('status').textContent.includes('cannot be read as a picture')")


@pytest.fixture
def camera(playwright, site):
    chromium = playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
    )
    yield Visit(chromium, site)
    chromium.close()


def test_a_picture_comes_from_the_camera_which_is_given_back(camera, small):
    page = camera.open("/model")
    put(page, *small)
    picture = page.locator("#inputs fieldset").nth(1)
    page.evaluate("""() => {
      const get = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wanted) => (globalThis.camera = await get(wanted));
    }""")
    picture.locator("button:has-text('Camera')").click()
    picture.locator("video").wait_for(state="visible")
    picture.locator("button:has-text('Take the picture')").click()
    picture.locator("canvas").wait_for(state="visible")
    assert page.evaluate("camera.getTracks().every((track) => track.readyState === 'ended')")
    colours = "new Set(document.querySelector('#inputs canvas').getContext('2d').getImageData(0, 0, 200, 100).data).size"
    assert page.evaluate(colours) > 3
    run(page)
    assert page.inner_text("#status") == "small answered."
    page.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('Permission denied', 'NotAllowedError'); } }")
    picture.locator("button:has-text('Camera')").click()
    until(page, "document.getElementById('status').textContent.startsWith('The camera did not open: Permission denied')")
    assert camera.problems == []


def test_a_program_alone_is_drawn_and_runs_once_its_parameters_come(visit, small):
    page = visit().open("/model")
    assert "bring its .pdiparams" in put(page, small[0])
    assert page.is_disabled("#run") and "embedding" in picture_of(page)
    assert put(page, small[1]) == "small is open."
    run(page)
    assert page.inner_text("#status") == "small answered."


def test_wrong_files_are_explained_and_the_next_one_opens(visit, small, tmp_path):
    model, params = (file.read_bytes() for file in small)
    page = visit().open("/model")
    wrong = [
        ([("net.tflite", b"x")], "tf2onnx"), ([("cat.png", b"x")], "is not a model"),
        ([("net.json", b"{}")], "was not opened: "), ([("a.pdiparams", params)], "holds parameters alone"),
        ([("a.pdmodel", model), ("b.pdmodel", model)], "Bring one model at a time"), ([("a.pdmodel", b"")], "empty"),
        ([("a.pdmodel", b"hello, this is text")], "was not opened: "), ([("a.pdmodel", model[: len(model) // 2])], "was not opened: "),
        ([("a.pdmodel", model), ("a.pdiparams", params[:100])], "was not opened: "),
        ([("a.pdmodel", model), ("a.pdiparams", b"")], "was not opened: "),
        ([("a.pdmodel", bytes(33 << 20))], "expected at most 32 MiB"),
    ]
    for files, says in wrong:
        text = put(page, *files)
        assert says in text and len(text) < 900 and "Traceback" not in text, text
        assert page.get_attribute("#status", "role") == "alert"
    assert put(page, *small) == "small is open."
    run(page)
    assert page.inner_text("#status") == "small answered."


def test_a_program_of_paddle_3_opens_and_says_what_it_holds(visit, tmp_path):
    import wherry as paddle
    from wherry.static import InputSpec

    paddle.seed(0)
    paddle.set_flags({"FLAGS_enable_pir_api": True})
    try:
        paddle.jit.save(paddle.nn.Linear(3, 4), str(tmp_path / "net"), input_spec=[InputSpec([None, 3], "float32", "x")])
    finally:
        paddle.set_flags({"FLAGS_enable_pir_api": False})
    page = visit().open("/model")
    assert put(page, tmp_path / "net.json", tmp_path / "net.pdiparams") == "net is open."
    held = page.inner_text("#held")
    assert "Paddle 3 program" in held and "all operators are" in held and "2 (2 float32)" in held
    page.click("#held-parameters summary")
    assert "[3, 4]" in page.inner_text("#held-parameters tbody tr >> nth=0")
    run(page)
    assert page.inner_text("#status") == "net answered."


@pytest.fixture
def others(tmp_path) -> dict[str, Path]:
    """Files that take NumPy in the page."""
    if NUMPY is None:
        pytest.skip("no NumPy for Pyodide: make wasm builds it")
    import wherry as paddle
    from wherry.static import InputSpec

    paddle.seed(0)
    net = paddle.nn.Linear(3, 4)
    paddle.save(net.state_dict(), str(tmp_path / "weights.safetensors"))
    paddle.save(net.state_dict(), str(tmp_path / "weights.pdparams"))
    onnx = Path(paddle.onnx.export(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 3], "float32", "x")]))
    name = b"weight"
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", len(name)) + name + struct.pack("<IQIQ", 1, 4, 0, 0)
    (tmp_path / "weights.gguf").write_bytes(head + bytes(-len(head) % 32) + struct.pack("<4f", 1, 2, 3, 4))
    return {
        "onnx": onnx, "pt2": Path(__file__).parents[1] / "data" / "pt2" / "images.pt2",
        **{ending: tmp_path / f"weights.{ending}" for ending in ("safetensors", "pdparams", "gguf")},
    }


def test_files_of_other_formats_open(visit, serve, others):
    page = visit(site=serve(NUMPY)[0]).open("/model")
    for ending, says in (("onnx", "ONNX model, opset"), ("pt2", "PyTorch program (torch.export)")):
        assert put(page, others[ending]).endswith(" is open."), ending
        assert says in page.inner_text("#held") and picture_of(page)
        run(page)
        assert page.inner_text("#status").endswith(" answered.")
    for ending in ("safetensors", "pdparams", "gguf"):
        assert "There is nothing to draw and run: The file holds weights" in put(page, others[ending])
        assert f"weights (.{ending})" in page.inner_text("#held") and page.locator("#graph").is_hidden() and page.is_disabled("#run")
        assert "weight" in page.locator("#held-parameters").text_content()
    assert "was not opened: " in put(page, ("net.onnx", b"no model"))


def test_stop_ends_what_runs_and_keeps_the_model(visit, endless):
    page = visit().open("/model")
    assert put(page, endless) == "endless is open."
    page.click("#run")
    page.wait_for_selector("#stop:enabled")
    time.sleep(0.5)
    assert page.inner_text("#status") == "Running …"
    page.click("#stop")
    until(page, "document.getElementById('status').textContent.startsWith('Stopped. endless is still open')")
    assert page.is_enabled("#run") and page.is_disabled("#stop")
    page.click("#run")  # runs again, and another model may come meanwhile
    page.wait_for_selector("#stop:enabled")
    page.click("#example")
    until(page, "document.body.dataset.opened === 'LeNet'")
    run(page)
    assert page.inner_text("#answers .bars .best .label") == "0"


def test_names_that_are_markup_stay_text(visit, tmp_path):
    import wherry as paddle
    from wherry_paddle_files.models import write_program
    from wherry_program import Program
    from wherry_program.program.capture import capture

    name = "<img src=x onerror=document.body.dataset.owned=1></text><script>document.body.dataset.owned=1</script>"
    program = Program()
    x = program.feed([2], paddle.float32, name)
    with capture(program):
        program.fetches = [x * 2]
    page = visit().open("/model")
    put(page, ("evil.pdmodel", write_program(program)))
    assert name in picture_of(page)
    page.fill("#search", "script")
    page.keyboard.press("Enter")
    run(page)
    assert page.evaluate("document.body.dataset.owned") is None


def test_dropped_files_are_opened(visit, small):
    page = visit().open("/model")
    page.evaluate("""([model, params]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(model)], "dropped.pdmodel"));
      transfer.items.add(new File([new Uint8Array(params)], "dropped.pdiparams"));
      document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }""", [list(file.read_bytes()) for file in small])
    until(page, "document.body.dataset.opened === 'dropped'")


def test_pictures_of_the_page(visit, tmp_path):
    folder = Path(IMAGES or tmp_path)
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme, viewport={"width": 1100, "height": 1400}).open("/model")
        example(page)
        run(page)
        page.screenshot(path=folder / f"model-{scheme}.png")
    phone = visit(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True).open("/model")
    example(phone)
    run(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert json.loads(phone.evaluate("JSON.stringify(document.body.dataset)"))["opened"] == "LeNet"
    assert all(picture.stat().st_size <= 250_000 for picture in folder.glob("model-*.png"))
