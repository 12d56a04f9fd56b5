"""Wherry: deep learning with Paddle's API.

    import wherry as paddle

Nothing is defined here: tensors and their functions come from wherry_tensor, gradients from
wherry_autograd, layers from wherry_nn. Modules below load when they are first used.
"""
# ruff: noqa: F401, F405  names of the star are listed from tensor's own list; others are for checkers
from importlib import import_module as _import_module
from typing import Any

from wherry import _missing

_missing.speak()  # before imports, which may find that a package is missing

# ruff: noqa: E402
# Registers the kernels now: asking the installed packages for their entry points is slower.
import wherry_ops_cpu.column as _kernels
from wherry import _absent, _device_plugins, _later_methods, _screen
from wherry._version import __version__ as __version__
from wherry_autograd import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from wherry_tensor import *  # noqa: F403
from wherry_tensor import __all__ as _tensor_names

_kernels.register()
_later_methods.install()
_screen.install()
_absent.install()
_no_such_name = _absent.looked_up(__name__)
for _module in ("device", "linalg"):  # in place of the star's `device`, which is tensor's
    _import_module(f"{__name__}.{_module}")
_device_plugins.install()

_MODULES = (
    "amp",
    "audio",
    "autograd",
    "callbacks",
    "compat",
    "cuda",
    "distributed",
    "distribution",
    "export",
    "fft",
    "framework",
    "geometric",
    "hub",
    "incubate",
    "inference",
    "io",
    "jit",
    "metric",
    "nn",
    "onnx",
    "optimizer",
    "ort",
    "profiler",
    "quant",
    "quantization",
    "random",
    "reader",
    "regularizer",
    "signal",
    "sparse",
    "special",
    "static",
    "sysconfig",
    "tensor",
    "text",
    "utils",
    "version",
    "vision",
)
_LATER = {  # at the top in Paddle; programs that use tensors alone need not load layers
    "DataParallel": "wherry.distributed",
    "InferenceSession": "wherry_infer.session",
    "alias_paddle": "wherry._alias",
    "disable_signal_handler": "wherry._modes",
    "disable_static": "wherry_graph.static",
    "enable_static": "wherry_graph.static",
    "Model": "wherry_train",
    "LazyGuard": "wherry_nn",
    **dict.fromkeys(("adaptive_avg_pool1d", "conv1d", "conv2d", "conv3d", "group_norm", "layer_norm"), "wherry_nn.functional"),
    "softmax": "wherry_nn.compat",
    **dict.fromkeys(("cdouble", "cfloat", "double", "float", "half", "uint16"), "wherry_tensor.dtype_names"),
    "vecdot": "wherry.linalg",
    **dict.fromkeys(
        ("autocast", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_enabled"), "wherry_train.amp"
    ),
    "Size": "wherry_tensor.shapes",
    "XPUPinnedPlace": "wherry_tensor.device",
    "disable_compat": "wherry._modes",
    "enable_compat": "wherry._modes",
    "ParamAttr": "wherry_nn",
    "batch": "wherry_train.reader",
    "check_shape": "wherry.utils.checks",
    "create_parameter": "wherry_nn",
    "doctor": "wherry_train",
    "flops": "wherry_train",
    "load": "wherry_train",
    "quantize": "wherry_quant.hurry",
    "save": "wherry_train",
    "seed_everything": "wherry_train",
    "summary": "wherry_train",
}

__all__ = [
    *_tensor_names,
    *_MODULES,
    *_LATER,
    "device",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "linalg",
    "no_grad",
    "set_grad_enabled",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(_import_module(_LATER[name]), name)
    return _no_such_name(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
