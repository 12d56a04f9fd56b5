"""Linear maps, dropout, embedding and reshaping as layers."""
from __future__ import annotations

from typing import Any

from wherry_autograd import no_grad
from wherry_nn import functional as F
from wherry_nn.layer import Layer
from wherry_nn.layers.described import described
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer
from wherry_tensor.dtype import get_default_dtype
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.functions.movement import flatten, unflatten
from wherry_tensor.spellings import spelled

__all__ = [
    "AlphaDropout",
    "Bilinear",
    "CosineSimilarity",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "Embedding",
    "Flatten",
    "Linear",
    "Unflatten",
]


@documented_by(F.linear)
class Linear(Layer):
    """Linear transformation: `x @ weight + bias`.

    Args:
        in_features, out_features: sizes of the last axis before and after.
        weight_attr: a ParamAttr, a name or an initializer; the default is XavierUniform.
        bias_attr: likewise, with zeros as default; False leaves the bias out.

    Shape:
        `[..., in_features]` to `[..., out_features]`. `weight` is `[in_features, out_features]`.

    Raises:
        ValueError: a size is not positive (also an AssertionError).
        TypeError: a size is not an int.

    Examples:
        >>> layer = wherry.nn.Linear(4, 2)
        >>> layer
        Linear(in_features=4, out_features=2, dtype=float32)
        >>> layer(wherry.ones([3, 4])).shape
        [3, 2]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=get_default_dtype())
        in_features, out_features = integer(in_features, "Linear", "in_features"), integer(out_features, "Linear", "out_features")
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape  # type: ignore[union-attr]
        return described(self.name, in_features=rows, out_features=columns, dtype=self._dtype)


@documented_by(F.bilinear)
class Bilinear(Layer):
    """Bilinear form of two vectors, one for each output: `out[n, k] = x1[n] @ weight[k] @ x2[n] + bias[0, k]`.

    Args:
        in1_features, in2_features: sizes of the two vectors.
        out_features: how many outputs.
        weight_attr: a ParamAttr, a name or an initializer; the default is XavierUniform.
        bias_attr: likewise, with zeros as default; False leaves the bias out.

    Shape:
        `[N, in1_features]` and `[N, in2_features]` to `[N, out_features]`.

    Raises:
        ValueError: a size is not positive (also an AssertionError).

    Examples:
        >>> layer = wherry.nn.Bilinear(5, 4, 3)
        >>> layer(wherry.ones([2, 5]), wherry.ones([2, 4])).shape
        [2, 3]
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=get_default_dtype())
        self._name = name
        self._in1_features = in1_features
        self._in2_features = in2_features
        self._out_features = out_features
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        return described(
            self._name,
            in1_features=self._in1_features,
            in2_features=self._in2_features,
            out_features=self._out_features,
            dtype=self._dtype,
        )


@documented_by(F.dropout)
class Dropout(Layer):
    """Dropout: set elements to zero at random while training, each with probability `p`.

    Examples:
        >>> layer = wherry.nn.Dropout(0.5)
        >>> sorted(set(layer(wherry.ones([1000])).tolist()))
        [0.0, 2.0]
        >>> layer.eval()
        >>> print(layer(wherry.ones([2])).numpy())
        [1. 1.]
    """

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self) -> str:
        return described(self.name, p=self.p, axis=self.axis, mode=self.mode)


@documented_by(F.dropout2d)
class Dropout2D(Layer):
    """Channel dropout: set whole channels of images to zero at random while training, and divide the others by
    `1 - p`.

    Examples:
        >>> x = wherry.nn.Dropout2D()(wherry.ones([2, 8, 3, 3]))
        >>> bool((x == x[:, :, :1, :1]).all())
        True
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        return described(self.name, p=self.p, data_format=self.data_format)


@documented_by(F.dropout3d)
class Dropout3D(Layer):
    """Channel dropout: set whole channels of volumes to zero at random while training, and divide the others by
    `1 - p`.

    Examples:
        >>> x = wherry.nn.Dropout3D()(wherry.ones([2, 8, 3, 3, 3]))
        >>> bool((x == x[:, :, :1, :1, :1]).all())
        True
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.data_format)

    def extra_repr(self) -> str:
        return described(self.name, p=self.p, data_format=self.data_format)


