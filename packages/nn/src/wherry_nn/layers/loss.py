"""Losses as layers: settings in the constructor, predictions and labels in the call."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wherry_nn.functional import loss as F
from wherry_nn.functional import margin_loss as margins
from wherry_nn.functional import structured_loss as structured
from wherry_nn.functional import transducer_loss as transducer
from wherry_nn.functional._losses import unknown_reduction
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import documented_by
from wherry_tensor._core import Tensor
from wherry_tensor.arguments import integer, number
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError
from wherry_tensor.explained import explained
from wherry_tensor.spellings import spelled

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HSigmoidLoss",
    "HingeEmbeddingLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "RNNTLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


@documented_by(F.cross_entropy)
class CrossEntropyLoss(Layer):
    """Cross entropy: negative logarithm of the probability that `input` gives to `label`.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> logits = wherry.to_tensor([[0.0, 0.0], [1000.0, 0.0]])
        >>> loss = wherry.nn.CrossEntropyLoss(reduction="none")(logits, wherry.to_tensor([1, 0]))
        >>> print(loss.numpy().round(4))
        [0.6931 0.    ]
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = _known("CrossEntropyLoss", reduction)
        self.ignore_index = ignore_index
        self.soft_label = soft_label
        self.axis = axis
        self.use_softmax = use_softmax
        self.label_smoothing = label_smoothing
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.cross_entropy(
            input, label, self.weight, self.ignore_index, self.reduction, self.soft_label, self.axis, self.use_softmax,
            self.label_smoothing,
        )


@documented_by(F.nll_loss)
class NLLLoss(Layer):
    """Negative log likelihood: minus the log probability at the label.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> log_probability = wherry.log(wherry.to_tensor([[0.25, 0.75]]))
        >>> print(wherry.nn.NLLLoss()(log_probability, wherry.to_tensor([1])).numpy().round(4))
        0.2877
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self._weight = weight
        self._ignore_index = ignore_index
        self._reduction = _known("NLLLoss", reduction)
        self._name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.nll_loss(input, label, self._weight, self._ignore_index, self._reduction)


@documented_by(F.binary_cross_entropy)
class BCELoss(Layer):
    """Binary cross entropy of probabilities.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> loss = wherry.nn.BCELoss()(wherry.to_tensor([0.5, 0.25]), wherry.to_tensor([1.0, 0.0]))
        >>> print(loss.numpy().round(4))
        0.4904
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = _known("BCELoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


@documented_by(F.binary_cross_entropy_with_logits)
class BCEWithLogitsLoss(Layer):
    """Binary cross entropy of `sigmoid(logit)`.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.BCEWithLogitsLoss()(wherry.zeros([2]), wherry.to_tensor([1.0, 0.0])).numpy().round(4))
        0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = _known("BCEWithLogitsLoss", reduction)
        self.pos_weight = pos_weight
        self.name = name

    def forward(self, logit: Tensor, label: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight)


@documented_by(F.mse_loss)
class MSELoss(Layer):
    """Mean squared error: mean of the squared differences.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.MSELoss()(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0, 0.0])).item())
        2.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _known("MSELoss", reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


@documented_by(F.l1_loss)
class L1Loss(Layer):
    """L1 loss: mean of the absolute differences.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.L1Loss("sum")(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0, 0.0])).item())
        2.0
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.reduction = _known("L1Loss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.l1_loss(input, label, self.reduction)


@documented_by(F.smooth_l1_loss)
class SmoothL1Loss(Layer):
    """Smooth L1 loss (Huber).

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.SmoothL1Loss("none")(wherry.to_tensor([0.5, 3.0]), wherry.zeros([2])).numpy())
        [0.125 2.5  ]
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self.reduction = _known("SmoothL1Loss", reduction)
        self.delta = delta
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, label, self.reduction, self.delta)


