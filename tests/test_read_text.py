"""The networks of the page Read text, from the weights in examples/data: as programs they read natively, alone and through paddleocr of PyPI."""
from __future__ import annotations

import difflib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle

ROOT = Path(__file__).resolve().parent.parent
LINES = ["Deutschland 1984", "Fahrt nach Lyon", "Ελλάδα 12:30"]
OCR = """
import sys
import wherry
wherry.alias_paddle()
import numpy as np
from paddleocr import PaddleOCR
from PIL import Image
models, picture = sys.argv[1:]
ocr = PaddleOCR(det_model_dir=f"{models}/read-detector", rec_model_dir=f"{models}/read-recogniser", det_algorithm="DB", rec_algorithm="CRNN",
                rec_char_dict_path=f"{models}/read-recogniser/alphabet.txt", rec_image_shape="3,32,320", cls_model_dir=f"{models}/read-recogniser",
                use_angle_cls=False, use_space_char=True, use_gpu=False, lang="en", show_log=False, ocr_version="PP-OCRv4")
found = ocr.ocr(np.asarray(Image.open(picture))[:, :, ::-1].copy(), cls=False)
for _, (text, _) in found[0]:
    print("read:", text)
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, ROOT / "examples" / "read_text" / "export.py", "--models", folder], check=True)
    return folder


@pytest.fixture
def drawn(tmp_path):
    """A picture of the lines, and the picture of each."""
    image, draw, font = (pytest.importorskip(f"PIL.{part}") for part in ("Image", "ImageDraw", "ImageFont"))
    file = next((path for name in ("NotoSans-Regular", "DejaVuSans") for path in Path("/usr/share/fonts").rglob(f"{name}.ttf")), None)
    if file is None:
        pytest.skip("no font of Debian: apt install fonts-dejavu-core")
    picture = image.new("RGB", (640, 300), "white")
    for i, line in enumerate(LINES):
        draw.Draw(picture).text((40, 30 + 90 * i), line, fill="black", font=font.truetype(str(file), 40))
    picture.save(tmp_path / "lines.png")
    ink = np.asarray(picture.convert("L")) < 128
    cuts = []
    for i in range(len(LINES)):
        rows, columns = np.nonzero(ink[90 * i + 20 : 90 * i + 110])
        box = columns.min() - 4, 90 * i + 20 + rows.min() - 3, columns.max() + 5, 90 * i + 20 + rows.max() + 4
        cut = picture.crop([int(edge) for edge in box])
        cuts.append(np.asarray(cut.resize((round(cut.width * 32 / cut.height), 32)), np.float32).transpose(2, 0, 1) / 127.5 - 1)
    return tmp_path / "lines.png", cuts


def likeness(found: list[str]) -> float:
    return difflib.SequenceMatcher(None, " ".join(found), " ".join(LINES), autojunk=False).ratio()


def test_lines_are_read_by_the_program(models, drawn):
    program = paddle.jit.load(str(models / "read-recogniser" / "inference"))
    program.eval()
    alphabet = ["", *(models / "read-recogniser" / "alphabet.txt").read_text(encoding="utf-8").split("\n"), " "]
    found = []
    for cut in drawn[1]:
        best = program(paddle.to_tensor(cut[None])).numpy()[0].argmax(axis=1)
        found.append("".join(alphabet[c] for before, c in zip([0, *best], best) if c != before).strip())
    assert likeness(found) >= 0.9, found


def test_paddleocr_reads_with_both_programs(models, drawn, tmp_path):
    if importlib.util.find_spec("paddleocr") is None:
        pytest.skip("paddleocr 2.10 of PyPI is not installed (tools/ecosystem.py installs it)")
    done = subprocess.run([sys.executable, "-c", OCR, models, drawn[0]], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [line.removeprefix("read: ") for line in done.stdout.splitlines() if line.startswith("read: ")]
    assert len(found) == len(LINES) and likeness(found) >= 0.9, found