@documented_by(F.alpha_dropout)
class AlphaDropout(Layer):
    """Alpha dropout, for SELU: while training, elements are set to its lower limit, and mean 0 and variance 1 are kept.

    Examples:
        >>> x = wherry.nn.AlphaDropout(0.3)(wherry.randn([10000]))
        >>> abs(float(x.mean())) < 0.1, abs(float(x.std()) - 1) < 0.1
        (True, True)
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return described(self.name, p=self.p)


class Embedding(Layer):
    """Embedding: a learned vector for each number in `[0, num_embeddings)`.

    Args:
        num_embeddings: how many vectors.
        embedding_dim: the size of each.
        padding_idx: this number gives zeros, which are not trained; in `[-num_embeddings, num_embeddings)`.
        sparse: the gradient of the weight is a `SelectedRows`, which holds only the rows that were looked up.
        weight_attr: a ParamAttr, a name or an initializer; the default is XavierUniform.

    Shape:
        `[...]` of int32 or int64 to `[..., embedding_dim]`.

    Raises:
        ValueError: a size is not positive, or `padding_idx` is out of range.
        TypeError: an argument is not an int, or the input is not a Tensor (also a ValueError).
        NotImplementedError: the input is neither int32 nor int64.
        IndexError: a number in the input is out of range (also a ValueError).

    Source:
        `paddle.nn.Embedding`.

    Examples:
        >>> layer = wherry.nn.Embedding(10, 3, padding_idx=0)
        >>> print(layer(wherry.to_tensor([[0]])).numpy())
        [[[0. 0. 0.]]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=get_default_dtype())
        for key, size in ("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim):
            if integer(size, "Embedding", key) <= 0:
                raise InvalidArgumentError(
                    f"Embedding: {key} must be greater than 0. Got {key}={size}, expected 1 or more. "
                    f"The table has num_embeddings rows of embedding_dim values."
                )
        if padding_idx is not None and not -num_embeddings <= integer(padding_idx, "Embedding", "padding_idx") < num_embeddings:
            raise InvalidArgumentError(
                f"Embedding: padding_idx must be within [-{num_embeddings}, {num_embeddings}). Got padding_idx={padding_idx}, "
                f"expected the number of a row. None pads nothing."
            )
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._sparse = sparse
        self._padding_idx = padding_idx
        self._name = name
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None:
            with no_grad():
                self.weight[padding_idx] = 0.0  # type: ignore[index]

    def forward(self, x: Tensor) -> Tensor:
        return F.embedding(x, self.weight, self._padding_idx, self._sparse)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        text = f"{self._num_embeddings}, {self._embedding_dim}"
        if self._padding_idx is not None:
            text += f", padding_idx={self._padding_idx}"
        return f"{text}, {described(self._name, sparse=self._sparse)}"


class Flatten(Layer):
    """Flatten: merge the axes from `start_axis` to `stop_axis` (included) into one.

    Args:
        start_axis: the first of them, in `[-rank, rank)`; 1 leaves the batch.
        stop_axis: the last of them.

    Shape:
        `[N, a, b]` to `[N, a * b]` with the defaults.

    Raises:
        TypeError: the input is not a Tensor, or an axis is not an int (also a ValueError).
        ValueError: an axis is out of range, or `stop_axis` comes before `start_axis`.

    Source:
        `paddle.nn.Flatten`.

    Examples:
        >>> wherry.nn.Flatten()(wherry.ones([5, 2, 3])).shape
        [5, 6]
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    def forward(self, input: Tensor) -> Tensor:
        return flatten(input, self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """Split `axis` into several axes.

    Args:
        axis: in `[-rank, rank)`.
        shape: the sizes of the new axes; one of them may be -1.
        name: shown by `repr`; otherwise unused.

    Shape:
        `[..., n, ...]` to `[..., *shape, ...]`.

    Raises:
        TypeError: the input is not a Tensor, `axis` is not an int, or `shape` is not a list of sizes (also a ValueError).
        ValueError: `axis` is out of range, or the sizes do not multiply to that of the axis.

    Source:
        `paddle.nn.Unflatten`.

    Examples:
        >>> wherry.nn.Unflatten(1, [2, 3])(wherry.ones([5, 6])).shape
        [5, 2, 3]
    """

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.shape = shape
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return unflatten(input, self.axis, self.shape)

    def extra_repr(self) -> str:
        return described(self.name, axis=self.axis, shape=self.shape)


@documented_by(F.cosine_similarity)
class CosineSimilarity(Layer):
    """Cosine similarity: the cosine of the angle between vectors along `axis`.

    Examples:
        >>> x1, x2 = wherry.to_tensor([[1.0, 0.0]]), wherry.to_tensor([[3.0, 4.0]])
        >>> print(wherry.nn.CosineSimilarity()(x1, x2).numpy())
        [0.6]
    """

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis = axis
        self._eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        return described(axis=self._axis, eps=self._eps)


explained(globals())
spelled(globals())
