"""Every public name of Paddle 3.3.1 outside of `paddle.distributed` and quantization: it is here, and takes Paddle's arguments by name.

data/api-3.3.tsv has one line per name: those of each namespace's `__all__`, of Tensor and of Layer. What is not here stands in
EXCLUDED with the reason, and may not be here unnoticed.
"""
from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import wherry
from wherry_tensor.spellings import takes

TABLE = Path(__file__).parent / "data" / "api-3.3.tsv"
LEAST = 0.97  # of all names

_SMALL_FLOATS = "kernels for GPUs of numbers of 8 bits"
_EXPERTS = "kernels for GPUs of mixtures of experts"
_SEVERAL = "tensors of several processes"
_INNER = "inner, and without a meaning outside of Paddle"
_GPU = "kernels for GPUs, whose work other functions do"



def of(namespace: str, why: str, names: str) -> dict[str, str]:
    return {f"{namespace}.{name}": why for name in names.split()}


# Names that are not here, and why.
EXCLUDED: dict[str, str] = {
    **of("paddle.optimizer", "not here yet: SGD and Momentum are", "ASGD"),
    **of("paddle.incubate.nn.functional", _SMALL_FLOATS, """
        fp8_gemm_blockwise fp8_quant_blockwise fused_act_dequant fused_stack_transpose_quant fused_swiglu_weighted_bwd
        fused_transpose_split_quant fused_transpose_wlch_split_quant fused_weighted_swiglu_act_quant
    """),
    **of("paddle.linalg", _SMALL_FLOATS, """
        fp8_fp8_half_gemm_fused
    """),
    **of("paddle.incubate.nn.functional", _EXPERTS, """
        build_src_rank_and_local_expert_id cal_aux_loss expand_modality_expert_id int_bincount moe_combine moe_gate_dispatch
        moe_gate_dispatch_and_quant moe_gate_dispatch_partial_nosoftmaxtopk moe_gate_dispatch_permute
    """),
    **of("paddle.nn.functional", _EXPERTS, """
        moe_permute moe_unpermute
    """),
    **of("paddle.Tensor", _SEVERAL, """
        get_map_tensor num_shard placements process_mesh reconstruct_from_
    """),
    **of("paddle.nn.Layer", _SEVERAL, """
        full sharded_state_dict
    """),
    **of("paddle", _INNER, """
        MmapStorage
    """),
    **of("paddle.Tensor", _INNER, """
        get_selected_rows offset set_string_list set_tensor set_vocab
    """),
    **of("paddle.decomposition", _INNER, """
        auto_recompute
    """),
    **of("paddle.hub", _INNER, """
        load_state_dict_from_url
    """),
    **of("paddle.incubate", _INNER, """
        cc inference
    """),
    **of("paddle.inference", _INNER, """
        _get_phi_kernel_name
    """),
    **of("paddle.nn.functional.flash_attention", _INNER, """
        get_triangle_upper_mask
    """),
    **of("paddle.tensor", _INNER, """
        MmapStorage
    """),
    **of("paddle.incubate.nn.functional", _GPU, """
        blha_get_max_len cross_entropy_with_softmax_bwd_w_downcast embedding_grad_add_to_ fast_ln fast_rms_norm fused_bias_act
        fused_rms_norm_ext
    """),
    **of("paddle.nn.functional.flash_attention", _GPU, """
        calc_reduced_attention_scores flash_attention_v3_varlen
    """),
    **of("paddle.nn.functional", _GPU, """
        flash_attention_v3_varlen
    """),
    **of("paddle.sparse.nn.functional", _GPU, """
        subm_conv2d_igemm subm_conv3d_igemm
    """),
}
# Arguments that are not taken, and why.
NOT_TAKEN: dict[str, str] = {
    "top_p_sampling": "refused as a whole: of GPUs alone",
    "backward": "graphs are not drawn into files", "grad": "graphs are not drawn into files",
    "XPUPlace": "the parameter is that of the other places, device_id", "get_device": "asks about the current device alone",
    "block_multihead_attention": "those of Paddle 2.6 are there", "fused_multi_transformer": "those of Paddle 2.6 are there",
    "fused_rotary_position_embedding": "those of Paddle 2.6 are there",
    "create_parameter": "parameters are made on the current device",
    "register_forward_post_hook": "hooks get positional inputs", "register_forward_pre_hook": "hooks get positional inputs",
    "flash_attn_varlen_func": "of kernels for GPUs of numbers of 8 bits", "flashmask_attention": "of kernels for GPUs",
    "weight_dequantize": "quantization in groups is not there", "weight_only_linear": "quantization in groups is not there",
    "weight_quantize": "quantization in groups is not there", "resize_": "the tensor is called self", "set_": "the tensor is called self",
}


def rows() -> list[tuple[str, str, str]]:
    header, *lines = TABLE.read_text().splitlines()
    assert header == "name\tkind\tsignature"
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


ROWS = rows()


def find(name: str) -> Any:
    """The object that `paddle.<path>` names here."""
    found: Any = wherry
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("name", "kind"), [pytest.param(name, kind, id=name) for name, kind, _ in ROWS if name not in EXCLUDED])
def test_name_of_paddle_3_exists(name, kind):
    found = find(name)
    if kind == "class" and name.rpartition(".")[2] not in ("StreamContext", "stream_guard"):  # functions, as in Paddle 2.6
        assert inspect.isclass(found), f"{name} is {found!r}, expected a class"
    elif kind in ("function", "method"):
        assert callable(found), f"{name} is {found!r}, expected a function"


def lacking(name: str, signature: str) -> list[str]:
    """The parameters of Paddle's that a function does not take by their names."""
    found = find(name)
    mine = inspect.signature(found).parameters
    if any(one.kind is one.VAR_KEYWORD for one in mine.values()):
        return []
    given = ast.parse(f"def f{signature}: pass").body[0].args  # type: ignore[attr-defined]
    theirs = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    first = theirs[:1] if name.startswith("paddle.Tensor.") else []  # the tensor whose method it is
    return [one for one in theirs if one not in mine and one not in ("self", "name", *first) and not takes(found, one)]


@pytest.mark.parametrize(
    ("name", "signature"),
    [pytest.param(name, signature, id=name) for name, _, signature in ROWS if signature and name not in EXCLUDED],
)
def test_arguments_of_paddle_3_are_taken(name, signature):
    assert not lacking(name, signature) or name.rpartition(".")[2] in NOT_TAKEN, f"{name}{signature}: {lacking(name, signature)} are not taken"


@pytest.mark.parametrize("name", EXCLUDED)
def test_what_is_left_out_is_not_here(name):
    assert name in {row[0] for row in ROWS}
    with pytest.raises((AttributeError, ImportError)):
        find(name)


def test_nearly_all_names_are_here():
    assert 1 - len(EXCLUDED) / len(ROWS) >= LEAST
