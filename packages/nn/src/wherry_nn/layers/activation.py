"""Activation functions as layers."""
from __future__ import annotations

from typing import Any

from wherry_nn import functional as F
from wherry_nn.initializer import Constant
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import require_tensor
from wherry_tensor.errors import AssertedArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Maxout",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softmax2D",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]


@documented_by(F.celu)
class CELU(Layer):
    """Continuously differentiable ELU (CELU): `x` where it is positive, `alpha * (exp(x / alpha) - 1)` elsewhere.

    Examples:
        >>> print(wherry.nn.CELU(0.2)(wherry.to_tensor([-1.0, 6.0])).numpy())
        [-0.1986...  6.       ]
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.celu(x, self._alpha)

    def extra_repr(self) -> str:
        return described(self._name, alpha=self._alpha)


@documented_by(F.elu)
class ELU(Layer):
    """Exponential linear unit (ELU): `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.

    Examples:
        >>> print(wherry.nn.ELU(0.2)(wherry.to_tensor([-1.0, 6.0])).numpy())
        [-0.1264...  6.       ]
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.elu(x, self._alpha)

    def extra_repr(self) -> str:
        return described(self._name, alpha=self._alpha)


@documented_by(F.gelu)
class GELU(Layer):
    """Gaussian error linear unit (GELU): `x` times the probability that a standard normal variable is below `x`.

    Examples:
        >>> print(wherry.nn.GELU()(wherry.to_tensor([-1.0, 0.5])).numpy())
        [-0.1586...  0.3457...]
    """

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate = approximate
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(x, self._approximate)

    def extra_repr(self) -> str:
        return described(self._name, approximate=self._approximate)


@documented_by(F.glu)
class GLU(Layer):
    """Gated linear unit (GLU): the first half of `x` along `axis`, times the sigmoid of the second half.

    Examples:
        >>> print(wherry.nn.GLU()(wherry.to_tensor([3.0, 4.0, 0.0, 0.0])).numpy())
        [1.5 2. ]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.glu(x, self._axis)

    def extra_repr(self) -> str:
        return described(self._name, axis=self._axis)


@documented_by(F.hardshrink)
class Hardshrink(Layer):
    """Hard shrinkage: 0 between `-threshold` and `threshold`, `x` beyond.

    Examples:
        >>> print(wherry.nn.Hardshrink()(wherry.to_tensor([-1.0, 0.3, 2.5])).numpy())
        [-1.   0.   2.5]
    """

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardshrink(x, self._threshold)

    def extra_repr(self) -> str:
        return described(self._name, threshold=self._threshold)


@documented_by(F.hardsigmoid)
class Hardsigmoid(Layer):
    """Hard sigmoid: `x / 6 + 0.5`, cut to [0, 1].

    Examples:
        >>> print(wherry.nn.Hardsigmoid()(wherry.to_tensor([-4.0, 5.0, 0.0])).numpy())
        [0.  1.  0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardsigmoid(x)

    def extra_repr(self) -> str:
        return described(self.name)


@documented_by(F.hardswish)
class Hardswish(Layer):
    """Hard swish: `x * relu6(x + 3) / 6` of each element.

    Examples:
        >>> print(wherry.nn.Hardswish()(wherry.to_tensor([-4.0, 5.0, 3.0])).numpy())
        [-0.  5.  3.]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardswish(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.hardtanh)
class Hardtanh(Layer):
    """Hard tanh: `x` between `min` and `max`, and these bounds beyond them.

    Examples:
        >>> print(wherry.nn.Hardtanh()(wherry.to_tensor([-1.5, 0.3, 2.5])).numpy())
        [-1.   0.3  1. ]
    """

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._min = min
        self._max = max
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardtanh(x, self._min, self._max)

    def extra_repr(self) -> str:
        return described(self._name, min=self._min, max=self._max)


@documented_by(F.leaky_relu)
class LeakyReLU(Layer):
    """Leaky ReLU: `x` where it is positive, `negative_slope * x` elsewhere.

    Examples:
        >>> print(wherry.nn.LeakyReLU(0.5)(wherry.to_tensor([-2.0, 0.0, 1.0])).numpy())
        [-1.  0.  1.]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.leaky_relu(x, self._negative_slope)

    def extra_repr(self) -> str:
        return described(self._name, negative_slope=self._negative_slope)


@documented_by(F.log_sigmoid)
class LogSigmoid(Layer):
    """Logarithm of the sigmoid: `log(1 / (1 + exp(-x)))` of each element.

    Examples:
        >>> print(wherry.nn.LogSigmoid()(wherry.to_tensor([0.0, 1.0])).numpy())
        [-0.6931... -0.3132...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.log_sigmoid(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.log_softmax)
class LogSoftmax(Layer):
    """Logarithm of softmax along `axis`.

    Examples:
        >>> print(wherry.nn.LogSoftmax()(wherry.to_tensor([1000.0, 0.0])).numpy())
        [    0. -1000.]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(x, self._axis)

    def extra_repr(self) -> str:
        return described(self._name, axis=self._axis)


@documented_by(F.maxout)
class Maxout(Layer):
    """Maxout: the largest of every `groups` neighbouring channels of 4-D images.

    Examples:
        >>> x = wherry.to_tensor([1.0, 5.0, 4.0, 2.0]).reshape([1, 4, 1, 1])
        >>> print(wherry.nn.Maxout(groups=2)(x).flatten().numpy())
        [5. 4.]
    """

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups = groups
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.maxout(x, self._groups, self._axis)

    def extra_repr(self) -> str:
        return described(self._name, groups=self._groups, axis=self._axis)


@documented_by(F.mish)
class Mish(Layer):
    """Mish: `x * tanh(softplus(x))` of each element.

    Examples:
        >>> print(wherry.nn.Mish()(wherry.to_tensor([-5.0, 0.0, 5.0])).numpy())
        [-0.0335...  0.         4.9995...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.mish(x)

    def extra_repr(self) -> str:
        return described(self._name)


class PReLU(Layer):
    """Parametric ReLU: `x` where it is positive, `weight * x` elsewhere; the weights are learned.

    Args:
        num_parameters: 1, or the number of channels.
        init: the initial value of the weights.
        weight_attr: a ParamAttr, a name or an initializer.
        data_format: where the channels are, as in `functional.prelu`.
        name: shown by `repr`; otherwise unused.

    Shape:
        `[...]` to the same.

    Raises:
        ValueError: `num_parameters` is not positive (also an AssertionError).

    Source:
        `paddle.nn.PReLU`; He et al. (2015).

    Examples:
        >>> print(wherry.nn.PReLU()(wherry.to_tensor([-4.0, 4.0])).numpy())
        [-1.  4.]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters = num_parameters
        self._init = init
        self._name = name
        self._data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Tensor) -> Tensor:
        return F.prelu(x, self._weight, self._data_format)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        return described(
            self._name,
            num_parameters=self._num_parameters,
            data_format=self._data_format,
            init=self._init,
            dtype=self._dtype,
        )


@documented_by(F.relu)
class ReLU(Layer):
    """Rectified linear unit: max(x, 0) of each element.

    Examples:
        >>> print(wherry.nn.ReLU()(wherry.to_tensor([-2.0, 3.0])).numpy())
        [0. 3.]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.relu6)
class ReLU6(Layer):
    """ReLU cut at 6: min(max(x, 0), 6) of each element.

    Examples:
        >>> print(wherry.nn.ReLU6()(wherry.to_tensor([-1.0, 0.3, 6.5])).numpy())
        [0.  0.3 6. ]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.relu6(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.rrelu)
class RReLU(Layer):
    """Randomized leaky ReLU: `x` where it is not negative; elsewhere `x` times a random slope, or the middle one in
    evaluation mode.

    Examples:
        >>> layer = wherry.nn.RReLU(0.25, 0.75)
        >>> layer.eval()
        >>> print(layer(wherry.to_tensor([-2.0, 3.0])).numpy())
        [-1.  3.]
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower = lower
        self._upper = upper
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        return described(
            self._name, lower=self._lower, upper=self._upper, training=self.training, dtype=self._dtype
        )


@documented_by(F.selu)
class SELU(Layer):
    """Scaled ELU (SELU): `scale` times ELU; with the default numbers, layers keep mean 0 and variance 1.

    Examples:
        >>> print(wherry.nn.SELU()(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       1.050701]
    """

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._scale = scale
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.selu(x, self._scale, self._alpha)

    def extra_repr(self) -> str:
        return f"scale={self._scale:.16f}, alpha={self._alpha:.16f}" + (f", name={self._name}" if self._name else "")


@documented_by(F.sigmoid)
class Sigmoid(Layer):
    """Sigmoid: `1 / (1 + exp(-x))` of each element.

    Source:
        `paddle.nn.Sigmoid`.

    Examples:
        >>> print(wherry.nn.Sigmoid()(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.5       0.7310...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.sigmoid(x)

    def extra_repr(self) -> str:
        return described(self.name)


@documented_by(F.silu)
class Silu(Layer):
    """SiLU (swish): `x * sigmoid(x)` of each element.

    Examples:
        >>> print(wherry.nn.Silu()(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       0.7310...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.softmax)
class Softmax(Layer):
    """Softmax: `exp(x)` divided by its sum along `axis`.

    Examples:
        >>> print(wherry.nn.Softmax()(wherry.to_tensor([1000.0, 0.0])).numpy())
        [1. 0.]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softmax(x, self._axis)

    def extra_repr(self) -> str:
        return described(self._name, axis=self._axis)


class Softmax2D(Layer):
    """Softmax over the channels of images, `[N, C, H, W]` or `[C, H, W]`.

    Args:
        name: shown by `repr`; otherwise unused.

    Shape:
        `[N, C, H, W]` or `[C, H, W]` to the same.

    Raises:
        ValueError: `x` has another rank (also an AssertionError).

    Source:
        `paddle.nn.Softmax2D`.

    Examples:
        >>> print(wherry.nn.Softmax2D()(wherry.zeros([1, 2, 1, 2])).numpy())
        [[[[0.5 0.5]]
        <BLANKLINE>
          [[0.5 0.5]]]]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        if require_tensor(x, "Softmax2D").ndim not in (3, 4):
            raise AssertedArgumentError(
                f"Softmax2D: Softmax2D requires a 3D or 4D tensor as input. Received: {x.ndim}D. Got shape {x.shape}, "
                f"expected [N, C, H, W] or [C, H, W]. Use Softmax(axis) for others."
            )
        return F.softmax(x, -3)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.softplus)
class Softplus(Layer):
    """Softplus: `log(1 + exp(beta * x)) / beta`, a smooth form of relu.

    Examples:
        >>> print(wherry.nn.Softplus()(wherry.to_tensor([0.0, 30.0])).numpy())
        [ 0.6931... 30.       ]
    """

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__()
        self._beta = beta
        self._threshold = threshold
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softplus(x, self._beta, self._threshold)

    def extra_repr(self) -> str:
        return described(self._name, beta=self._beta, threshold=self._threshold)


@documented_by(F.softshrink)
class Softshrink(Layer):
    """Soft shrinkage: `x` moved towards 0 by `threshold`, and 0 where that would cross it.

    Examples:
        >>> print(wherry.nn.Softshrink()(wherry.to_tensor([-1.0, 0.25, 1.5])).numpy())
        [-0.5  0.   1. ]
    """

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softshrink(x, self._threshold)

    def extra_repr(self) -> str:
        return described(self._name, threshold=self._threshold)


@documented_by(F.softsign)
class Softsign(Layer):
    """Softsign: `x / (1 + |x|)` of each element.

    Examples:
        >>> print(wherry.nn.Softsign()(wherry.to_tensor([-1.0, 3.0])).numpy())
        [-0.5   0.75]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softsign(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.swish)
class Swish(Layer):
    """SiLU (swish): `x * sigmoid(x)` of each element.

    Examples:
        >>> print(wherry.nn.Swish()(wherry.to_tensor([-2.0, 0.0])).numpy())
        [-0.2384...  0.       ]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.swish(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.tanh)
class Tanh(Layer):
    """Hyperbolic tangent of each element.

    Source:
        `paddle.nn.Tanh`.

    Examples:
        >>> print(wherry.nn.Tanh()(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.        0.7615...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.tanh(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.tanhshrink)
class Tanhshrink(Layer):
    """Tanh shrinkage: `x - tanh(x)` of each element.

    Examples:
        >>> print(wherry.nn.Tanhshrink()(wherry.to_tensor([0.0, 1.0])).numpy())
        [0.       0.2384...]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.tanhshrink(x)

    def extra_repr(self) -> str:
        return described(self._name)


@documented_by(F.thresholded_relu)
class ThresholdedReLU(Layer):
    """Thresholded ReLU: `x` where it exceeds `threshold`, 0 elsewhere.

    Examples:
        >>> print(wherry.nn.ThresholdedReLU()(wherry.to_tensor([2.0, 0.0, 1.0])).numpy())
        [2. 0. 0.]
    """

    def __init__(self, threshold: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.thresholded_relu(x, self._threshold)

    def extra_repr(self) -> str:
        return described(self._name, threshold=self._threshold)


explained(globals())
spelled(globals())
