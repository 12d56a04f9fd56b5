"""Write the two networks that read text as pages of the demo, and as programs for PaddleOCR: from weights, in seconds.

    python examples/read_text/export.py [--models build/models] [--weights examples/data]

The weights in examples/data are those of train.py, which trains new ones. PaddleOCR takes the folders `read-detector` and `read-recogniser`:

    PaddleOCR(det_model_dir="build/models/read-detector", rec_model_dir="build/models/read-recogniser",
              rec_char_dict_path="build/models/read-recogniser/alphabet.txt", rec_algorithm="CRNN", rec_image_shape="3,32,320", ...)
"""
import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from network import Detector, Recogniser

import wherry as paddle
from wherry import nn
from wherry_export.web import engine_files

DETECTOR, RECOGNISER = "read-detector", "read-recogniser"
HEIGHT = 32  # of a line, as the recogniser takes it: text.HEIGHT, which needs Pillow
SIDE = 640  # of the picture that a page gives the detector
KEPT = Path(__file__).resolve().parent.parent / "data"


def main() -> int:
    parser = argparse.ArgumentParser(description="Export what the page Read text reads with.")
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of the demo's models (default: build/models)")
    parser.add_argument("--weights", type=Path, default=KEPT, help="folder of the weights (default: examples/data)")
    options = parser.parse_args()
    for name in (DETECTOR, RECOGNISER):
        print(exported(name, options.weights, options.models), flush=True)
    return 0


def network(name: str, weights: Path) -> tuple[nn.Layer, dict[str, Any]]:
    """A trained network, and what was noted of it.

    Raises:
        SystemExit: its weights are not there.
    """
    file = weights / f"{name}.pdparams"
    if not file.exists():
        raise SystemExit(f"read_text: there is no {file}. Expected weights, as train.py beside this writes them; --weights names their folder.")
    facts = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    net = Detector() if name == DETECTOR else Recogniser(len(facts["alphabet"]) + 1)
    net.set_state_dict({key: value.astype("float32") for key, value in paddle.load(str(file)).items()})
    net.eval()
    return net, facts


def keep(net: nn.Layer, file: Path, **facts: object) -> None:
    """Write weights in half precision, which pages have anyhow, and beside them what is to be known of them."""
    paddle.save({key: value.astype("float16") for key, value in net.state_dict().items()}, str(file))
    write(file.with_suffix(".json"), json.dumps(facts, ensure_ascii=False) + "\n")


def exported(name: str, weights: Path, models: Path) -> str:
    """Write the program as Paddle saves it, and as a bundle for pages with what was measured of it; returns what there is to say."""
    net, facts = network(name, weights)
    spec = paddle.static.InputSpec
    alphabet = facts.pop("alphabet", None)
    if name == DETECTOR:  # PaddleOCR gives it pictures of any size
        shape, elsewhere = spec([None, 3, SIDE, SIDE], "float32", "x"), spec([None, 3, None, None], "float32", "x")
    else:
        shape = elsewhere = spec([None, 3, HEIGHT, None], "float32", "x")
    paddle.jit.save(net, str(models / name / "inference"), input_spec=[elsewhere])
    if alphabet:  # PaddleOCR adds the space itself
        write(models / name / "alphabet.txt", "\n".join(alphabet).removesuffix(" "))
    lack = engine_files.missing()
    if lack is not None:
        return f"{name}: not exported as a page: {lack}"
    title, labels = f"Read text: {name.removeprefix('read-')}", ["", *alphabet] if alphabet else None
    site = paddle.export.web(net, models / f"{name}-page", input_spec=[shape], title=title, labels=labels, precision="float16")
    write(models / f"{name}-page.measured.json", json.dumps(facts, ensure_ascii=False) + "\n")
    return f"{models / name}-page: {site.compressed / 1e3:.0f} kB with {site.compression}; {site.checked or 'not checked: Node is not installed'}"


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


if __name__ == "__main__":
    sys.exit(main())
