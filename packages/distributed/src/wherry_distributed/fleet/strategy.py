"""`DistributedStrategy`: how a model is trained by several processes.

Each field has an effect, or says at once, when it is set to something else than it is, that it has none. `QUIET` are settings that change
how Paddle's GPU engine does the same thing: they warn. `REFUSED` would change what is computed: they raise.
"""
from __future__ import annotations

import copy
import re
import warnings
from typing import Any

from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError, short
from wherry_tensor.suggestions import did_you_mean
from wherry_train.atomic_files import replace_file

# Values at the beginning are Paddle 2.6's.
SWITCHES: dict[str, Any] = {
    "amp": False, "recompute": False, "gradient_merge": False, "lars": False, "lamb": False, "localsgd": False, "adaptive_localsgd": False,
    "dgc": False, "a_sync": False, "fp16_allreduce": False, "sharding": False, "pipeline": False, "tensor_parallel": False, "sync_batch_norm": False,
    "find_unused_parameters": False, "fuse_all_reduce_ops": True, "fuse_grad_size_in_MB": 32, "last_comm_group_size_MB": 1.0,
    "hybrid_parallel_order": ["dp", "pp", "sharding", "sep", "mp"], "sync_param_name": ["embedding", "layer_norm", ".b_"],
}
_SERVERS = "parameter servers take a_sync and a_sync_configs['k_steps'] alone"
_PLANNED = "no layout is searched for; say the degrees in hybrid_configs"
REFUSED: dict[str, tuple[Any, str]] = {
    "adam_d2sum": (False, _SERVERS), "is_fl_ps_mode": (False, _SERVERS), "is_with_coordinator": (False, _SERVERS),
    "fs_client_param": ("", _SERVERS), "sparse_table_configs": ([], _SERVERS), "fleet_desc_configs": ([], _SERVERS),
    "auto": (False, _PLANNED), "semi_auto": (False, _PLANNED), "auto_search": (False, _PLANNED),
    "qat": (False, "the strategy does not rewrite programs for it; train layers through paddle.quantization.QAT"),
    "asp": (False, "call paddle.incubate.asp.decorate(optimizer) yourself"),
    "heter_ccl_mode": (False, "all processes use one kind of device"),
}
_ENGINE = "messages are MPI's, which chooses for itself"
_CUDNN = "there is no cuDNN in the way"
QUIET: dict[str, tuple[Any, str]] = {
    "nccl_comm_num": (1, _ENGINE), "sync_nccl_allreduce": (True, _ENGINE), "use_hierarchical_allreduce": (False, _ENGINE),
    "hierarchical_allreduce_inter_nranks": (1, _ENGINE), "cudnn_exhaustive_search": (False, _CUDNN), "conv_workspace_size_limit": (512, _CUDNN),
    "cudnn_batchnorm_spatial_persistent": (False, _CUDNN), "without_graph_optimization": (True, "programs are always optimized"),
    "fuse_grad_merge": (False, "merged gradients are kept one by one"), "fuse_grad_size_in_num": (8, "buckets go by fuse_grad_size_in_MB"),
    "split_data": (True, "a sampler divides the data: paddle.io.DistributedBatchSampler"),
    "elastic": (False, "the launcher does it: python -m paddle.distributed.launch --elastic"),
    "build_strategy": (None, "programs are always optimized"), "execution_strategy": (None, "programs are always optimized"),
}
CONFIGS: dict[str, dict[str, Any]] = {
    "amp_configs": {
        "init_loss_scaling": 32768.0, "incr_every_n_steps": 1000, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True, "custom_white_list": [], "custom_black_list": [], "custom_black_varnames": [], "use_pure_fp16": False,
        "use_fp16_guard": True, "use_optimizer_fp16": False, "use_pure_bf16": False,
    },
    "recompute_configs": {
        "checkpoints": [], "enable_offload": False, "checkpoint_shape": [], "enable_tuning": False, "refined_ops_patterns": [],
    },
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "lars_configs": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "dgc_configs": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": []},
    "pipeline_configs": {
        "micro_batch_size": 1, "accumulate_steps": 1, "schedule_mode": "1F1B", "p2p_cache_shape": True, "enable_partial_send_recv": True,
    },
    "sharding_configs": {
        "sharding_segment_strategy": "segment_broadcast_MB", "segment_broadcast_MB": 32.0, "segment_anchors": [], "sharding_degree": 8,
        "mp_degree": 1, "dp_degree": 1, "hybrid_dp": False, "gradient_merge_acc_step": 1, "optimize_offload": False,
        "pp_allreduce_in_optimize": False, "pp_degree": 1, "optimize_cast": False, "_dp_as_optimizer_sharding": False, "stage": 1,
        "enable_tuning": False, "use_calc_stream": False,
    },
    "tensor_parallel_configs": {"tensor_parallel_degree": 1, "tensor_init_seed": -1},
    "gradient_scale_configs": {"scale_strategy": "avg", "scale_gradient": False},
    "qat_configs": {"channel_wise_abs_max": True, "weight_bits": 8, "activation_bits": 8, "not_quant_pattern": [], "algo": ""},
    "a_sync_configs": {
        "k_steps": -1, "max_merge_var_num": 1, "send_queue_size": 16, "independent_recv_thread": False, "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1, "send_wait_times": 1, "runtime_split_send_recv": False, "launch_barrier": True,
        "heter_worker_device_guard": "cpu", "lr_decay_steps": 10, "use_ps_gpu": 0,
    },
    "trainer_desc_configs": {
        "dump_fields_path": "", "dump_fields": [], "dump_param": [], "stat_var_names": [], "trainer": "", "device_worker": "", "local_sparse": [],
        "remote_sparse": [],
    },
    "hybrid_configs": {
        "dp_degree": -1, "mp_degree": 1, "pp_degree": 1, "sharding_degree": 1, "sep_degree": 1,
        "mp_configs": {
            "sync_param": False, "sync_grad": False, "sync_moment": False, "sync_mode": "broadcast", "mp_async_allreduce": False,
            "mp_skip_c_identity": False, "mp_fused_linear_param_grad_add": False, "need_broadcast_data": True, "recompute_allgather": False,
            "sp_async_reduce_scatter": False,
        },
        "pp_configs": {
            "dp_comm_overlap": False, "delay_scale_loss": False, "enable_timer": False, "sharding_comm_overlap": False, "profiling": False,
            "release_gradients": False, "overlap_p2p_comm": True, "clear_every_step_cache": False, "use_batch_p2p_comm": True,
            "best_unbalanced_scheduler": False,
        },
        "sharding_configs": {
            "tensor_fusion": False, "comm_overlap": False, "accumulate_steps": 1, "fuse_optimizer": True, "use_reduce_avg": True,
            "split_param": False, "comm_buffer_size_MB": 256, "enable_fuse_optimizer_states": False,
        },
    },
}
# Settings of CONFIGS without an effect: where nothing stands, all of a group have one.
IDLE: dict[str, dict[str, str]] = {
    "recompute_configs": dict.fromkeys(
        ("enable_offload", "checkpoint_shape", "enable_tuning", "refined_ops_patterns"), "what is not kept is computed once more"),
    "amp_configs": dict.fromkeys(
        ("custom_black_varnames", "use_fp16_guard", "use_optimizer_fp16"), "mixed precision goes by ops: custom_white_list, custom_black_list"),
    "pipeline_configs": dict.fromkeys(("p2p_cache_shape", "enable_partial_send_recv"), "messages say their shape, and go as a whole"),
    "sharding_configs": dict.fromkeys(
        ("sharding_segment_strategy", "segment_broadcast_MB", "segment_anchors", "hybrid_dp", "gradient_merge_acc_step", "pp_allreduce_in_optimize",
         "optimize_cast", "_dp_as_optimizer_sharding", "enable_tuning", "use_calc_stream", "mp_degree", "dp_degree", "pp_degree"),
        "parameters are divided whole among the processes; degrees stand in hybrid_configs"),
    "tensor_parallel_configs": {"tensor_init_seed": "call paddle.distributed.fleet.meta_parallel.model_parallel_random_seed(seed)"},
    "qat_configs": dict.fromkeys(CONFIGS["qat_configs"], REFUSED["qat"][1]),
    "a_sync_configs": dict.fromkeys(set(CONFIGS["a_sync_configs"]) - {"k_steps"}, "updates are sent one by one, as they come"),
    "trainer_desc_configs": dict.fromkeys(CONFIGS["trainer_desc_configs"], _SERVERS),
    "gradient_scale_configs": {"scale_gradient": "gradients are scaled when they have been summed"},
    "mp_configs": dict.fromkeys(set(CONFIGS["hybrid_configs"]["mp_configs"]) - {"need_broadcast_data"}, "weights that are not divided stay equal "
    "by themselves"),
    "pp_configs": dict.fromkeys(CONFIGS["hybrid_configs"]["pp_configs"], "the schedule is the same without it"),
    "hybrid.sharding_configs": dict.fromkeys(
        CONFIGS["hybrid_configs"]["sharding_configs"], "each parameter is updated by one process, and gradients are sent in buckets"),
}


