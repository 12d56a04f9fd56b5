"""Losses as layers: their settings in the constructor, predictions and labels in the call."""
from __future__ import annotations

from wherry_nn.functional import loss as F
from wherry_nn.layer import Layer
from wherry_tensor._core import Tensor

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class CrossEntropyLoss(Layer):
    """Negative logarithm of the probability that `input` gives to `label`; see `nn.functional.cross_entropy`.

    Args:
        weight: floating, `[classes]`; multiplies the losses of each class.
        ignore_index: examples of this class count nothing. Only beside hard labels.
        reduction: "mean", "sum" or "none".
        soft_label: labels are probabilities of the classes, not their numbers.
        axis: where the classes are.
        use_softmax: False takes inputs as probabilities.
        label_smoothing: this share of each label is spread evenly over the classes; in [0, 1].
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `cross_entropy` raises.

    Source:
        `paddle.nn.CrossEntropyLoss`.

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


class NLLLoss(Layer):
    """Negative of the log probability at the label; see `nn.functional.nll_loss`.

    Args:
        weight: floating, `[classes]`; multiplies the losses of each class.
        ignore_index: examples of this class count nothing.
        reduction: "mean", "sum" or "none".
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `nll_loss` raises.

    Source:
        `paddle.nn.NLLLoss`.

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


class BCELoss(Layer):
    """Cross entropy of probabilities for yes; see `nn.functional.binary_cross_entropy`.

    Args:
        weight: broadcasts to the input; multiplies the loss of each element.
        reduction: "mean", "sum" or "none".
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `binary_cross_entropy` raises.

    Source:
        `paddle.nn.BCELoss`.

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


class BCEWithLogitsLoss(Layer):
    """Binary cross entropy of `sigmoid(logit)`; see `nn.functional.binary_cross_entropy_with_logits`.

    Args:
        weight: broadcasts to the input; multiplies the loss of each element.
        reduction: "mean", "sum" or "none".
        pos_weight: broadcasts to the input; multiplies the part of the loss that comes from yes.
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `binary_cross_entropy_with_logits` raises.

    Source:
        `paddle.nn.BCEWithLogitsLoss`.

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


class MSELoss(Layer):
    """Mean of the squared differences; see `nn.functional.mse_loss`.

    Args:
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: an unknown reduction; when called, what `mse_loss` raises.

    Source:
        `paddle.nn.MSELoss`.

    Examples:
        >>> print(wherry.nn.MSELoss()(wherry.to_tensor([1.0, 2.0]), wherry.to_tensor([1.0, 0.0])).item())
        2.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = _known("MSELoss", reduction)

    def forward(self, input: Tensor, label: Tensor) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """Mean of the absolute differences; see `nn.functional.l1_loss`.

    Args:
        reduction: "mean", "sum" or "none".
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `l1_loss` raises.

    Source:
        `paddle.nn.L1Loss`.

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


class SmoothL1Loss(Layer):
    """Huber's loss; see `nn.functional.smooth_l1_loss`.

    Args:
        reduction: "mean", "sum" or "none".
        delta: where the parabola goes over into lines; at least 0.
        name: accepted for compatibility; unused.

    Raises:
        ValueError: an unknown reduction; when called, what `smooth_l1_loss` raises.

    Source:
        `paddle.nn.SmoothL1Loss`.

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


def _known(op_name: str, reduction: str) -> str:
    if reduction not in ("mean", "sum", "none"):
        raise F.unknown_reduction(op_name, reduction)
    return reduction
