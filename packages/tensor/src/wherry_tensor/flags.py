"""FLAGS: switches of the whole process, from the environment or from `set_flags`.

A flag is declared here with its default and what it does. Many do nothing here: they exist because Paddle programs set them, are kept
and read back, and the table says why (docs/flags.md is made of it).
"""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor import _core
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.suggestions import did_you_mean

__all__ = ["get_flags", "set_flags"]

Value = bool | int | float | str

_OF_GPUS, _NO_CLUSTER = "of Paddle's GPU libraries and allocator", "needs distributed training"
_NO_POOL = "Paddle's allocator; memory is kept for reuse here, see wherry.device"
_FOR_PADDLE = "of a part of Paddle that has no counterpart here"

_KEPT = 512 << 20  # bytes of freed memory that the core keeps, where nobody sets another limit

# The flags with their defaults, and what each does here. Without an effect they are kept and read back, because programs set them.
FLAGS: dict[str, tuple[Value, str]] = {
    "FLAGS_check_nan_inf": (False, "each op raises when its result holds NaN or infinity; of the thread that sets it"),
    "FLAGS_check_nan_inf_level": (0, "1 and more: the check of FLAGS_check_nan_inf warns and goes on"),
    "FLAGS_paddle_num_threads": (1, "how many threads a kernel may use; Wherry's default is all cores"),
    "FLAGS_host_fallback": (True, "Wherry's own: what a device cannot run, runs on the cpu"),
    "FLAGS_use_cublaslt": (True, "Wherry's own: matrix products on a GPU are cuBLASLt's where it is installed"),
    "FLAGS_use_cudnn": (True, "Wherry's own: convolutions on a GPU are cuDNN's where it is installed"),
    "FLAGS_new_executor_use_cuda_graph": (True, "programs on a GPU run as CUDA graphs from their second run on; Paddle's default is False"),
    "FLAGS_paddle_random": (False, "Wherry's own: the random numbers of Paddle 2.6.2 on a CPU"),
    "FLAGS_paddle_clip": (False, "Wherry's own: softmax and cross entropy clip logits 64 below the largest, as Paddle 2.6.2 on a CPU"),
    "FLAGS_paddle_version": ("2.6", "Wherry's own: \"3.3\" gives Paddle 3.3's results where the two differ, see compatibility.md"),
    "FLAGS_enable_pir_api": (False, "models are saved as Paddle 3 has them, `.json`; its own default is True"),
    "FLAGS_call_stack_level": (1, "2: tracebacks show what lies below the user's line"),
    "FLAGS_init_allocated_mem": (False, "fresh memory of the cpu is filled with bytes that are not zero"),
    "FLAGS_cpu_deterministic": (True, "no effect: results are the same from run to run and with any number of threads"),
    "FLAGS_embedding_deterministic": (0, "no effect: results are the same from run to run"),
    "FLAGS_USE_STANDALONE_EXECUTOR": (True, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_allocator_strategy": ("auto_growth", f"no effect: {_NO_POOL}"),
    "FLAGS_allow_cinn_ops": ("", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_allreduce_record_one_event": (False, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_apply_pass_to_program": (False, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_benchmark": (False, "each op on a GPU is waited for, so that what fails is reported where it fails; `wherry.profiler` times ops"),
    "FLAGS_communicator_fake_rpc": (False, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_independent_recv_thread": (True, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_max_merge_var_num": (20, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_merge_sparse_grad": (True, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_min_send_grad_num_before_recv": (20, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_send_queue_size": (20, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_send_wait_times": (5, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_communicator_thread_pool_size": (5, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_conv_workspace_size_limit": (512, "MiB of scratch memory that a convolution by cuDNN may take"),
    "FLAGS_cudnn_batchnorm_spatial_persistent": (False, f"no effect: {_OF_GPUS}"),
    "FLAGS_cudnn_deterministic": (False, "no effect: results are the same from run to run"),
    "FLAGS_cudnn_exhaustive_search": (False, "no effect: each call has one kernel"),
    "FLAGS_deny_cinn_ops": ("", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_dist_threadpool_size": (0, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_eager_delete_scope": (True, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_eager_delete_tensor_gb": (0.0, "no effect: programs run in memory that is planned ahead; what is eager is freed at once"),
    "FLAGS_enable_cublas_tensor_op_math": (
        False, "products and convolutions of float32 by NVIDIA's libraries may round their operands to TF32, which tensor cores take"
    ),
    "FLAGS_enable_eager_mode": (True, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_enable_parallel_graph": (False, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_enable_rpc_profiler": (False, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_fast_eager_deletion_mode": (True, "no effect: memory is freed in the order of its stream"),
    "FLAGS_fraction_of_cpu_memory_to_use": (1.0, f"no effect: {_NO_POOL}"),
    "FLAGS_fraction_of_cuda_pinned_memory_to_use": (0.5, "no effect: pinned memory is taken when it is needed and kept for reuse"),
    "FLAGS_fraction_of_gpu_memory_to_use": (
        0.92, "no effect: memory of a GPU is taken when it is needed and kept for reuse, see wherry.device.cuda.empty_cache"
    ),
    "FLAGS_gpu_memory_limit_mb": (0, "as many MiB, and no more, this process takes from each GPU for tensors; 0: there is no limit"),
    "FLAGS_fuse_parameter_groups_size": (1, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_fuse_parameter_memory_size": (-1.0, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_initial_cpu_memory_in_mb": (500, f"no effect: {_NO_POOL}"),
    "FLAGS_initial_gpu_memory_in_mb": (0, "no effect: as FLAGS_fraction_of_gpu_memory_to_use"),
    "FLAGS_inner_op_parallelism": (0, "no effect: FLAGS_paddle_num_threads is for all ops"),
    "FLAGS_max_body_size": (2147483647, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_max_inplace_grad_add": (0, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_memory_fraction_of_eager_deletion": (1.0, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_multiple_of_cupti_buffer_size": (1, f"no effect: {_OF_GPUS}"),
    "FLAGS_npu_precision_mode": ("", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_pe_profile_fname": ("", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_print_sub_graph_dir": ("", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_reader_queue_speed_test_mode": (False, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_reallocate_gpu_memory_in_mb": (0, "no effect: as FLAGS_fraction_of_gpu_memory_to_use"),
    "FLAGS_rpc_deadline": (180000, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_rpc_disable_reuse_port": (False, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_rpc_get_thread_num": (12, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_rpc_send_thread_num": (12, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_rpc_server_profile_path": ("./profile_ps", f"no effect: {_NO_CLUSTER}"),
    "FLAGS_run_kp_kernel": (False, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_selected_gpus": ("", "the first number in it is the device that `set_device('gpu')` takes"),
    "FLAGS_selected_mlus": ("", "the first number in it is the device that `set_device('mlu')` takes"),
    "FLAGS_selected_npus": ("", "the first number in it is the device that `set_device('npu')` takes"),
    "FLAGS_selected_xpus": ("", "the first number in it is the device that `set_device('xpu')` takes"),
    "FLAGS_set_to_1d": (False, "no effect: a lone number stays 0-d"),
    "FLAGS_sort_sum_gradient": (False, "no effect: gradients are summed in one order"),
    "FLAGS_sync_nccl_allreduce": (True, f"no effect: {_NO_CLUSTER}"),
    "FLAGS_tracer_profile_fname": ("gperf", f"no effect: {_FOR_PADDLE}"),
    "FLAGS_use_mkldnn": (False, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_use_ngraph": (False, f"no effect: {_FOR_PADDLE}"),
    "FLAGS_use_pinned_memory": (True, "batches of a DataLoader go to a GPU by way of pinned memory"),
    "FLAGS_use_stride_kernel": (True, "no effect: views share memory where they can"),
    "FLAGS_use_system_allocator": (False, "memory of the cpu that is freed goes back to the system at once, instead of being kept for reuse"),
}
_values: dict[str, Value] = {name: default for name, (default, _) in FLAGS.items()}


def get_flags(flags: str | Sequence[str]) -> dict[str, Value]:
    """Values of flags, by name.

    Args:
        flags: one name, as "FLAGS_check_nan_inf", or a list or tuple of names.

    Raises:
        TypeError: `flags` is something else.
        ValueError: the flag does not exist.

    Source:
        `paddle.get_flags`.

    Examples:
        >>> wherry.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    if isinstance(flags, str):
        flags = (flags,)
    elif not isinstance(flags, (list, tuple)):
        raise TypeError(
            f"get_flags: flags must be named by strings. Got {short(flags)}, expected a str, or a list or tuple of them. "
            f"Write get_flags('FLAGS_check_nan_inf')."
        )
    for name in flags:
        _known(name, "get_flags")
    return {name: _read[name]() if name in _read else _values[name] for name in flags}


def set_flags(flags: dict[str, Any]) -> None:
    """Set flags for the whole process.

    `FLAGS_check_nan_inf` makes every operation of the calling thread raise RuntimeError when its
    result holds NaN or infinity; PADDLE_INF_NAN_SKIP_OP, PADDLE_INF_NAN_SKIP_ROLE and PADDLE_INF_NAN_SKIP_VAR of the environment leave
    out ops, what runs "forward", "backward" or to "optimize", and results (`op:part of a name`), separated by commas.
    `FLAGS_paddle_num_threads` sets how many threads a kernel may use.
    `FLAGS_paddle_random`, which Paddle itself does not have, gives the random numbers that Paddle 2.6.2
    draws on a CPU, so that a script prints the same losses under both.
    `FLAGS_paddle_clip`, which Paddle itself does not have, lets `softmax`, `log_softmax` and `cross_entropy` of `nn.functional` take a number that
    lies more than 64 below the largest for one that lies 64 below it, as Paddle's CPU kernels do: no loss is larger than 64.
    `FLAGS_paddle_version`, which Paddle itself does not have, says whether "2.6" or "3.3" decides where both differ: under "3.3" a tensor of
    integers and one of floating numbers are not added, and `x.shape` counts its elements.
    `FLAGS_call_stack_level` of 2 lets tracebacks show what lies below the user's line, compiled code included.
    `FLAGS_host_fallback`, on by default and Wherry's own, lets an op for which a device has neither kernel nor decomposition
    run on the cpu, with one warning for each op; off, such an op raises NotImplementedError.
    The environment sets the same flags when Wherry is imported: `FLAGS_check_nan_inf=1 python train.py`.

    Args:
        flags: values by name.

    Raises:
        TypeError: `flags` is not a dict.
        ValueError: the flag does not exist, or the value does not fit it.

    Source:
        `paddle.set_flags`.

    Examples:
        >>> wherry.set_flags({"FLAGS_check_nan_inf": True})
        >>> wherry.log(wherry.to_tensor([0.0]))
        Traceback (most recent call last):
        wherry_tensor.errors.PreconditionNotMetError: (PreconditionNotMet) log: the result holds NaN or infinity. Got 1 such value (0 NaN, ...
        >>> wherry.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise TypeError(
            f"set_flags: the argument must be a dict. Got {short(flags)}, expected values by name. "
            f"Write set_flags({{'FLAGS_check_nan_inf': True}})."
        )
    wanted = {_known(name, "set_flags"): _converted(name, value, "set_flags") for name, value in flags.items()}
    for name, value in wanted.items():
        before, _values[name] = _values[name], value
        try:
            for effect in _effects.get(name, ()):
                effect(value)
        except InvalidArgumentError:
            _values[name] = before  # the flag has other values than these
            raise


def text_of(name: str) -> str:
    """The value of a flag as text; that of one that is not declared, as FLAGS_selected_customcpus, is what the environment has."""
    return str(_values[name]) if name in _values else os.environ.get(name, "")


def _known(name: Any, op_name: str) -> str:
    if name in _values:
        return name
    raise InvalidArgumentError(
        f"{op_name}: there is no such flag. Got {name!r}, expected one of {len(_values)} names that begin with FLAGS_. "
        f"{did_you_mean(str(name), _values).strip() or 'Check the spelling.'}"
    )


def _converted(name: str, value: Any, op_name: str) -> Value:
    """`value` in the type of the flag; text as the environment has it is read."""
    kind = type(_values[name])
    try:
        if kind is bool and isinstance(value, str):
            return {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False, "": False}[value.lower()]
        return kind(value)
    except (KeyError, TypeError, ValueError):
        raise InvalidArgumentError(
            f"{op_name}: {name} does not take this value. Got {short(value)}, expected a {kind.__name__}, like "
            f"{_values[name]!r}. Pass a plain {kind.__name__}."
        ) from None


def _paddle_random(wanted: Value) -> None:
    from wherry_tensor import paddle_random

    paddle_random.enable(bool(wanted))


def _paddle_version(wanted: Value) -> None:
    from wherry_tensor import paddle_version

    paddle_version.set_version(str(wanted))


_read = {"FLAGS_paddle_num_threads": _core.get_num_threads}  # what set_num_threads changes too
_effects: dict[str, list[Callable[[Value], Any]]] = {
    "FLAGS_call_stack_level": [lambda value: _core.show_frames(int(value) > 1)],
    "FLAGS_host_fallback": [lambda value: _core.set_host_fallback(bool(value))],
    "FLAGS_init_allocated_mem": [lambda value: _core.fill_fresh_memory(bool(value))],
    "FLAGS_benchmark": [lambda value: _core.set_device_graphs(not value, "FLAGS_benchmark")],
    "FLAGS_new_executor_use_cuda_graph": [lambda value: _core.set_device_graphs(bool(value), "FLAGS_new_executor_use_cuda_graph")],
    "FLAGS_paddle_random": [_paddle_random],
    "FLAGS_paddle_version": [_paddle_version],
    "FLAGS_use_system_allocator": [lambda value: _core.set_memory_cache_limit(0 if value else _KEPT)],
    "FLAGS_paddle_num_threads": [lambda value: _core.set_num_threads(max(1, int(value)))],
}


def when_set(name: str, effect: Callable[[Value], Any]) -> None:
    """Call `effect` with the value that flag `name` has, and again whenever it is set: for packages above this one."""
    _effects.setdefault(_known(name, "when_set"), []).append(effect)
    effect(_values[name])


def full_tracebacks() -> bool:
    """Whether tracebacks show what lies below the user's line: FLAGS_call_stack_level is 2 or more."""
    return int(_values["FLAGS_call_stack_level"]) > 1


def read_environment() -> None:
    """Set the flags that the environment names. Other FLAGS_* variables are ignored: they may belong to another program."""
    found = {name: value for name, value in os.environ.items() if name in _values}
    if found:
        set_flags(found)