@documented_by(F.kl_div)
class KLDivLoss(Layer):
    """Kullback-Leibler divergence.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> log_probability = wherry.log(wherry.to_tensor([[0.5, 0.5]]))
        >>> print(wherry.nn.KLDivLoss("batchmean")(log_probability, wherry.to_tensor([[0.25, 0.75]])).numpy().round(4))
        0.1308
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none", "batchmean"):
            raise unknown_reduction("KLDivLoss", reduction, "'mean', 'batchmean', 'sum' or 'none'")
        self.reduction = reduction

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.kl_div(input, label, self.reduction)


@documented_by(F.poisson_nll_loss)
class PoissonNLLLoss(Layer):
    """Poisson negative log likelihood: of counts, given their predicted mean.

    Raises:
        ValueError: an unknown reduction.
        ValueError: an epsilon that is not positive.

    Examples:
        >>> print(wherry.nn.PoissonNLLLoss()(wherry.to_tensor([0.0]), wherry.to_tensor([2.0])).numpy())
        1.0
    """

    def __init__(
        self, log_input: bool = True, full: bool = False, epsilon: float = 1e-8, reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if not number(epsilon, "PoissonNLLLoss", "epsilon") > 0:
            raise InvalidArgumentError(
                f"PoissonNLLLoss: epsilon is not positive. Got epsilon={epsilon}, expected a number above 0. "
                f"The default is 1e-8."
            )
        self._log_input = log_input
        self._full = full
        self._epsilon = epsilon
        self._reduction = _known("PoissonNLLLoss", reduction)
        self._name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.poisson_nll_loss(input, label, self._log_input, self._full, self._epsilon, self._reduction)


@documented_by(F.gaussian_nll_loss)
class GaussianNLLLoss(Layer):
    """Gaussian negative log likelihood: of labels, given predicted means and variances.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.GaussianNLLLoss()(wherry.zeros([1]), wherry.ones([1]), wherry.ones([1])).numpy())
        0.5
    """

    def __init__(
        self, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self.full = full
        self.epsilon = epsilon
        self.reduction = _known("GaussianNLLLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor, variance: Tensor) -> Tensor:
        return F.gaussian_nll_loss(input, label, variance, self.full, self.epsilon, self.reduction)


@documented_by(margins.margin_ranking_loss)
class MarginRankingLoss(Layer):
    """Margin ranking loss: 0 where two scores are in the right order by `margin`.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> one = wherry.ones([1])
        >>> print(wherry.nn.MarginRankingLoss(margin=0.5)(one * 2, one * 5, one).numpy())
        3.5
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.margin = margin
        self.reduction = _known("MarginRankingLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, other: Tensor, label: Tensor) -> Tensor:
        return margins.margin_ranking_loss(input, other, label, self.margin, self.reduction)


@documented_by(margins.hinge_embedding_loss)
class HingeEmbeddingLoss(Layer):
    """Hinge embedding loss: distances of similar pairs, and a hinge on those of dissimilar ones.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> loss = wherry.nn.HingeEmbeddingLoss(reduction="none")
        >>> print(loss(wherry.to_tensor([0.25, 0.25]), wherry.to_tensor([1, -1])).numpy())
        [0.25 0.75]
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.margin = margin
        self.reduction = _known("HingeEmbeddingLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return margins.hinge_embedding_loss(input, label, self.margin, self.reduction)


@documented_by(margins.soft_margin_loss)
class SoftMarginLoss(Layer):
    """Soft margin loss: logistic loss of labels 1 and -1.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.SoftMarginLoss()(wherry.zeros([2]), wherry.to_tensor([1.0, -1.0])).numpy().round(4))
        0.6931
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.reduction = _known("SoftMarginLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return margins.soft_margin_loss(input, label, self.reduction)


@documented_by(margins.multi_label_soft_margin_loss)
class MultiLabelSoftMarginLoss(Layer):
    """Multi-label soft margin loss: binary cross entropy averaged over classes.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.MultiLabelSoftMarginLoss()(wherry.zeros([1, 2]), wherry.to_tensor([[1, 0]])).numpy().round(4))
        0.6931
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = _known("MultiLabelSoftMarginLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return margins.multi_label_soft_margin_loss(input, label, self.weight, self.reduction)


@documented_by(margins.multi_margin_loss)
class MultiMarginLoss(Layer):
    """Multi-margin loss: hinge loss of every other class against the right one.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> print(wherry.nn.MultiMarginLoss()(wherry.to_tensor([[1.0, 1.0]]), wherry.to_tensor([1])).numpy())
        0.5
    """

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = _known("MultiMarginLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return margins.multi_margin_loss(input, label, self.p, self.margin, self.weight, self.reduction)


@documented_by(margins.cosine_embedding_loss)
class CosineEmbeddingLoss(Layer):
    """Cosine embedding loss: `1 - cos` of similar pairs, and a hinge on the cosine of dissimilar ones.

    Raises:
        ValueError: an unknown reduction.
        ValueError: `margin` is not in [-1, 1].

    Examples:
        >>> x, y = wherry.to_tensor([[1.0, 0.0]]), wherry.to_tensor([[0.0, 1.0]])
        >>> print(wherry.nn.CosineEmbeddingLoss()(x, y, wherry.to_tensor([1])).numpy())
        1.0
    """

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        if not -1 <= number(margin, "CosineEmbeddingLoss", "margin") <= 1:
            raise InvalidArgumentError(
                f"CosineEmbeddingLoss: the margin is out of range. Got margin={margin}, expected a number in [-1, 1]. "
                f"Between 0 and 0.5 is usual."
            )
        self.margin = margin
        self.reduction = _known("CosineEmbeddingLoss", reduction)
        self.name = name

    def forward(self, input1: Tensor, input2: Tensor, label: Tensor) -> Tensor:
        return margins.cosine_embedding_loss(input1, input2, label, self.margin, self.reduction)


@documented_by(margins.triplet_margin_loss)
class TripletMarginLoss(Layer):
    """Triplet margin loss: anchors should be nearer to positive examples than to negative ones, by a margin.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> anchor, near, far = wherry.zeros([1, 1]), wherry.ones([1, 1]), wherry.ones([1, 1]) * 4
        >>> print(wherry.nn.TripletMarginLoss(margin=5.0)(anchor, near, far).numpy().round(4))
        2.0
    """

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, epsilon: float = 1e-6, swap: bool = False, reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.margin = margin
        self.p = p
        self.epsilon = epsilon
        self.swap = swap
        self.reduction = _known("TripletMarginLoss", reduction)
        self.name = name

    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return margins.triplet_margin_loss(
            input, positive, negative, self.margin, self.p, self.epsilon, self.swap, self.reduction
        )


@documented_by(margins.triplet_margin_with_distance_loss)
class TripletMarginWithDistanceLoss(Layer):
    """Triplet margin loss with a distance function.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> anchor, near, far = wherry.zeros([1, 1]), wherry.ones([1, 1]), wherry.ones([1, 1]) * 4
        >>> print(wherry.nn.TripletMarginWithDistanceLoss(margin=5.0)(anchor, near, far).numpy().round(4))
        2.0
    """

    def __init__(
        self, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean", name: str | None = None,
    ) -> None:
        super().__init__()
        self.margin = margin
        self.swap = swap
        self.reduction = _known("TripletMarginWithDistanceLoss", reduction)
        self.distance_function = distance_function
        self.name = name

    def forward(self, input: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return margins.triplet_margin_with_distance_loss(
            input, positive, negative, self.distance_function, self.margin, self.swap, self.reduction
        )


@documented_by(structured.ctc_loss)
class CTCLoss(Layer):
    """CTC loss (connectionist temporal classification), for labels that are not aligned with the steps of the input.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> one = wherry.to_tensor([1])
        >>> loss = wherry.nn.CTCLoss()(wherry.zeros([2, 1, 3]), wherry.to_tensor([[1]]), one * 2, one)
        >>> print(loss.numpy().round(4))
        1.0986
    """

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__()
        self.blank = blank
        self.reduction = _known("CTCLoss", reduction)

    def forward(
        self, log_probs: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, norm_by_times: bool = False
    ) -> Tensor:
        return structured.ctc_loss(
            log_probs, labels, input_lengths, label_lengths, self.blank, self.reduction, norm_by_times=norm_by_times
        )


@documented_by(transducer.rnnt_loss)
class RNNTLoss(Layer):
    """RNN-T loss (recurrent neural network transducer), for labels that are not aligned with the steps of the input.

    Raises:
        ValueError: an unknown reduction.

    Examples:
        >>> scores = wherry.nn.functional.log_softmax(wherry.zeros([1, 2, 2, 3]))
        >>> one = wherry.to_tensor([1])
        >>> print(wherry.nn.RNNTLoss()(scores, wherry.to_tensor([[1]]), one * 2, one).numpy().round(4))
        2.6027
    """

    def __init__(self, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.blank = blank
        self.reduction = _known("RNNTLoss", reduction)
        self.fastemit_lambda = fastemit_lambda

    def forward(self, input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor) -> Tensor:
        return transducer.rnnt_loss(
            input, label, input_lengths, label_lengths, self.blank, self.fastemit_lambda, self.reduction
        )


@documented_by(structured.hsigmoid_loss)
class HSigmoidLoss(Layer):
    """Hierarchical sigmoid loss: binary cross entropy along a path in a binary tree of classes.

    Args:
        feature_size: the size of an example.
        num_classes: at least 2 for the default tree.
        weight_attr: the parameter's attributes; the weight is `[num_classes - 1, feature_size]`, with one row
            more for a tree of one's own.
        bias_attr: the same for the bias, which has one number for each row; False leaves it out.
        is_custom: the call gets a `path_table` and a `path_code`.

    Shape:
        `[N, D]` and labels `[N, 1]` to `[N, 1]`.

    Raises:
        ValueError: too few classes, or no features.

    Examples:
        >>> layer = wherry.nn.HSigmoidLoss(3, 5)
        >>> layer.weight.shape, layer.bias.shape, layer(wherry.ones([2, 3]), wherry.to_tensor([0, 4])).shape
        ([4, 3], [4, 1], [2, 1])
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        classes = integer(num_classes, "HSigmoidLoss", "num_classes")
        if classes < 2 and not is_custom:
            raise InvalidArgumentError(
                f"HSigmoidLoss: a tree needs two classes; num_classes must not be less than 2 with default tree. "
                f"Got num_classes={num_classes}, expected at least 2. Use a tree of your own with is_custom=True."
            )
        if integer(feature_size, "HSigmoidLoss", "feature_size") < 1:
            raise AssertedArgumentError(
                f"HSigmoidLoss: an example has no features. Got feature_size={feature_size}, expected at least 1. "
                f"It is the last size of the input."
            )
        self._num_classes = num_classes
        self._is_sparse = is_sparse
        self._name = name
        nodes = classes if is_custom else classes - 1
        self.weight = self.create_parameter([nodes, feature_size], attr=weight_attr)
        self.bias = self.create_parameter([nodes, 1], attr=bias_attr, is_bias=True)

    def forward(self, input: Tensor, label: Tensor, path_table: Tensor | None = None, path_code: Tensor | None = None) -> Tensor:
        return structured.hsigmoid_loss(
            input, label, self._num_classes, self.weight, self.bias, path_table, path_code, self._is_sparse  # type: ignore[arg-type]
        )


def _known(op_name: str, reduction: str) -> str:
    if reduction not in ("mean", "sum", "none"):
        raise unknown_reduction(op_name, reduction)
    return reduction


explained(globals())
spelled(globals())
