"""Stub of wherry.amp, written by tools/stubs.py: where each public name comes from."""
from wherry_train.amp.casting import auto_cast as _auto_cast
from wherry_train.amp.casting import auto_cast as auto_cast
from wherry_train.amp.casting import autocast as autocast
from wherry_train.amp.casting import decorate as _decorate
from wherry_train.amp.casting import decorate as decorate
from wherry_train.amp.casting import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from wherry_train.amp.casting import get_autocast_dtype as get_autocast_dtype
from wherry_train.amp.casting import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from wherry_train.amp.casting import is_autocast_enabled as is_autocast_enabled
from wherry_train.amp.casting import is_bfloat16_supported as is_bfloat16_supported
from wherry_train.amp.casting import is_float16_supported as is_float16_supported
from wherry_train.amp.grad_scaler import GradScaler as GradScaler
from wherry_train.amp.grad_scaler import GradScaler as _GradScaler
AmpScaler = _GradScaler
__all__: list[str]
amp_decorate = _decorate
amp_guard = _auto_cast
