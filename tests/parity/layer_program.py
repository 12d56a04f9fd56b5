"""A program of paddle.nn that prints what it sees as JSON: names, keys, texts, classes of errors.

Run by test_layers.py under real Paddle and under wherry; the lines must be equal.
"""
import json
import warnings
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import paddle
from paddle import nn

seen = {}


class Scale(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.weight = self.create_parameter([size])
        self.bias = self.create_parameter([size], is_bias=True)

    def forward(self, x):
        return x * self.weight + self.bias


class MyNet2D(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = Scale(2)
        self.rest = nn.Sequential(("a", Scale(2)), ("b", nn.Identity()))
        self.many = nn.LayerList([Scale(1), Scale(1)])
        self.named = nn.LayerDict({"z": Scale(1), "y": Scale(1)})
        self.register_buffer("kept", paddle.ones([2]))
        self.register_buffer("lost", paddle.ones([2]), persistable=False)
        self.assigned = paddle.zeros([2])
        self.own = self.create_parameter([2], attr=paddle.ParamAttr(name="mine", trainable=False))
        self.free = nn.ParameterList([paddle.create_parameter([1], "float32") for _ in range(2)])

    def forward(self, x):
        return self.rest(self.first(x))


def attempt(name, action):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = repr(action())
        except Exception as error:
            # Ours may be several of Python's classes at once: the names of all.
            result = [kind.__name__ for kind in type(error).__mro__]
    # Paddle warns once for each entry; ours is one warning, with a line for each below what it says of all.
    lines = [line for warning in said for line in str(warning.message).splitlines()]
    ours = ("entries stay as they are", "entry stays as it is", "Keys that were not used")
    seen[name] = [result, [line for line in lines if not any(text in line for text in ours)]]


net = MyNet2D()
seen["text"] = repr(net)
parameters = {name: p.name for name, p in net.named_parameters()}
seen["parameters"] = [parameters, [p.stop_gradient for p in net.parameters()]]
seen["keys"] = [list(net.state_dict()), list(net.to_static_state_dict()), list(net.state_dict(include_sublayers=False))]
seen["layers"] = [(name, layer.full_name()) for name, layer in net.named_sublayers(prefix="net", include_self=True)]
seen["buffers"] = [name for name, _ in net.named_buffers()]
seen["names"] = [type(name, (nn.Layer,), {})().full_name() for name in (
    "ReLU LSTMCell ConvNeXt PReLU Conv2DTranspose BatchNorm1D GELU6 ABc _Foo Foo_Bar KLDivLoss ResNet18 MyLayerV2".split()
)]
with paddle.utils.unique_name.guard("A"):
    seen["guarded"] = [p.name for p in Scale(1).parameters()]

attempt("load nothing", lambda: Scale(2).set_state_dict({}))
attempt("load more", lambda: Scale(2).set_state_dict({"weight": paddle.ones([2]), "bias": paddle.ones([2]), "x": paddle.ones([1])}))
attempt("load another shape", lambda: Scale(2).set_state_dict({"weight": paddle.ones([3]), "bias": paddle.ones([2])}))
attempt("load another dtype", lambda: Scale(2).set_state_dict({"weight": paddle.ones([2], "float64"), "bias": paddle.ones([2])}))
attempt("load arrays", lambda: Scale(2).set_state_dict({"weight": paddle.ones([2]).numpy(), "bias": paddle.ones([2]).numpy()}))
attempt("number as parameter", lambda: setattr(net, "own", 5))
attempt("number as buffer", lambda: setattr(net, "kept", 5))
attempt("number as layer", lambda: setattr(net, "first", 5))
attempt("dot in a name", lambda: net.add_parameter("x.y", None))
attempt("empty name", lambda: net.add_parameter("", None))
attempt("name in use", lambda: net.register_buffer("forward", None))
attempt("name that is not text", lambda: net.add_parameter(3, None))
attempt("layer that is none", lambda: net.add_sublayer("s", 3))
attempt("no such attribute", lambda: net.nonesuch)
attempt("no forward", lambda: nn.Layer()(1))
attempt("backward", lambda: nn.Layer().backward(1))
attempt("name taken", lambda: nn.Layer().create_parameter([1], attr="mine"))
attempt("size zero", lambda: nn.Layer().create_parameter([2, 0]))
attempt("integers without initializer", lambda: nn.Layer().create_parameter([2], dtype="int64"))
attempt("wrong attr", lambda: nn.Layer().create_parameter([2], attr=3))
attempt("sequential beyond", lambda: net.rest[7])
attempt("list beyond", lambda: net.many[7])
attempt("insert beyond", lambda: net.many.insert(7, nn.Identity()))
attempt("dict without", lambda: net.named["q"])
attempt("parameters without", lambda: net.free[7])
attempt("orthogonal vector", lambda: nn.initializer.Orthogonal()(paddle.ones([3])))
attempt("dirac groups", lambda: nn.initializer.Dirac(groups=0))
attempt("gain", lambda: nn.initializer.calculate_gain("foo"))
attempt("gain of leaky_relu", lambda: nn.initializer.calculate_gain("leaky_relu", 0.3))
attempt("blocking", lambda: net.to(blocking=3))
attempt("device", lambda: net.to(3))
attempt("astype", lambda: net.astype("foo"))


def written(initializer, shape):
    parameter = nn.Layer().create_parameter(shape, default_initializer=initializer)
    return parameter.tolist()


seen["dirac"] = [written(nn.initializer.Dirac(groups), [4, 2, 3, 2]) for groups in (1, 2)]
seen["bilinear"] = [written(nn.initializer.Bilinear(), [2, 1, size, size]) for size in (2, 4)]
seen["assign"] = written(nn.initializer.Assign([1.5, 2.0]), [2])

weight, state = net.first.weight, {name: list(value.shape) for name, value in net.state_dict().items()}
net.to(dtype="float64")
seen["to"] = [net.first.weight is weight, str(weight.dtype).rpartition(".")[2].replace("FP64", "float64"), state]
net.eval()
seen["eval"] = [layer.training for layer in net.sublayers(include_self=True)]
order = []
net.apply(lambda layer: order.append(type(layer).__name__))
seen["apply"] = order
print("RESULT " + json.dumps(seen))
