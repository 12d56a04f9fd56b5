"""`paddle.sparse.nn`: layers on sparse tensors."""
from wherry_sparse.nn import functional
from wherry_sparse.nn.layers import (
    BatchNorm,
    Conv2D,
    Conv3D,
    LeakyReLU,
    MaxPool3D,
    ReLU,
    ReLU6,
    Softmax,
    SubmConv2D,
    SubmConv3D,
    SyncBatchNorm,
)

__all__ = [
    "BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax", "SubmConv2D", "SubmConv3D", "SyncBatchNorm", "functional",
]  # fmt: skip
