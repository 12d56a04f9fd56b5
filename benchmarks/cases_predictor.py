"""Real Paddle's files of its own models in `paddle.inference` of both, and the same models as ONNX.

    PADDLE benchmarks/cases_predictor.py FOLDER     real Paddle saves the models there, once
    python benchmarks/cases_predictor.py FOLDER     Wherry writes them as ONNX, beside them
    python benchmarks/run.py predictor ...          compares; FOLDER is build/predictor-models, or $PREDICTOR_MODELS

A case copies in, runs and copies out; those of loading make a predictor.
"""
from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from cases_graph import Case

FOLDER = Path(os.environ.get("PREDICTOR_MODELS", Path(__file__).parents[1] / "build" / "predictor-models"))
CASES = {
    "LeNet, 1": ("lenet", (1, 1, 28, 28)),
    "ResNet-18, 1 x 224 x 224": ("resnet18", (1, 3, 224, 224)),
    "ResNet-18, 8 x 224 x 224": ("resnet18", (8, 3, 224, 224)),
    "MobileNetV2, 1 x 224 x 224": ("mobilenet_v2", (1, 3, 224, 224)),
    "MobileNetV2, 8 x 224 x 224": ("mobilenet_v2", (8, 3, 224, 224)),
    "MLP 64-128-64-10, 1": ("mlp", (1, 64)),
    "Transformer, 4 layers of 256, 8 x 128": ("transformer", (8, 128, 256)),
    "LSTM 64-128, 8 x 100": ("lstm", (8, 100, 64)),
}
LOADED = {"load ResNet-18": "resnet18", "load MobileNetV2": "mobilenet_v2"}


def make(framework: str) -> dict[str, Case]:
    if framework not in ("wherry", "paddle", "oneDNN", "onnx"):
        return {}
    if not FOLDER.is_dir():
        raise SystemExit(f"predictor: there is no folder {FOLDER}. Save the models first: PADDLE benchmarks/cases_predictor.py {FOLDER}")
    opened = onnx_session if framework == "onnx" else lambda name: predictor(name, framework)
    run = {name: Case(lambda model=model, shape=shape: answers(opened(model), shape)) for name, (model, shape) in CASES.items()}
    return run | {name: Case(lambda model=model: lambda: opened(model)) for name, model in LOADED.items()}


def predictor(name: str, framework: str):
    if framework == "wherry":
        from wherry import inference
    else:
        import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

        from paddle import inference
    config = inference.Config(f"{FOLDER / name}.pdmodel", f"{FOLDER / name}.pdiparams")
    config.disable_glog_info()
    threads = os.environ.get("OMP_NUM_THREADS")
    if threads:
        config.set_cpu_math_library_num_threads(int(threads))
    if framework == "oneDNN":
        config.enable_mkldnn()
    return inference.create_predictor(config)


def onnx_session(name: str):
    import onnxruntime

    return onnxruntime.InferenceSession(f"{FOLDER / name}.onnx", providers=["CPUExecutionProvider"])


def answers(opened, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    if not hasattr(opened, "get_input_handle"):
        name = opened.get_inputs()[0].name
        return lambda: opened.run(None, {name: x})
    given = opened.get_input_handle(opened.get_input_names()[0])
    result = opened.get_output_handle(opened.get_output_names()[0])

    def run():
        given.copy_from_cpu(x)
        opened.run()
        return result.copy_to_cpu()

    return run


def save(paddle, folder: Path) -> None:
    nn, models = paddle.nn, paddle.vision.models

    class First(nn.Layer):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x)[0]

    paddle.seed(0)
    made = {
        "lenet": models.LeNet(), "resnet18": models.resnet18(), "mobilenet_v2": models.mobilenet_v2(), "lstm": First(nn.LSTM(64, 128)),
        "mlp": nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)),
        "transformer": nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 8, 1024), 4),
    }
    for name, shape in dict(CASES.values()).items():
        made[name].eval()
        paddle.jit.save(made[name], str(folder / name), input_spec=[paddle.static.InputSpec([None, *shape[1:]], "float32", "x")])


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import zlib  # noqa: F401  as above

        import paddle
    except ImportError:
        import wherry as paddle

        if any(folder.glob("*.pdmodel")):
            from wherry.__main__ import main as wherry_main

            for model in sorted(folder.glob("*.pdmodel")):
                wherry_main(["convert", str(model), str(model.with_suffix(".onnx"))])
            return
        print("predictor: real Paddle is not here; Wherry saves the models instead", file=sys.stderr)
    save(paddle, folder)


if __name__ == "__main__":
    main()
