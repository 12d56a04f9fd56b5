"""Writes what the peers run: `product.onnx`, `lenet.onnx`, and LeNet's weights one after another in `lenet.bin`.

Runs where PyPI's `onnx` is installed; see run.py. Weights are as of `wherry.vision.models.LeNet`, drawn here.
"""
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

WEIGHTS = {"c1": (6, 1, 3, 3), "b1": (6,), "c2": (16, 6, 5, 5), "b2": (16,), "w3": (400, 120), "b3": (120,),
           "w4": (120, 84), "b4": (84,), "w5": (84, 10), "b5": (10,)}


def write(graph, path: Path) -> None:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    save(model, path)


def value(name: str, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def main(folder: Path) -> None:
    node = helper.make_node
    write(helper.make_graph([node("MatMul", ["a", "b"], ["y"])], "product", [value("a", "N", "N"), value("b", "N", "N")],
                            [value("y", "N", "N")]), folder / "product.onnx")
    rng = np.random.default_rng(0)
    weights = {name: (rng.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)
               for name, shape in WEIGHTS.items()}
    nodes = [
        node("Conv", ["x", "c1", "b1"], ["h1"], pads=[1, 1, 1, 1]), node("Relu", ["h1"], ["r1"]),
        node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p1", "c2", "b2"], ["h2"]), node("Relu", ["h2"], ["r2"]),
        node("MaxPool", ["r2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", ["p2"], ["f"]),
        node("Gemm", ["f", "w3", "b3"], ["g3"]), node("Gemm", ["g3", "w4", "b4"], ["g4"]), node("Gemm", ["g4", "w5", "b5"], ["y"]),
    ]
    write(helper.make_graph(nodes, "lenet", [value("x", "N", 1, 28, 28)], [value("y", "N", 10)],
                            [numpy_helper.from_array(array, name) for name, array in weights.items()]), folder / "lenet.onnx")
    (folder / "lenet.bin").write_bytes(b"".join(array.tobytes() for array in weights.values()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
