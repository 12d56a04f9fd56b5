"""What comes before the first step: parameters are filled, models made, functions captured. Wherry also with Paddle's random numbers."""
from __future__ import annotations

INITIALIZERS = ("TruncatedNormal", "Normal", "Uniform", "XavierNormal", "XavierUniform", "KaimingNormal", "KaimingUniform")
MODELS = ("resnet50", "mobilenet_v2", "vgg16")


def make(framework: str):
    if framework not in ("paddle", "wherry"):
        return {}
    if framework == "paddle":
        import paddle
    else:
        import wherry as paddle
    nn, models = paddle.nn, paddle.vision.models
    cases = {}

    def both(name, call):
        cases[name] = call
        if framework == "wherry":
            def drawn():
                paddle.set_flags({"FLAGS_paddle_random": True})
                call()
                paddle.set_flags({"FLAGS_paddle_random": False})

            cases[f"{name}, Paddle's random numbers"] = drawn
        else:
            cases[f"{name}, Paddle's random numbers"] = call

    for kind in INITIALIZERS:
        filler = getattr(nn.initializer, kind)()
        both(f"{kind} [1000, 1000]", lambda filler=filler: paddle.create_parameter([1000, 1000], "float32", default_initializer=filler))
    for name in MODELS:
        both(f"models.{name}()", getattr(models, name))
    x = paddle.uniform([1_000_000], min=-1.0, max=1.0)
    wide = x.astype("float64")
    cases["erfinv 10^6 float32"] = lambda: paddle.erfinv(x)
    cases["erfinv 10^6 float64"] = lambda: paddle.erfinv(wide)

    row, image = paddle.ones([2, 16]), paddle.ones([1, 1, 28, 28])

    def captured(layer, given):
        paddle.jit.to_static(layer)(given)

    cases["first call of to_static, 10 linear layers"] = lambda: captured(
        nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(10)]), row
    )
    cases["first call of to_static, LeNet"] = lambda: captured(models.LeNet(), image)
    return cases