UNWRITTEN = ("build_strategy", "execution_strategy", "hybrid_parallel_order", "sync_param_name")  # which Paddle's text has not

class Configs(dict[str, Any]):
    """Settings under one name, also as attributes. Only settings that exist can be set."""

    def __init__(self, name: str, values: dict[str, Any], idle: dict[str, str]) -> None:
        dict.__init__(self, copy.deepcopy(values))
        self.__dict__.update(_name=name, _idle=idle)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"strategy: {self._name} has no setting {name!r}.{did_you_mean(name, self)}", name=name, obj=self) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self:
            raise InvalidArgumentError(
                f"strategy: {self._name} has no setting {short(name)}. Got it, expected some of {', '.join(self)}.{did_you_mean(str(name), self)}"
            )
        known = self[name]
        if isinstance(known, Configs):
            known.update(value)
            return
        fits = type(known) is type(value) or isinstance(known, (int, float)) and not isinstance(known, bool) and isinstance(value, (int, float))
        if not fits and not (isinstance(known, (list, tuple)) and isinstance(value, (list, tuple))):
            raise InvalidTypeError(
                f"strategy: {self._name}[{name!r}] has another type. Got {short(value)} ({type(value).__name__}), expected {type(known).__name__} as "
                f"{short(known)} is. Cast it."
            )
        if name in self._idle and value != known:
            warnings.warn(f"strategy: {self._name}[{name!r}] has no effect: {self._idle[name]}.", stacklevel=_outside())
        dict.__setitem__(self, name, value)

    def update(self, *others: Any, **values: Any) -> None:
        """Set some."""
        for name, value in dict(*others, **values).items():
            self[name] = value

    def __deepcopy__(self, memo: Any) -> Configs:
        made = Configs(self._name, {}, self._idle)
        for name, value in self.items():
            dict.__setitem__(made, name, copy.deepcopy(value, memo))
        return made

    __copy__ = __deepcopy__  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Configs, (self._name, dict(self), self._idle)


