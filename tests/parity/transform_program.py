"""Every transform of images, as function and as object, over images of Pillow and tensors. Run by either framework, it prints `RESULT` and
a JSON object: what comes out, or the class of the error. Arrays are not asked: real Paddle needs OpenCV for them.

    transform_program.py
"""
import inspect
import json
import random
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
import paddle.vision.transforms as T
from PIL import Image

rng = np.random.RandomState(0)
BYTES = rng.randint(0, 256, (9, 12, 3)).astype("uint8")
IMAGES = {
    "RGB": lambda: Image.fromarray(BYTES),
    "L": lambda: Image.fromarray(BYTES[..., 0]),
    "RGBA": lambda: Image.fromarray(np.concatenate([BYTES, BYTES[..., :1]], 2)),
    "tensor": lambda: paddle.to_tensor(BYTES.transpose(2, 0, 1).astype("float32") / 255),
}
CORNERS = [[0.21, 0.32], [11.13, 0.42], [11.37, 8.23], [0.17, 8.34]]
FUNCTIONS = {
    "adjust_brightness": ["0.0", "0.7", "1.6"],
    "adjust_contrast": ["0.0", "0.7", "1.6"],
    "adjust_hue": ["0.0", "0.2", "-0.4", "0.5"],
    "affine": [
        "30.0, (1, 2), 1.0, (0.0, 0.0)", "0.0, (0, 0), 1.5, (10.0, 0.0)", "-75.0, (0, -3), 0.6, (5.0, -20.0)",
        "30.0, (1, 2), 1.0, (0.0, 0.0), 'nearest', 7", "30.0, (1, 2), 1.0, (0.0, 0.0), 'nearest', 0, (3.0, 2.0)",
    ],
    "center_crop": ["4", "(3, 6)", "[9, 12]"],
    "crop": ["0, 0, 3, 4", "2, 5, 7, 7"],
    "erase": ["1, 2, 3, 4, 0", "0, 0, 9, 12, 5"],
    "hflip": [""],
    "normalize": ["0.4, 0.3", "[0.4, 0.5, 0.6], [0.3, 0.2, 0.1]"],
    "pad": ["2", "(1, 2)", "(1, 2, 3, 4)", "2, 9", "1, (4, 5, 6)", "2, 0, 'edge'", "2, 0, 'reflect'", "(3, 1), 0, 'symmetric'"],
    "perspective": [
        "C, [[1, 0], [11, 2], [9, 8], [0, 7]]", "C, [[4, 4], [8, 2], [11, 8], [0, 8]]", "C, [[-3, 0], [14, 0], [11, 8], [0, 8]]",
        "C, [[1, 0], [11, 2], [9, 8], [0, 7]], 'nearest', 7",
    ],
    "resize": [
        "4", "15", "(4, 5)", "(20, 30)", "(4, 5), 'nearest'", "(20, 30), 'nearest'", "(20, 30), 'bicubic'", "(4, 5), 'lanczos'", "(4, 5), 'box'",
        "(4, 5), 'hamming'",
    ],
    "rotate": ["0", "30", "90", "-45", "180", "30, 'nearest', True", "30, 'nearest', False, (2, 3)", "30, 'nearest', False, None, 9"],
    "to_grayscale": ["", "1", "3"],
    "to_tensor": ["", "'HWC'"],
    "vflip": [""],
}
OF_PILLOW_ALONE = ("lanczos", "box", "hamming")  # methods that tensors do not know
CLASSES = [
    "BrightnessTransform(0.4)", "BrightnessTransform(0)", "CenterCrop(4)", "CenterCrop((3, 6))", "ColorJitter(0.4, 0.4, 0.4, 0.2)",
    "ColorJitter(0.4)", "Compose([T.Resize(8), T.RandomCrop(4), T.ToTensor()])", "ContrastTransform(0.4)", "Grayscale()", "Grayscale(3)",
    "HueTransform(0.3)", "Normalize(0.5, 0.5)", "Normalize([0.5] * 3, [0.25] * 3)", "Pad(1)", "Pad((1, 2), 3)", "Pad(2, 0, 'reflect')",
    "RandomAffine(30)", "RandomAffine((10, 20), (0.2, 0.3))", "RandomAffine(0, None, (0.5, 1.5))", "RandomAffine(0, None, None, 20)",
    "RandomAffine(20, (0.1, 0.2), (0.8, 1.2), [-5, 5, -10, 10])", "RandomCrop(4)", "RandomCrop(8, padding=2)",
    "RandomCrop(15, pad_if_needed=True)", "RandomErasing(1.0)", "RandomErasing(0.9, value=(1, 2, 3))", "RandomHorizontalFlip()",
    "RandomHorizontalFlip(1.0)", "RandomPerspective(0.0)", "RandomPerspective(1.0, 0.9)", "RandomPerspective(1.0, 0.3)",
    "RandomResizedCrop(4)", "RandomResizedCrop((3, 5), (0.5, 0.6), (1, 2), 'nearest')", "RandomRotation(30)",
    "RandomRotation((10, 20), 'nearest', True)", "RandomRotation(30, 'nearest', False, (2, 3), 7)", "RandomVerticalFlip()",
    "Resize(4)", "Resize((20, 30), 'nearest')", "SaturationTransform(0.4)", "ToTensor()", "ToTensor('HWC')", "Transpose()", "Transpose((1, 0, 2))",
]
WRONG = [
    "T.Resize(4)('x')", "T.crop(3, 0, 0, 1, 1)", "T.adjust_hue(RGB, 0.7)", "T.to_grayscale(RGB, 2)", "T.Pad('x')", "T.Pad(1, 'x')",
    "T.Pad(1, 0, 'x')", "T.RandomPerspective(2)", "T.RandomPerspective(distortion_scale=-1)", "T.RandomPerspective(fill=None)",
    "T.BrightnessTransform(-1)", "T.HueTransform(0.7)", "T.RandomRotation(-1)", "T.RandomRotation((1, 2, 3))", "T.to_tensor(3)", "T.hflip('x')",
    "T.ContrastTransform(-1)", "T.SaturationTransform(-1)", "T.RandomAffine(-1)", "T.RandomErasing(1.5)", "T.RandomErasing(scale=0.5)",
    "T.perspective(3, C, C)", "T.affine(RGB, 'x', (0, 0), 1.0, (0.0, 0.0))", "T.RandomAffine(1, translate=(2, 0))", "T.RandomAffine(1, scale=(0, 1))",
]


