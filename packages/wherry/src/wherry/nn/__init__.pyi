"""Stub of wherry.nn, written by tools/stubs.py: where each public name comes from."""
from wherry.nn import attention as attention
from wherry.nn import functional as functional
from wherry.nn import initializer as initializer
from wherry.nn import quant as quant
from wherry.nn import utils as utils
from wherry_nn import dynamic_decode as dynamic_decode
from wherry_nn.clip import ClipGradByGlobalNorm as ClipGradByGlobalNorm
from wherry_nn.clip import ClipGradByNorm as ClipGradByNorm
from wherry_nn.clip import ClipGradByValue as ClipGradByValue
from wherry_nn.container import Identity as Identity
from wherry_nn.container import LayerDict as LayerDict
from wherry_nn.container import LayerDict as _LayerDict
from wherry_nn.container import LayerList as LayerList
from wherry_nn.container import LayerList as _LayerList
from wherry_nn.container import ParameterDict as ParameterDict
from wherry_nn.container import ParameterList as ParameterList
from wherry_nn.container import Sequential as Sequential
from wherry_nn.layer import Layer as Layer
from wherry_nn.layer import Layer as _Layer
from wherry_nn.layers.activation import CELU as CELU
from wherry_nn.layers.activation import ELU as ELU
from wherry_nn.layers.activation import GELU as GELU
from wherry_nn.layers.activation import GLU as GLU
from wherry_nn.layers.activation import Hardshrink as Hardshrink
from wherry_nn.layers.activation import Hardsigmoid as Hardsigmoid
from wherry_nn.layers.activation import Hardswish as Hardswish
from wherry_nn.layers.activation import Hardtanh as Hardtanh
from wherry_nn.layers.activation import LeakyReLU as LeakyReLU
from wherry_nn.layers.activation import LogSigmoid as LogSigmoid
from wherry_nn.layers.activation import LogSoftmax as LogSoftmax
from wherry_nn.layers.activation import Maxout as Maxout
from wherry_nn.layers.activation import Mish as Mish
from wherry_nn.layers.activation import PReLU as PReLU
from wherry_nn.layers.activation import RReLU as RReLU
from wherry_nn.layers.activation import ReLU as ReLU
from wherry_nn.layers.activation import ReLU6 as ReLU6
from wherry_nn.layers.activation import SELU as SELU
from wherry_nn.layers.activation import Sigmoid as Sigmoid
from wherry_nn.layers.activation import Silu as Silu
from wherry_nn.layers.activation import Silu as _Silu
from wherry_nn.layers.activation import Softmax as Softmax
from wherry_nn.layers.activation import Softmax2D as Softmax2D
from wherry_nn.layers.activation import Softplus as Softplus
from wherry_nn.layers.activation import Softshrink as Softshrink
from wherry_nn.layers.activation import Softsign as Softsign
from wherry_nn.layers.activation import Swish as Swish
from wherry_nn.layers.activation import Tanh as Tanh
from wherry_nn.layers.activation import Tanhshrink as Tanhshrink
from wherry_nn.layers.activation import ThresholdedReLU as ThresholdedReLU
from wherry_nn.layers.common import AlphaDropout as AlphaDropout
from wherry_nn.layers.common import Bilinear as Bilinear
from wherry_nn.layers.common import CosineSimilarity as CosineSimilarity
from wherry_nn.layers.common import Dropout as Dropout
from wherry_nn.layers.common import Dropout2D as Dropout2D
from wherry_nn.layers.common import Dropout3D as Dropout3D
from wherry_nn.layers.common import Embedding as Embedding
from wherry_nn.layers.common import Flatten as Flatten
from wherry_nn.layers.common import Linear as Linear
from wherry_nn.layers.common import Unflatten as Unflatten
from wherry_nn.layers.conv import Conv1D as Conv1D
from wherry_nn.layers.conv import Conv1D as _Conv1D
from wherry_nn.layers.conv import Conv1DTranspose as Conv1DTranspose
from wherry_nn.layers.conv import Conv2D as Conv2D
from wherry_nn.layers.conv import Conv2D as _Conv2D
from wherry_nn.layers.conv import Conv2DTranspose as Conv2DTranspose
from wherry_nn.layers.conv import Conv3D as Conv3D
from wherry_nn.layers.conv import Conv3D as _Conv3D
from wherry_nn.layers.conv import Conv3DTranspose as Conv3DTranspose
from wherry_nn.layers.decode import BeamSearchDecoder as BeamSearchDecoder
from wherry_nn.layers.distance import PairwiseDistance as PairwiseDistance
from wherry_nn.layers.later import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from wherry_nn.layers.later import CircularPad1D as CircularPad1D
from wherry_nn.layers.later import CircularPad1D as _CircularPad1D
from wherry_nn.layers.later import CircularPad2D as CircularPad2D
from wherry_nn.layers.later import CircularPad2D as _CircularPad2D
from wherry_nn.layers.later import CircularPad3D as CircularPad3D
from wherry_nn.layers.later import CircularPad3D as _CircularPad3D
from wherry_nn.layers.later import ConstantPad1D as ConstantPad1D
from wherry_nn.layers.later import ConstantPad1D as _ConstantPad1D
from wherry_nn.layers.later import ConstantPad2D as ConstantPad2D
from wherry_nn.layers.later import ConstantPad2D as _ConstantPad2D
from wherry_nn.layers.later import ConstantPad3D as ConstantPad3D
from wherry_nn.layers.later import ConstantPad3D as _ConstantPad3D
from wherry_nn.layers.later import FeatureAlphaDropout as FeatureAlphaDropout
from wherry_nn.layers.later import FractionalMaxPool2D as FractionalMaxPool2D
from wherry_nn.layers.later import FractionalMaxPool3D as FractionalMaxPool3D
from wherry_nn.layers.later import LPPool1D as LPPool1D
from wherry_nn.layers.later import LPPool1D as _LPPool1D
from wherry_nn.layers.later import LPPool2D as LPPool2D
from wherry_nn.layers.later import LPPool2D as _LPPool2D
from wherry_nn.layers.later import MultiLabelMarginLoss as MultiLabelMarginLoss
from wherry_nn.layers.later import ReflectionPad1D as ReflectionPad1D
from wherry_nn.layers.later import ReflectionPad1D as _ReflectionPad1D
from wherry_nn.layers.later import ReflectionPad2D as ReflectionPad2D
from wherry_nn.layers.later import ReflectionPad2D as _ReflectionPad2D
from wherry_nn.layers.later import ReflectionPad3D as ReflectionPad3D
from wherry_nn.layers.later import ReflectionPad3D as _ReflectionPad3D
from wherry_nn.layers.later import ReplicationPad1D as ReplicationPad1D
from wherry_nn.layers.later import ReplicationPad1D as _ReplicationPad1D
from wherry_nn.layers.later import ReplicationPad2D as ReplicationPad2D
from wherry_nn.layers.later import ReplicationPad2D as _ReplicationPad2D
from wherry_nn.layers.later import ReplicationPad3D as ReplicationPad3D
from wherry_nn.layers.later import ReplicationPad3D as _ReplicationPad3D
from wherry_nn.layers.later import ZeroPad1D as ZeroPad1D
from wherry_nn.layers.later import ZeroPad3D as ZeroPad3D
from wherry_nn.layers.loss import BCELoss as BCELoss
from wherry_nn.layers.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from wherry_nn.layers.loss import CTCLoss as CTCLoss
from wherry_nn.layers.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from wherry_nn.layers.loss import CrossEntropyLoss as CrossEntropyLoss
from wherry_nn.layers.loss import GaussianNLLLoss as GaussianNLLLoss
from wherry_nn.layers.loss import HSigmoidLoss as HSigmoidLoss
from wherry_nn.layers.loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from wherry_nn.layers.loss import KLDivLoss as KLDivLoss
from wherry_nn.layers.loss import L1Loss as L1Loss
from wherry_nn.layers.loss import MSELoss as MSELoss
from wherry_nn.layers.loss import MarginRankingLoss as MarginRankingLoss
from wherry_nn.layers.loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from wherry_nn.layers.loss import MultiMarginLoss as MultiMarginLoss
from wherry_nn.layers.loss import NLLLoss as NLLLoss
from wherry_nn.layers.loss import PoissonNLLLoss as PoissonNLLLoss
from wherry_nn.layers.loss import RNNTLoss as RNNTLoss
from wherry_nn.layers.loss import SmoothL1Loss as SmoothL1Loss
from wherry_nn.layers.loss import SoftMarginLoss as SoftMarginLoss
from wherry_nn.layers.loss import TripletMarginLoss as TripletMarginLoss
from wherry_nn.layers.loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from wherry_nn.layers.norm import BatchNorm as BatchNorm
from wherry_nn.layers.norm import BatchNorm1D as BatchNorm1D
from wherry_nn.layers.norm import BatchNorm2D as BatchNorm2D
from wherry_nn.layers.norm import BatchNorm3D as BatchNorm3D
from wherry_nn.layers.norm import GroupNorm as GroupNorm
from wherry_nn.layers.norm import InstanceNorm1D as InstanceNorm1D
from wherry_nn.layers.norm import InstanceNorm2D as InstanceNorm2D
from wherry_nn.layers.norm import InstanceNorm3D as InstanceNorm3D
from wherry_nn.layers.norm import LayerNorm as LayerNorm
from wherry_nn.layers.norm import LocalResponseNorm as LocalResponseNorm
from wherry_nn.layers.norm import SpectralNorm as SpectralNorm
from wherry_nn.layers.norm import SyncBatchNorm as SyncBatchNorm
from wherry_nn.layers.padding import Pad1D as Pad1D
from wherry_nn.layers.padding import Pad2D as Pad2D
from wherry_nn.layers.padding import Pad3D as Pad3D
from wherry_nn.layers.padding import ZeroPad2D as ZeroPad2D
from wherry_nn.layers.pooling import AdaptiveAvgPool1D as AdaptiveAvgPool1D
from wherry_nn.layers.pooling import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from wherry_nn.layers.pooling import AdaptiveAvgPool3D as AdaptiveAvgPool3D
from wherry_nn.layers.pooling import AdaptiveMaxPool1D as AdaptiveMaxPool1D
from wherry_nn.layers.pooling import AdaptiveMaxPool1D as _AdaptiveMaxPool1D
from wherry_nn.layers.pooling import AdaptiveMaxPool2D as AdaptiveMaxPool2D
from wherry_nn.layers.pooling import AdaptiveMaxPool2D as _AdaptiveMaxPool2D
from wherry_nn.layers.pooling import AdaptiveMaxPool3D as AdaptiveMaxPool3D
from wherry_nn.layers.pooling import AdaptiveMaxPool3D as _AdaptiveMaxPool3D
from wherry_nn.layers.pooling import AvgPool1D as AvgPool1D
from wherry_nn.layers.pooling import AvgPool2D as AvgPool2D
from wherry_nn.layers.pooling import AvgPool3D as AvgPool3D
from wherry_nn.layers.pooling import MaxPool1D as MaxPool1D
from wherry_nn.layers.pooling import MaxPool2D as MaxPool2D
from wherry_nn.layers.pooling import MaxPool3D as MaxPool3D
from wherry_nn.layers.pooling import MaxUnPool1D as MaxUnPool1D
from wherry_nn.layers.pooling import MaxUnPool2D as MaxUnPool2D
from wherry_nn.layers.pooling import MaxUnPool3D as MaxUnPool3D
from wherry_nn.layers.resizing import Upsample as Upsample
from wherry_nn.layers.resizing import UpsamplingBilinear2D as UpsamplingBilinear2D
from wherry_nn.layers.resizing import UpsamplingNearest2D as UpsamplingNearest2D
from wherry_nn.layers.rnn import BiRNN as BiRNN
from wherry_nn.layers.rnn import GRU as GRU
from wherry_nn.layers.rnn import GRUCell as GRUCell
from wherry_nn.layers.rnn import LSTM as LSTM
from wherry_nn.layers.rnn import LSTMCell as LSTMCell
from wherry_nn.layers.rnn import RNN as RNN
from wherry_nn.layers.rnn import RNNCellBase as RNNCellBase
from wherry_nn.layers.rnn import SimpleRNN as SimpleRNN
from wherry_nn.layers.rnn import SimpleRNNCell as SimpleRNNCell
from wherry_nn.layers.sliding import Fold as Fold
from wherry_nn.layers.sliding import Unfold as Unfold
from wherry_nn.layers.transformer import MultiHeadAttention as MultiHeadAttention
from wherry_nn.layers.transformer import Transformer as Transformer
from wherry_nn.layers.transformer import TransformerDecoder as TransformerDecoder
from wherry_nn.layers.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from wherry_nn.layers.transformer import TransformerEncoder as TransformerEncoder
from wherry_nn.layers.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from wherry_nn.layers.vision import ChannelShuffle as ChannelShuffle
from wherry_nn.layers.vision import PixelShuffle as PixelShuffle
from wherry_nn.layers.vision import PixelUnshuffle as PixelUnshuffle
from wherry_nn.lazy import LazyGuard as LazyGuard
AdaptiveMaxPool1d = _AdaptiveMaxPool1D
AdaptiveMaxPool2d = _AdaptiveMaxPool2D
AdaptiveMaxPool3d = _AdaptiveMaxPool3D
CircularPad1d = _CircularPad1D
CircularPad2d = _CircularPad2D
CircularPad3d = _CircularPad3D
ConstantPad1d = _ConstantPad1D
ConstantPad2d = _ConstantPad2D
ConstantPad3d = _ConstantPad3D
Conv1d = _Conv1D
Conv2d = _Conv2D
Conv3d = _Conv3D
LPPool1d = _LPPool1D
LPPool2d = _LPPool2D
Module = _Layer
ModuleDict = _LayerDict
ModuleList = _LayerList
ReflectionPad1d = _ReflectionPad1D
ReflectionPad2d = _ReflectionPad2D
ReflectionPad3d = _ReflectionPad3D
ReplicationPad1d = _ReplicationPad1D
ReplicationPad2d = _ReplicationPad2D
ReplicationPad3d = _ReplicationPad3D
SiLU = _Silu
__all__: list[str]
