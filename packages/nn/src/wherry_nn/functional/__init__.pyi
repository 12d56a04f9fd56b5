"""Stub of wherry_nn.functional, written by tools/stubs.py: where each public name comes from."""
from collections.abc import Sequence
from typing import Any
from typing import overload
from wherry_tensor._core import Tensor
from wherry_nn.functional.attention import sparse_attention as sparse_attention
from wherry_nn.functional.common import bilinear as bilinear
from wherry_nn.functional.flash_attention import flash_attn_qkvpacked as flash_attn_qkvpacked
from wherry_nn.functional.flash_attention import flash_attn_varlen_qkvpacked as flash_attn_varlen_qkvpacked
from wherry_nn.functional.flash_attention import flashmask_attention as flashmask_attention
from wherry_nn.functional.later import dropout1d as dropout1d
from wherry_nn.functional.later import rms_norm as rms_norm
from wherry_nn.functional.margin_loss import npair_loss as npair_loss
from wherry_nn.functional.margin_loss import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from wherry_nn.functional.sampling import gather_tree as gather_tree
from wherry_nn.functional.vision import affine_grid as affine_grid
from wherry_tensor import diag_embed as diag_embed
from wherry_tensor import pad as pad
from wherry_tensor import sigmoid as sigmoid
from wherry_tensor import tanh as tanh
from wherry_tensor import tanh_ as tanh_
@overload
def adaptive_avg_pool1d(x: Tensor, output_size: Any, name: str | None = ...) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly."""
@overload
def adaptive_avg_pool1d(input: Tensor, output_size: Any, name: str | None = ...) -> Tensor: ...
@overload
def adaptive_avg_pool2d(x: Tensor, output_size: Any, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly."""
@overload
def adaptive_avg_pool2d(input: Tensor, output_size: Any, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def adaptive_avg_pool3d(x: Tensor, output_size: Any, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Adaptive average pooling: averages of `output_size` windows that cover the input evenly."""
@overload
def adaptive_avg_pool3d(input: Tensor, output_size: Any, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def adaptive_log_softmax_with_loss(input: Tensor, label: Tensor, head_weight: Tensor, tail_weights: Sequence[Sequence[Tensor]], cutoffs: Sequence[int], head_bias: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor]:
    """Cross entropy of very many classes in clusters: the rarer ones get fewer numbers."""
@overload
def adaptive_log_softmax_with_loss(input: Tensor, target: Tensor, head_weight: Tensor, tail_weights: Sequence[Sequence[Tensor]], cutoffs: Sequence[int], head_bias: Tensor | None = ..., name: str | None = ...) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool1d(x: Tensor, output_size: Any, return_mask: bool = ..., name: str | None = ...) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def adaptive_max_pool2d(x: Tensor, output_size: Any, return_mask: bool = ..., name: str | None = ...) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def adaptive_max_pool3d(x: Tensor, output_size: Any, return_mask: bool = ..., name: str | None = ...) -> Any:
    """Adaptive max pooling: maxima of `output_size` windows that cover the input evenly."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def alpha_dropout(x: Tensor, p: float = ..., training: bool = ..., name: str | None = ...) -> Tensor:
    """Alpha dropout, for SELU: elements are set to its lower limit, and mean 0 and variance 1 are kept."""
@overload
def alpha_dropout(input: Tensor, p: float = ..., training: bool = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def avg_pool1d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., exclusive: bool = ..., ceil_mode: bool = ..., name: str | None = ...) -> Tensor:
    """Average pooling: averages of windows."""
@overload
def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., exclusive: bool = ..., ceil_mode: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def avg_pool2d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., exclusive: bool = ..., divisor_override: float | None = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Average pooling: averages of windows."""
@overload
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., exclusive: bool = ..., divisor_override: float | None = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def avg_pool3d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., exclusive: bool = ..., divisor_override: float | None = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Average pooling: averages of windows."""
@overload
def avg_pool3d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., exclusive: bool = ..., divisor_override: float | None = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def batch_norm(x: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., training: bool = ..., momentum: float = ..., epsilon: float = ..., data_format: str = ..., use_global_stats: bool | None = ..., name: str | None = ...) -> Tensor:
    """Batch normalization: normalize each channel by mean and variance, over all other axes."""
@overload
def batch_norm(input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., training: bool = ..., momentum: float = ..., eps: float = ..., data_format: str = ..., use_global_stats: bool | None = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def binary_cross_entropy(input: Tensor, label: Tensor, weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Binary cross entropy of probabilities, `-label * log(input) - (1 - label) * log(1 - input)`."""
@overload
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def binary_cross_entropy_with_logits(logit: Tensor, label: Tensor, weight: Tensor | None = ..., reduction: str = ..., pos_weight: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Binary cross entropy of `sigmoid(logit)`, exact also where the sigmoid is 0 or 1."""
@overload
def binary_cross_entropy_with_logits(logit: Tensor, target: Tensor, weight: Tensor | None = ..., reduction: str = ..., pos_weight: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def celu(x: Tensor, alpha: float = ..., name: str | None = ...) -> Tensor:
    """Continuously differentiable ELU (CELU): `x` where it is positive, `alpha * (exp(x / alpha) - 1)` elsewhere:"""
@overload
def celu(input: Tensor, alpha: float = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def channel_shuffle(x: Tensor, groups: int, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Channel shuffle: the first channel of each group, then the second of each, and so on."""
@overload
def channel_shuffle(input: Tensor, groups: int, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def class_center_sample(label: Tensor, num_classes: int, num_samples: int, group: Any = ...) -> tuple[Tensor, Tensor]:
    """Sample class centers to train with: all classes in `label`, and others at random."""
@overload
def class_center_sample(target: Tensor, num_classes: int, num_samples: int, group: Any = ...) -> tuple[Tensor, Tensor]: ...
@overload
def conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Convolution along one axis."""
@overload
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def conv1d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., groups: int = ..., dilation: Any = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Transposed convolution along one axis. `groups` comes before `dilation`, unlike in `conv2d_transpose`."""
@overload
def conv1d_transpose(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., groups: int = ..., dilation: Any = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Convolution of images (the window is not flipped, as everywhere in deep learning)."""
@overload
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def conv2d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., dilation: Any = ..., groups: int = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Transposed convolution of images: what the gradient of `conv2d` for its input computes."""
@overload
def conv2d_transpose(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., dilation: Any = ..., groups: int = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def conv3d(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Convolution of volumes, over depth, height and width."""
@overload
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def conv3d_transpose(x: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., groups: int = ..., dilation: Any = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Transposed convolution of volumes. `groups` comes before `dilation`, unlike in `conv2d_transpose`."""
@overload
def conv3d_transpose(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: Any = ..., padding: Any = ..., output_padding: Any = ..., groups: int = ..., dilation: Any = ..., output_size: Any = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def cosine_embedding_loss(input1: Tensor, input2: Tensor, label: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Cosine embedding loss: `1 - cos` of similar pairs, and `max(0, cos - margin)` of dissimilar ones."""
@overload
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = ..., eps: float = ...) -> Tensor:
    """Cosine similarity: the dot product of vectors, divided by their norms."""
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = ..., eps: float = ..., *, axis: int = ...) -> Tensor: ...
@overload
def cross_entropy(input: Tensor, label: Tensor, weight: Tensor | None = ..., ignore_index: int = ..., reduction: str = ..., soft_label: bool = ..., axis: int = ..., use_softmax: bool = ..., label_smoothing: float = ..., name: str | None = ...) -> Tensor:
    """Cross entropy: negative logarithm of the probability that `input` gives to `label`."""
@overload
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = ..., ignore_index: int = ..., reduction: str = ..., soft_label: bool = ..., dim: int = ..., use_softmax: bool = ..., label_smoothing: float = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def ctc_loss(log_probs: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = ..., reduction: str = ..., norm_by_times: bool = ...) -> Tensor:
    """CTC loss (connectionist temporal classification), for labels that are not aligned with the steps of the input."""
@overload
def ctc_loss(log_probs: Tensor, labels: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = ..., reduction: str = ..., norm_by_times: bool = ..., *, zero_infinity: Any = ...) -> Tensor: ...
@overload
def dice_loss(input: Tensor, label: Tensor, epsilon: float = ..., name: str | None = ...) -> Tensor:
    """Dice loss: one minus the overlap of predicted and true regions, `2 |A and B| / (|A| + |B|)`, averaged over"""
@overload
def dice_loss(input: Tensor, target: Tensor, eps: float = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def dropout(x: Tensor, p: float = ..., axis: Any = ..., training: bool = ..., mode: str = ..., name: str | None = ...) -> Tensor:
    """Dropout: set elements to zero at random, each with probability `p`."""
@overload
def dropout(input: Tensor, p: float = ..., dim: Any = ..., training: bool = ..., mode: str = ..., name: str | None = ..., *, axis: Any = ..., inplace: Any = ...) -> Tensor: ...
@overload
def dropout2d(x: Tensor, p: float = ..., training: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Channel dropout: set whole channels of images to zero at random, and divide the others by `1 - p`."""
@overload
def dropout2d(input: Tensor, p: float = ..., training: bool = ..., data_format: str = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def dropout3d(x: Tensor, p: float = ..., training: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Channel dropout: set whole channels of volumes to zero at random, and divide the others by `1 - p`."""
@overload
def dropout3d(input: Tensor, p: float = ..., training: bool = ..., data_format: str = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def elu(x: Tensor, alpha: float = ..., name: str | None = ...) -> Tensor:
    """Exponential linear unit (ELU): `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
@overload
def elu(input: Tensor, alpha: float = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def elu_(x: Any, alpha: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `elu`: writes the result into the first argument and returns it."""
@overload
def elu_(input: Any, alpha: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = ..., sparse: bool = ..., name: str | None = ...) -> Tensor:
    """Embedding lookup: rows of `weight` by their indices."""
@overload
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = ..., sparse: bool = ..., name: str | None = ..., *, max_norm: Any = ..., scale_grad_by_freq: Any = ..., norm_type: Any = ...) -> Tensor: ...
@overload
def feature_alpha_dropout(x: Tensor, p: float = ..., training: bool = ..., name: str | None = ...) -> Tensor:
    """Alpha dropout of whole channels, for SELU: they are set to its lower limit, and mean 0 and variance 1 are kept."""
@overload
def feature_alpha_dropout(input: Tensor, p: float = ..., training: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def fold(x: Tensor, output_sizes: Any, kernel_sizes: Any, strides: Any = ..., paddings: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor:
    """Col2im: images from columns, as `unfold` makes them; where windows overlap, their elements are added."""
@overload
def fold(input: Tensor, output_sizes: Any, kernel_sizes: Any, strides: Any = ..., paddings: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def fractional_max_pool2d(x: Tensor, output_size: Any, kernel_size: Any = ..., random_u: float | None = ..., return_mask: bool = ..., name: str | None = ...) -> Any:
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor."""
@overload
def fractional_max_pool2d(input: Tensor, output_size: Any, kernel_size: Any = ..., random_u: float | None = ..., return_indices: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def fractional_max_pool3d(x: Tensor, output_size: Any, kernel_size: Any = ..., random_u: float | None = ..., return_mask: bool = ..., name: str | None = ...) -> Any:
    """Maxima of windows whose places are drawn, so that the sizes shrink by any factor."""
@overload
def fractional_max_pool3d(input: Tensor, output_size: Any, kernel_size: Any = ..., random_u: float | None = ..., return_indices: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def gaussian_nll_loss(input: Tensor, label: Tensor, variance: Tensor, full: bool = ..., epsilon: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Gaussian negative log likelihood: of `label`, given predicted means and variances."""
@overload
def gaussian_nll_loss(input: Tensor, target: Tensor, variance: Tensor, full: bool = ..., eps: float = ..., reduction: str = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def gelu(x: Tensor, approximate: bool = ..., name: str | None = ...) -> Tensor:
    """Gaussian error linear unit (GELU): `x` times the probability that a standard normal variable is below `x`."""
@overload
def gelu(input: Tensor, approximate: bool = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def glu(x: Tensor, axis: int = ..., name: str | None = ...) -> Tensor:
    """Gated linear unit (GLU): the first half of `x` along `axis`, times the sigmoid of the second half."""
@overload
def glu(input: Tensor, dim: int = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def grid_sample(x: Tensor, grid: Tensor, mode: str = ..., padding_mode: str = ..., align_corners: bool = ..., name: str | None = ...) -> Tensor:
    """Grid sampling: the values of images at given positions."""
@overload
def grid_sample(input: Tensor, grid: Tensor, mode: str = ..., padding_mode: str = ..., align_corners: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def group_norm(x: Tensor, num_groups: int, epsilon: float = ..., weight: Tensor | None = ..., bias: Tensor | None = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Group normalization: normalize groups of channels of each sample by their own mean and variance."""
@overload
def group_norm(input: Tensor, num_groups: int, eps: float = ..., weight: Tensor | None = ..., bias: Tensor | None = ..., data_format: str = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def gumbel_softmax(x: Tensor, temperature: float = ..., hard: bool = ..., axis: int = ..., name: str | None = ...) -> Tensor:
    """Gumbel softmax: softmax of `x` plus Gumbel noise, a differentiable random choice along `axis`."""
@overload
def gumbel_softmax(input: Tensor, temperature: float = ..., hard: bool = ..., dim: int = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def hardshrink(x: Tensor, threshold: float = ..., name: str | None = ...) -> Tensor:
    """Hard shrinkage: 0 between `-threshold` and `threshold`, `x` beyond."""
@overload
def hardshrink(input: Tensor, lambd: float = ..., name: str | None = ..., *, threshold: float = ...) -> Tensor: ...
@overload
def hardsigmoid(x: Tensor, slope: float = ..., offset: float = ..., name: str | None = ...) -> Tensor:
    """Hard sigmoid: `slope * x + offset`, cut to [0, 1]."""
@overload
def hardsigmoid(input: Tensor, slope: float = ..., offset: float = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def hardswish(x: Tensor, name: str | None = ...) -> Tensor:
    """Hard swish: `x * relu6(x + 3) / 6` of each element."""
@overload
def hardswish(input: Tensor, name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def hardtanh(x: Tensor, min: float = ..., max: float = ..., name: str | None = ...) -> Tensor:
    """Hard tanh: `x` between `min` and `max`, and these bounds beyond them."""
@overload
def hardtanh(input: Tensor, from_: float = ..., to: float = ..., name: str | None = ..., *, min: float = ..., max: float = ..., inplace: Any = ...) -> Tensor: ...
@overload
def hardtanh_(x: Any, min: Any = ..., max: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `hardtanh`: writes the result into the first argument and returns it."""
@overload
def hardtanh_(input: Any, from_: Any = ..., to: Any = ..., name: Any = ..., *, min: Any = ..., max: Any = ...) -> Tensor: ...
@overload
def hinge_embedding_loss(input: Tensor, label: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Hinge embedding loss: distances of similar pairs, and `max(0, margin - distance)` of dissimilar ones."""
@overload
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def hsigmoid_loss(input: Tensor, label: Tensor, num_classes: int, weight: Tensor, bias: Tensor | None = ..., path_table: Tensor | None = ..., path_code: Tensor | None = ..., is_sparse: bool = ..., name: str | None = ...) -> Tensor:
    """Hierarchical sigmoid loss: binary cross entropy at each node on the path to the label, in a binary tree of"""
@overload
def hsigmoid_loss(input: Tensor, target: Tensor, num_classes: int, weight: Tensor, bias: Tensor | None = ..., path_table: Tensor | None = ..., path_code: Tensor | None = ..., is_sparse: bool = ..., name: str | None = ...) -> Tensor: ...
@overload
def instance_norm(x: Tensor, running_mean: Tensor | None = ..., running_var: Tensor | None = ..., weight: Tensor | None = ..., bias: Tensor | None = ..., use_input_stats: bool = ..., momentum: float = ..., eps: float = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Instance normalization: normalize each channel of each sample by its own mean and variance."""
@overload
def instance_norm(input: Tensor, running_mean: Tensor | None = ..., running_var: Tensor | None = ..., weight: Tensor | None = ..., bias: Tensor | None = ..., use_input_stats: bool = ..., momentum: float = ..., eps: float = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def interpolate(x: Tensor, size: Any = ..., scale_factor: Any = ..., mode: str = ..., align_corners: bool = ..., align_mode: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Interpolation (resizing): `x` at another resolution."""
@overload
def interpolate(input: Tensor, size: Any = ..., scale_factor: Any = ..., mode: str = ..., align_corners: bool = ..., align_mode: int = ..., data_format: str = ..., name: str | None = ..., *, antialias: Any = ..., recompute_scale_factor: Any = ...) -> Tensor: ...
@overload
def kl_div(input: Tensor, label: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor:
    """Kullback-Leibler divergence, `label * (log(label) - input)`, with log probabilities as `input`."""
@overload
def kl_div(input: Tensor, target: Tensor, reduction: str = ..., name: str | None = ..., *, log_target: Any = ...) -> Tensor: ...
@overload
def l1_loss(input: Tensor, label: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor:
    """L1 loss: mean of the absolute differences."""
@overload
def l1_loss(input: Tensor, target: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def label_smooth(label: Tensor, prior_dist: Tensor | None = ..., epsilon: float = ..., name: str | None = ...) -> Tensor:
    """Label smoothing: `(1 - epsilon) * label + epsilon * prior`."""
@overload
def label_smooth(target: Tensor, prior_dist: Tensor | None = ..., eps: float = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def layer_norm(x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = ..., bias: Tensor | None = ..., epsilon: float = ..., name: str | None = ...) -> Tensor:
    """Layer normalization: normalize the last axes by their own mean and variance:"""
@overload
def layer_norm(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = ..., bias: Tensor | None = ..., eps: float = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def leaky_relu(x: Tensor, negative_slope: float = ..., name: str | None = ...) -> Tensor:
    """Leaky ReLU: `x` where it is positive, `negative_slope * x` elsewhere."""
@overload
def leaky_relu(input: Tensor, negative_slope: float = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def leaky_relu_(x: Any, negative_slope: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `leaky_relu`: writes the result into the first argument and returns it."""
@overload
def leaky_relu_(input: Any, negative_slope: Any = ..., name: Any = ...) -> Tensor: ...
@overload
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """Linear transformation: `x @ weight + bias`."""
@overload
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = ..., name: str | None = ...) -> Tensor: ...
@overload
def local_response_norm(x: Tensor, size: int, alpha: float = ..., beta: float = ..., k: float = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Local response normalization: divide by a power of the mean square of neighbouring channels:"""
@overload
def local_response_norm(input: Tensor, size: int, alpha: float = ..., beta: float = ..., k: float = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def log_loss(input: Tensor, label: Tensor, epsilon: float = ..., name: str | None = ...) -> Tensor:
    """Log loss: binary cross entropy of each probability, with `epsilon` added so that logarithms stay finite."""
@overload
def log_loss(input: Tensor, target: Tensor, eps: float = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def log_sigmoid(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm of the sigmoid: `log(1 / (1 + exp(-x)))` of each element, safe from overflow."""
@overload
def log_sigmoid(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def log_softmax(x: Tensor, axis: int = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Logarithm of `softmax`, computed without taking a logarithm of small numbers."""
@overload
def log_softmax(input: Tensor, dim: int = ..., dtype: Any = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def logsigmoid(x: Tensor, name: str | None = ...) -> Tensor:
    """Logarithm of the sigmoid: `log(1 / (1 + exp(-x)))` of each element, safe from overflow."""
@overload
def logsigmoid(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Power average pooling: the root of the sum of powers of each window."""
@overload
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Power average pooling: the root of the sum of powers of each window."""
@overload
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def margin_cross_entropy(logits: Tensor, label: Tensor, margin1: float = ..., margin2: float = ..., margin3: float = ..., scale: float = ..., group: Any = ..., return_softmax: bool = ..., reduction: str | None = ...) -> Any:
    """Margin cross entropy (ArcFace, CosFace, SphereFace): softmax cross entropy of cosines, with a margin for the right class."""
@overload
def margin_cross_entropy(logits: Tensor, target: Tensor, margin1: float = ..., margin2: float = ..., margin3: float = ..., scale: float = ..., group: Any = ..., return_softmax: bool = ..., reduction: str | None = ...) -> Any: ...
@overload
def margin_ranking_loss(input: Tensor, other: Tensor, label: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Margin ranking loss of two scores, `max(0, margin - label * (input - other))`."""
@overload
def margin_ranking_loss(input: Tensor, other: Tensor, target: Tensor, margin: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def max_pool1d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_mask: bool = ..., ceil_mode: bool = ..., name: str | None = ...) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf."""
@overload
def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_indices: bool = ..., ceil_mode: bool = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def max_pool2d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_mask: bool = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf."""
@overload
def max_pool2d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_indices: bool = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def max_pool3d(x: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_mask: bool = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ...) -> Any:
    """Max pooling: maxima of windows; padding counts as -inf."""
@overload
def max_pool3d(input: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., return_indices: bool = ..., ceil_mode: bool = ..., data_format: str = ..., name: str | None = ..., *, return_mask: bool = ...) -> Any: ...
@overload
def max_unpool1d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool1d`: each maximum at its index, zeros elsewhere."""
@overload
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def max_unpool2d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool2d`: each maximum at its index, zeros elsewhere."""
@overload
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def max_unpool3d(x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor:
    """Max unpooling, a partial inverse of `max_pool3d`: each maximum at its index, zeros elsewhere."""
@overload
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = ..., padding: Any = ..., data_format: str = ..., output_size: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def maxout(x: Tensor, groups: int, axis: int = ..., name: str | None = ...) -> Tensor:
    """Maxout: the largest of every `groups` neighbouring channels."""
@overload
def maxout(input: Tensor, groups: int, dim: int = ..., name: str | None = ..., *, axis: int = ...) -> Tensor: ...
@overload
def mish(x: Tensor, name: str | None = ...) -> Tensor:
    """Mish: `x * tanh(softplus(x))` of each element."""
@overload
def mish(input: Tensor, name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def mse_loss(input: Tensor, label: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor:
    """Mean squared error: mean of the squared differences."""
@overload
def mse_loss(input: Tensor, target: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def multi_label_margin_loss(input: Tensor, label: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor:
    """Margin loss of several right classes: the mean over classes of `max(0, 1 - (input[right] - input[wrong]))`, for each right one."""
@overload
def multi_label_margin_loss(input: Tensor, target: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def multi_label_soft_margin_loss(input: Tensor, label: Tensor, weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Multi-label soft margin loss: binary cross entropy of logits, averaged over the classes that an example can"""
@overload
def multi_label_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def multi_margin_loss(input: Tensor, label: Tensor, p: int = ..., margin: float = ..., weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Multi-margin loss: hinge loss of every other class against the score of the right one."""
@overload
def multi_margin_loss(input: Tensor, target: Tensor, p: int = ..., margin: float = ..., weight: Tensor | None = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def nll_loss(input: Tensor, label: Tensor, weight: Tensor | None = ..., ignore_index: int = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Negative log likelihood: minus the log probability at the label: cross entropy after `log_softmax`."""
@overload
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = ..., ignore_index: int = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def normalize(x: Tensor, p: float = ..., axis: int = ..., epsilon: float = ..., name: str | None = ...) -> Tensor:
    """Normalization by a norm: `x` divided by its `p`-norm along `axis`, or by `epsilon` where that is larger."""
@overload
def normalize(input: Tensor, p: float = ..., dim: int = ..., eps: float = ..., name: str | None = ..., *, axis: int = ..., epsilon: float = ..., out: Any = ...) -> Tensor: ...
@overload
def one_hot(x: Tensor, num_classes: Any, name: str | None = ...) -> Tensor:
    """One-hot vectors: rows with 1 at the index of the class and 0 elsewhere."""
@overload
def one_hot(input: Tensor, num_classes: Any, name: str | None = ...) -> Tensor: ...
@overload
def pairwise_distance(x: Tensor, y: Tensor, p: float = ..., epsilon: float = ..., keepdim: bool = ..., name: str | None = ...) -> Tensor:
    """Distance of pairs: the `p`-norm of `x - y + epsilon` along the last axis."""
@overload
def pairwise_distance(input: Tensor, other: Tensor, p: float = ..., eps: float = ..., keepdim: bool = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Pixel shuffle: rearrange each `factor ** 2` channels into a square of pixels."""
@overload
def pixel_shuffle(input: Tensor, upscale_factor: int, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Pixel unshuffle, the inverse of `pixel_shuffle`: rearrange squares of pixels into channels."""
@overload
def pixel_unshuffle(input: Tensor, downscale_factor: int, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def poisson_nll_loss(input: Tensor, label: Tensor, log_input: bool = ..., full: bool = ..., epsilon: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Poisson negative log likelihood: of counts, given their predicted mean, without the term that depends on the"""
@overload
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = ..., full: bool = ..., eps: float = ..., reduction: str = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def prelu(x: Tensor, weight: Tensor, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Parametric ReLU: `x` where it is positive, `weight * x` elsewhere, with one weight for all or one for each"""
@overload
def prelu(input: Tensor, weight: Tensor, data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def relu(x: Tensor, name: str | None = ...) -> Tensor:
    """Rectified linear unit: max(x, 0) of each element. NaN becomes 0, as in Paddle."""
@overload
def relu(input: Tensor, name: str | None = ..., *, out: Any = ..., inplace: Any = ...) -> Tensor: ...
@overload
def relu6(x: Tensor, name: str | None = ...) -> Tensor:
    """ReLU cut at 6: min(max(x, 0), 6) of each element."""
@overload
def relu6(input: Tensor, name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def relu_(x: Any, name: Any = ...) -> Tensor:
    """In-place form of `relu`: writes the result into the first argument and returns it."""
@overload
def relu_(input: Any, name: Any = ...) -> Tensor: ...
@overload
def rnnt_loss(input: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = ..., fastemit_lambda: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """RNN-T loss (recurrent neural network transducer): the negative log probability of a label, over all its alignments with the input."""
@overload
def rnnt_loss(input: Tensor, target: Tensor, input_lengths: Tensor, label_lengths: Tensor, blank: int = ..., fastemit_lambda: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def rrelu(x: Tensor, lower: float = ..., upper: float = ..., training: bool = ..., name: str | None = ...) -> Tensor:
    """Randomized leaky ReLU: `x` where it is not negative; elsewhere `x` times a slope drawn from [lower, upper)"""
@overload
def rrelu(input: Tensor, lower: float = ..., upper: float = ..., training: bool = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = ..., dropout_p: float = ..., is_causal: bool = ..., training: bool = ..., name: str | None = ...) -> Tensor:
    """Scaled dot product attention: `softmax(query @ key' / sqrt(D) + mask) @ value` for each head, without the matrix"""
@overload
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = ..., dropout_p: float = ..., is_causal: bool = ..., training: bool = ..., name: str | None = ..., *, enable_gqa: Any = ..., backend: Any = ..., scale: Any = ...) -> Tensor: ...
@overload
def selu(x: Tensor, scale: float = ..., alpha: float = ..., name: str | None = ...) -> Tensor:
    """Scaled ELU (SELU): `scale` times ELU; with the default numbers, layers keep mean 0 and variance 1."""
@overload
def selu(input: Tensor, scale: float = ..., alpha: float = ..., name: str | None = ..., *, inplace: Any = ...) -> Tensor: ...
@overload
def sequence_mask(x: Tensor, maxlen: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Sequence mask: 1 at positions within sequences of the lengths `x`, 0 after their ends."""
@overload
def sequence_mask(input: Tensor, maxlen: Any = ..., dtype: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def sigmoid_focal_loss(logit: Tensor, label: Tensor, normalizer: Tensor | None = ..., alpha: float = ..., gamma: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Focal loss: binary cross entropy with less weight on examples that are classified well."""
@overload
def sigmoid_focal_loss(logit: Tensor, target: Tensor, normalizer: Tensor | None = ..., alpha: float = ..., gamma: float = ..., reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def silu(x: Tensor, name: str | None = ...) -> Tensor:
    """SiLU (swish): `x * sigmoid(x)` of each element."""
@overload
def silu(input: Tensor, name: str | None = ..., *, out: Any = ..., inplace: Any = ...) -> Tensor: ...
@overload
def smooth_l1_loss(input: Tensor, label: Tensor, reduction: str = ..., delta: float = ..., name: str | None = ...) -> Tensor:
    """Smooth L1 loss (Huber): half the square of a small difference, `delta * (|d| - delta / 2)` of one"""
@overload
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = ..., delta: float = ..., name: str | None = ..., *, is_huber: Any = ...) -> Tensor: ...
@overload
def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor:
    """Soft margin loss (logistic loss), `log(1 + exp(-label * input))`."""
@overload
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def softmax(x: Tensor, axis: int = ..., dtype: Any = ..., name: str | None = ...) -> Tensor:
    """Softmax: `exp(x)` divided by its sum along `axis`, safe from overflow."""
@overload
def softmax(input: Tensor, dim: int = ..., dtype: Any = ..., name: str | None = ..., *, axis: int = ..., out: Any = ...) -> Tensor: ...
@overload
def softmax_(x: Any, axis: Any = ..., dtype: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `softmax`: writes the result into the first argument and returns it."""
@overload
def softmax_(input: Any, dim: Any = ..., dtype: Any = ..., name: Any = ..., *, axis: Any = ...) -> Tensor: ...
@overload
def softmax_with_cross_entropy(logits: Tensor, label: Tensor, soft_label: bool = ..., ignore_index: int = ..., numeric_stable_mode: bool = ..., return_softmax: bool = ..., axis: int = ...) -> Any:
    """Cross entropy of each example; with `return_softmax` also the softmax."""
@overload
def softmax_with_cross_entropy(logits: Tensor, target: Tensor, soft_label: bool = ..., ignore_index: int = ..., numeric_stable_mode: bool = ..., return_softmax: bool = ..., dim: int = ..., *, axis: int = ...) -> Any: ...
@overload
def softplus(x: Tensor, beta: float = ..., threshold: float = ..., name: str | None = ...) -> Tensor:
    """Softplus: `log(1 + exp(beta * x)) / beta`, a smooth form of relu; `x` itself where `beta * x` exceeds"""
@overload
def softplus(input: Tensor, beta: float = ..., lambd: float = ..., name: str | None = ..., *, threshold: float = ...) -> Tensor: ...
@overload
def softshrink(x: Tensor, threshold: float = ..., name: str | None = ...) -> Tensor:
    """Soft shrinkage: `x` moved towards 0 by `threshold`, and 0 where that would cross it."""
@overload
def softshrink(input: Tensor, lambd: float = ..., name: str | None = ..., *, threshold: float = ...) -> Tensor: ...
@overload
def softsign(x: Tensor, name: str | None = ...) -> Tensor:
    """Softsign: `x / (1 + |x|)` of each element."""
@overload
def softsign(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """Squares of the differences of two tensors."""
@overload
def square_error_cost(input: Tensor, target: Tensor) -> Tensor: ...
@overload
def swiglu(x: Tensor, y: Tensor | None = ..., name: str | None = ...) -> Tensor:
    """`silu(x) * y`: the gate of many language models."""
@overload
def swiglu(input: Tensor, other: Tensor | None = ..., name: str | None = ..., *, y: Tensor | None = ...) -> Tensor: ...
@overload
def swish(x: Tensor, name: str | None = ...) -> Tensor:
    """SiLU (swish): `x * sigmoid(x)` of each element: another name of `silu`."""
@overload
def swish(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def tanhshrink(x: Tensor, name: str | None = ...) -> Tensor:
    """Tanh shrinkage: `x - tanh(x)` of each element."""
@overload
def tanhshrink(input: Tensor, name: str | None = ...) -> Tensor: ...
@overload
def temporal_shift(x: Tensor, seg_num: int, shift_ratio: float = ..., name: str | None = ..., data_format: str = ...) -> Tensor:
    """Temporal shift: move some channels of each frame to the next frame of the video, and some to the previous one."""
@overload
def temporal_shift(input: Tensor, seg_num: int, shift_ratio: float = ..., name: str | None = ..., data_format: str = ...) -> Tensor: ...
@overload
def thresholded_relu(x: Tensor, threshold: float = ..., name: str | None = ...) -> Tensor:
    """Thresholded ReLU: `x` where it exceeds `threshold`, 0 elsewhere."""
@overload
def thresholded_relu(input: Tensor, lambd: float = ..., name: str | None = ..., *, threshold: float = ..., inplace: Any = ..., value: Any = ...) -> Tensor: ...
@overload
def thresholded_relu_(x: Any, threshold: Any = ..., name: Any = ...) -> Tensor:
    """In-place form of `thresholded_relu`: writes the result into the first argument and returns it."""
@overload
def thresholded_relu_(input: Any, lambd: Any = ..., name: Any = ..., *, threshold: Any = ..., value: Any = ...) -> Tensor: ...
@overload
def triplet_margin_loss(input: Tensor, positive: Tensor, negative: Tensor, margin: float = ..., p: float = ..., epsilon: float = ..., swap: bool = ..., reduction: str = ..., name: str | None = ...) -> Tensor:
    """Triplet margin loss: anchors should be nearer to positive examples than to negative ones, by a margin."""
@overload
def triplet_margin_loss(input: Tensor, positive: Tensor, negative: Tensor, margin: float = ..., p: float = ..., eps: float = ..., swap: bool = ..., reduction: str = ..., name: str | None = ..., *, epsilon: float = ...) -> Tensor: ...
@overload
def unfold(x: Tensor, kernel_sizes: Any, strides: Any = ..., paddings: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor:
    """Im2col: every window that slides over images as one column."""
@overload
def unfold(input: Tensor, kernel_sizes: Any, strides: Any = ..., paddings: Any = ..., dilations: Any = ..., name: str | None = ...) -> Tensor: ...
@overload
def upsample(x: Tensor, size: Any = ..., scale_factor: Any = ..., mode: str = ..., align_corners: bool = ..., align_mode: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor:
    """Interpolation (resizing): another name of `interpolate`, which describes arguments and errors."""
@overload
def upsample(input: Tensor, size: Any = ..., scale_factor: Any = ..., mode: str = ..., align_corners: bool = ..., align_mode: int = ..., data_format: str = ..., name: str | None = ...) -> Tensor: ...
@overload
def zeropad2d(x: Tensor, padding: Sequence[int] | Tensor, data_format: str = ..., name: str | None = ...) -> Tensor:
    """Zero padding of images."""
@overload
def zeropad2d(input: Tensor, padding: Sequence[int] | Tensor, data_format: str = ..., name: str | None = ...) -> Tensor: ...
__all__: list[str]
