"""Options of how programs are built and run. The executor decides these things itself; options are stored so that programs can read them."""
from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = ["BuildStrategy", "ExecutionStrategy"]


class _Wishes:
    """Attributes with defaults; setting others raises an error."""

    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.__dict__.update(self._defaults)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            from wherry_tensor.suggestions import did_you_mean

            raise AttributeError(
                f"{type(self).__name__} has no option {name!r}. Expected one of its {len(self._defaults)} options."
                f"{did_you_mean(name, list(self._defaults))}"
            )
        expected = self._defaults[name]
        if isinstance(expected, bool) and not isinstance(value, (bool, int)):
            raise InvalidArgumentError(f"{type(self).__name__}.{name}: got {short(value)}, expected True or False.")
        self.__dict__[name] = value

    def __repr__(self) -> str:
        changed = {k: v for k, v in self.__dict__.items() if v != self._defaults[k]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


def _option(name: str, text: str) -> property:
    def get(self: _Wishes) -> Any:
        return self.__dict__[name]

    def put(self: _Wishes, value: Any) -> None:
        _Wishes.__setattr__(self, name, value)

    return property(get, put, doc=text)


class ReduceStrategy(IntEnum):
    """How gradients of several devices are reduced."""

    AllReduce = 0
    Reduce = 1


class GradientScaleStrategy(IntEnum):
    """The initial gradient of the loss on several devices."""

    CoeffNumDevice = 0
    One = 1
    Customized = 2


class BuildStrategy(_Wishes):
    """Options for building a program. They have no effect: the executor decides fusions and memory planning.

    Raises:
        AttributeError: an option that does not exist is set.
        ValueError: a switch is set to something else than True or False.

    Source:
        `paddle.static.BuildStrategy`.

    Examples:
        >>> strategy = wherry.static.BuildStrategy()
        >>> strategy.fuse_elewise_add_act_ops = True
        >>> strategy
        BuildStrategy(fuse_elewise_add_act_ops=True)
    """

    ReduceStrategy = ReduceStrategy
    GradientScaleStrategy = GradientScaleStrategy
    _defaults: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(
            "allow_cuda_graph_capture async_mode build_cinn_pass cache_runtime_context enable_addto enable_auto_fusion "
            "enable_sequential_execution fix_op_run_order fuse_adamw fuse_all_optimizer_ops fuse_bn_act_ops fuse_bn_add_act_ops "
            "fuse_elewise_add_act_ops fuse_gemm_epilogue fuse_relu_depthwise_conv fused_attention fused_feedforward is_distribution "
            "remove_unnecessary_lock sequential_run sync_batch_norm use_hierarchical_allreduce".split(), False
        ),
        "bkcl_comm_num": 1, "debug_graphviz_path": "", "enable_backward_optimizer_op_deps": True, "enable_inplace": True,
        "fuse_all_reduce_ops": None, "fuse_broadcast_ops": None, "gradient_scale_strategy": GradientScaleStrategy.CoeffNumDevice,
        "hierarchical_allreduce_inter_nranks": 0, "memory_optimize": None, "mkldnn_enabled_op_types": set(), "nccl_comm_num": 1,
        "num_trainers": 1, "reduce_strategy": ReduceStrategy.AllReduce, "trainer_id": 0, "trainers_endpoints": [],
    }

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(mkldnn_enabled_op_types=set(), trainers_endpoints=[])


class ExecutionStrategy(_Wishes):
    """Options for running a program. They have no effect: the number of threads is that of the process (`OMP_NUM_THREADS`).

    Raises:
        AttributeError: an option that does not exist is set.

    Source:
        `paddle.static.ExecutionStrategy`.

    Examples:
        >>> strategy = wherry.static.ExecutionStrategy()
        >>> strategy.num_threads = 4
        >>> strategy.num_threads
        4
    """

    ExecutorType = IntEnum("ExecutorType", {"Default": 0, "Experimental": 1})
    _defaults: ClassVar[dict[str, Any]] = {
        "allow_op_delay": False, "num_iteration_per_drop_scope": 100, "num_iteration_per_run": 1, "num_threads": 0,
        "use_experimental_executor": False, "use_thread_barrier": False,
    }


for _class in (BuildStrategy, ExecutionStrategy):
    for _name in _class._defaults:
        setattr(_class, _name, _option(_name, f"Default: {_class._defaults[_name]!r}."))


explained(globals())
