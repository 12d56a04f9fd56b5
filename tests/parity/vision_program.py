"""Models of `paddle.vision`, made, saved and run. Run by either framework:

    vision_program.py save FOLDER WHICH    makes some or all of the models with random weights, saves them, and runs them
    vision_program.py load FOLDER WHICH    reads the files of `save`, and runs what they hold
    vision_program.py names                says the names and shapes of all parameters of most models

Each prints `RESULT` and a JSON object. `test_vision_models.py` compares.
"""
import json
import os
import sys
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
from paddle.vision import models

# Of each class: how it is made, and the size of the image. Large linear layers are left out, of which there is nothing to learn.
MODELS = {
    "resnet18": (lambda: models.resnet18(num_classes=7), 64),
    "resnet50": (lambda: models.resnet50(num_classes=7), 64),
    "resnext50_32x4d": (lambda: models.resnext50_32x4d(num_classes=7), 64),
    "wide_resnet50_2": (lambda: models.wide_resnet50_2(num_classes=0), 64),
    "resnet18 without pooling": (lambda: models.resnet18(num_classes=0, with_pool=False), 64),
    "vgg11": (lambda: models.vgg11(num_classes=0), 64),
    "vgg13_bn": (lambda: models.vgg13(batch_norm=True, num_classes=0, with_pool=False), 64),
    "mobilenet_v1": (lambda: models.mobilenet_v1(scale=0.5, num_classes=7), 64),
    "mobilenet_v2": (lambda: models.mobilenet_v2(num_classes=7), 64),
    "mobilenet_v2 of 0.35": (lambda: models.mobilenet_v2(scale=0.35, num_classes=0), 64),
    "mobilenet_v3_small": (lambda: models.mobilenet_v3_small(num_classes=7), 64),
    "mobilenet_v3_small of 0.5": (lambda: models.mobilenet_v3_small(scale=0.5, num_classes=0), 64),
    "mobilenet_v3_large": (lambda: models.mobilenet_v3_large(num_classes=7), 64),
    "alexnet": (lambda: models.alexnet(num_classes=0), 128),
    "densenet121": (lambda: models.densenet121(num_classes=7, dropout=0.3), 64),
    "googlenet": (lambda: models.googlenet(num_classes=7), 224),
    "googlenet without classes": (lambda: models.googlenet(num_classes=0), 224),
    "inception_v3": (lambda: models.inception_v3(num_classes=7), 128),
    "inception_v3 without pooling": (lambda: models.inception_v3(num_classes=0, with_pool=False), 128),
    "shufflenet_v2_x0_25": (lambda: models.shufflenet_v2_x0_25(num_classes=7), 64),
    "shufflenet_v2_swish": (lambda: models.shufflenet_v2_swish(num_classes=7), 64),
    "squeezenet1_0": (lambda: models.squeezenet1_0(num_classes=7), 64),
    "squeezenet1_1": (lambda: models.squeezenet1_1(num_classes=7), 64),
    "squeezenet1_1 without pooling": (lambda: models.squeezenet1_1(num_classes=7, with_pool=False), 64),
    "lenet": (lambda: models.LeNet(), 28),
}
# Making their random weights takes long, and they repeat the blocks of others.
LARGE = "vgg13 vgg16 vgg19 resnet152 resnext101_64x4d resnext152_32x4d resnext152_64x4d wide_resnet101_2 densenet201 densenet264".split()
# Of whose blocks another model of the list is made, too.
SIBLINGS = ("resnext50_32x4d", "wide_resnet50_2", "vgg13_bn", "mobilenet_v3_large", "shufflenet_v2_swish", "squeezenet1_0")
TRAINED = ("resnet18", "mobilenet_v3_small")


def with_random_state(model):
    """Statistics and scales other than those that a new model has."""
    rng = np.random.default_rng(3)
    state = model.state_dict()
    for name, value in state.items():
        if value.ndim == 1:
            near = 1 if name.endswith(("weight", "_variance")) else 0
            state[name] = paddle.to_tensor((near + 0.2 * rng.uniform(-1, 1, value.shape)).astype("float32"))
    model.set_state_dict(state)
    return model


def numbers(x):
    values = x.numpy().ravel()
    return [list(x.shape), values[:: max(1, values.size // 50)].tolist()]


def told(name, model, size):
    channels = 1 if name == "lenet" else 3
    image = paddle.to_tensor(np.random.default_rng(5).normal(size=(2, channels, size, size)).astype("float32"))
    model.eval()
    outputs = model(image)
    found = {"logits": [numbers(out) for out in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]}
    if name in TRAINED:
        model.train()
        for layer in model.sublayers():
            if isinstance(layer, paddle.nn.Dropout):  # whose random numbers differ
                layer.eval()
        out = model(image)
        (out * out).mean().backward()
        found["train"] = numbers(out)
        found["gradients"] = {key: numbers(p.grad) for key, p in [pair for pair in model.named_parameters() if not pair[1].stop_gradient][::7]}
        found["statistics"] = {key: numbers(b) for key, b in model.state_dict().items() if key.endswith(("4.bn1._mean", "1._variance"))}
    return found


def main(what, folder="", which="all"):
    if what == "names":
        found = {}
        for name in models.__all__:
            if name[0].islower() and name not in LARGE:
                model = getattr(models, name)()
                found[name] = [str(model), [[key, list(value.shape)] for key, value in model.state_dict().items()]]
        return found
    found = {}
    for name, (make, size) in MODELS.items():
        if which == "some" and (" " in name or name in SIBLINGS):
            continue
        paddle.seed(11)
        path = os.path.join(folder, name + ".pdparams")
        if what == "save":
            model = with_random_state(make())
            paddle.save(model.state_dict(), path)
        else:
            model = make()
            missing, unexpected = model.set_state_dict(paddle.load(path))
            assert not missing and not unexpected, (name, missing, unexpected)
        found[name] = told(name, model, size)
    return found


if __name__ == "__main__":
    print("RESULT", json.dumps(main(*sys.argv[1:])))