def described(x):
    if isinstance(x, paddle.Tensor):
        return ["tensor", str(x.dtype).rpartition(".")[2], x.shape, x.astype("float32").numpy().ravel().tolist()]
    if isinstance(x, np.ndarray):
        return ["array", str(x.dtype), list(x.shape), x.ravel().tolist()]
    return ["image", x.mode, list(x.size), np.asarray(x).ravel().tolist()]


def outcome(expression, **names):
    random.seed(5)
    np.random.seed(5)
    try:
        return described(eval(expression, {"T": T, "C": CORNERS, **names}))
    except Exception as error:  # noqa: BLE001  which class it is of is what is asked
        return ["error", [kind.__name__ for kind in type(error).__mro__]]


found = {"signatures": {}, "members": {}, "calls": {}, "wrong": {}}
for name in T.__all__:
    found["signatures"][name] = [[p.name, repr(p.default)] for p in inspect.signature(getattr(T, name)).parameters.values()]
    found["members"][name] = [m for m in dir(getattr(T, name)) if not m.startswith("_")] if inspect.isclass(getattr(T, name)) else []
for kind, make in IMAGES.items():
    for name, arguments in FUNCTIONS.items():
        for given in arguments:
            if kind != "tensor" or not any(method in given for method in OF_PILLOW_ALONE):
                found["calls"][f"{name}(x, {given}) of {kind}"] = outcome(f"T.{name}(x, {given})", x=make())
    for given in CLASSES:
        found["calls"][f"{given} of {kind}"] = outcome(f"T.{given}(x)", x=make())
for seed in range(20):
    random.seed(seed)
    found["calls"][f"corners {seed}"] = described(np.array(T.RandomPerspective(1.0).get_params(20 + seed, 31 - seed, seed / 20)))
for expression in WRONG:
    found["wrong"][expression] = outcome(expression, RGB=IMAGES["RGB"]())
print("RESULT", json.dumps(found))