def _outside() -> int:
    """How far up the line stands that set something."""
    import sys

    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level


def _configs(name: str, values: dict[str, Any], within: str = "") -> Configs:
    idle = IDLE.get(f"{within}{name}", {})
    made = Configs(name, {}, idle)
    for key, value in values.items():
        within = "hybrid." if key == "sharding_configs" else ""
        dict.__setitem__(made, key, _configs(key, value, within) if isinstance(value, dict) else copy.copy(value))
    return made


class DistributedStrategy:
    """How a model is trained by several processes.

    Fields are those of Paddle. One that has no effect here says so when it is set: settings of Paddle's GPU engine warn, what would change
    the result raises.

    Raises:
        AttributeError: there is no such field.
        TypeError, ValueError: a setting has another type, or does not exist.
        NotImplementedError: a field that Wherry has not got is switched on.

    Source:
        `paddle.distributed.fleet.DistributedStrategy`.

    Examples:
        >>> strategy = wherry.distributed.fleet.DistributedStrategy()
        >>> strategy.hybrid_configs = {"mp_degree": 2, "pp_degree": 2}
        >>> strategy.hybrid_configs["dp_degree"], strategy.pipeline_configs["schedule_mode"]
        (-1, '1F1B')
    """

    def __init__(self) -> None:
        fields = copy.deepcopy(SWITCHES) | {name: copy.copy(value) for name, (value, _) in {**REFUSED, **QUIET}.items()}
        fields |= {name: _configs(name, values) for name, values in CONFIGS.items()}
        self.__dict__["_fields"] = fields

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        hint = "" if name.startswith("__") else did_you_mean(name, fields)
        raise AttributeError(f"'DistributedStrategy' object has no attribute {name!r}.{hint}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__["_fields"]
        if name not in fields:
            raise AttributeError(f"DistributedStrategy: there is no field {name!r}.{did_you_mean(name, fields)}", name=name, obj=self)
        if name in CONFIGS:
            if not isinstance(value, dict):
                raise InvalidTypeError(f"strategy: {name} are settings. Got {short(value)} ({type(value).__name__}), expected a dict. Write {{...}}.")
            fields[name].update(value)
            return
        known = fields[name]
        if known is not None and not isinstance(value, type(known)) and not (isinstance(known, float) and isinstance(value, int)):
            raise InvalidTypeError(
                f"strategy: {name} has another type. Got {short(value)} ({type(value).__name__}), expected {type(known).__name__} as "
                f"{short(known)} is. "
                f"Cast it."
            )
        if name in REFUSED and value != REFUSED[name][0]:
            raise UnimplementedError(
                f"strategy: {name} is not there: {REFUSED[name][1]}. Got {name}={short(value)}, expected {short(REFUSED[name][0])}. Leave it out."
            )
        if name in QUIET and value != known:
            warnings.warn(f"strategy: {name} has no effect: {QUIET[name][1]}.", stacklevel=_outside())
        if name == "hybrid_parallel_order" and sorted(value) != sorted(SWITCHES[name]):
            raise InvalidArgumentError(
                f"strategy: hybrid_parallel_order is not an order of the kinds. Got {short(value)}, expected each of {SWITCHES[name]} once. Name all "
                f"five."
            )
        fields[name] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __deepcopy__(self, memo: Any) -> DistributedStrategy:
        made = DistributedStrategy()
        made.__dict__["_fields"] = copy.deepcopy(self._fields, memo)
        return made

    def __repr__(self) -> str:
        fresh = DistributedStrategy()._fields
        changed = {name: value for name, value in self._fields.items() if value != fresh[name]}
        return f"DistributedStrategy({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    __str__ = __repr__

    def save_to_prototxt(self, output: str) -> None:
        """Write the fields that were changed as text, as Paddle reads them.

        Source:
            `paddle.distributed.fleet.DistributedStrategy.save_to_prototxt`.
        """
        fresh = DistributedStrategy()._fields
        known = {name: _changed(value, fresh[name]) for name, value in self._fields.items() if name not in UNWRITTEN and value != fresh[name]}
        text = "".join(_as_text(name, value, "") for name, value in known.items())
        replace_file(str(output), lambda file: file.write(text.encode()))

    def load_from_prototxt(self, pb_file: str) -> None:
        """Take the fields from a file that `save_to_prototxt`, or Paddle's, wrote.

        Raises:
            ValueError: the file is not such text.

        Source:
            `paddle.distributed.fleet.DistributedStrategy.load_from_prototxt`.
        """
        with open(pb_file, encoding="utf-8") as file:
            words = re.findall(r'"(?:[^"\\]|\\.)*"|[{}:]|[^\s{}:]+', file.read())
        read, at = _from_words(words, 0, str(pb_file))
        if at != len(words):
            raise InvalidArgumentError(f"load_from_prototxt: {pb_file} is damaged. Got a '}}' too many, expected pairs. Save it anew.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Paddle writes all fields
            for name, value in read.items():
                if name in self._fields:
                    self._take(name, value)

    def _take(self, name: str, value: Any) -> None:
        if name in CONFIGS:
            _take_settings(self._fields[name], value[-1])
        elif name not in ("build_strategy", "execution_strategy"):
            setattr(self, name, _of_type(self._fields[name], value))


def _take_settings(configs: Configs, read: dict[str, list[Any]]) -> None:
    for name, value in read.items():
        if name in configs:
            known = configs[name]
            if isinstance(known, Configs):
                _take_settings(known, value[-1])
            else:
                configs[name] = _of_type(known, value)


def _of_type(like: Any, values: list[Any]) -> Any:
    if isinstance(like, list):
        return values
    value = values[-1]
    return float(value) if isinstance(like, float) else value


def _changed(value: Any, fresh: Any) -> Any:
    """The settings that are not as they were."""
    if not isinstance(value, dict):
        return value
    return {name: _changed(each, fresh[name]) for name, each in value.items() if each != fresh[name]}


def _as_text(name: str, value: Any, indent: str) -> str:
    if isinstance(value, dict):
        return f"{indent}{name} {{\n{''.join(_as_text(key, each, indent + '  ') for key, each in value.items())}{indent}}}\n"
    if isinstance(value, (list, tuple)):
        return "".join(_as_text(name, each, indent) for each in value)
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else _quoted(value) if isinstance(value, str) else str(value)
    return f"{indent}{name}: {text}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _from_words(words: list[str], at: int, path: str) -> tuple[dict[str, list[Any]], int]:
    """Pairs of a name and all of its values, up to the closing brace."""
    found: dict[str, list[Any]] = {}
    while at < len(words) and words[at] != "}":
        name = words[at]
        if at + 2 < len(words) and words[at + 1] == ":":
            found.setdefault(name, []).append(_plain(words[at + 2]))
            at += 3
        elif at + 1 < len(words) and words[at + 1] == "{":
            inner, at = _from_words(words, at + 2, path)
            if at >= len(words):
                raise InvalidArgumentError(f"load_from_prototxt: {path} is cut off. Got no '}}' for {name}, expected one. Save it anew.")
            found.setdefault(name, []).append(inner)
            at += 1
        else:
            raise InvalidArgumentError(
                f"load_from_prototxt: {path} is not a strategy. Got {short(name)} without a value, expected 'name: value'. Write one with "
                f"save_to_prototxt."
            )
    return found, at


def _plain(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    if word.startswith('"'):
        return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], word[1:-1])
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
