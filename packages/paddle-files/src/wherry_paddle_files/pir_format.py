"""Words of Paddle 3's program files that reading (`pir`) and writing (`pir_writing`) share."""
from __future__ import annotations

__all__ = ["ALIKE", "DIALECTS", "DTYPES", "KNOWN_SIZES", "LISTS", "plain"]

KNOWN_SIZES = "known sizes"  # an attribute of ours: what the file says of a shape that is computed; -1: nothing

DTYPES = {
    "t_bool": "bool", "t_ui8": "uint8", "t_i8": "int8", "t_i16": "int16", "t_i32": "int32", "t_i64": "int64", "t_f16": "float16",
    "t_bf16": "bfloat16", "t_f32": "float32", "t_f64": "float64", "t_c64": "complex64", "t_c128": "complex128",
}  # fmt: skip
DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf"}
# Operations on lists of tensors, and the operators of Paddle 2 that they are: inputs by their slots, outputs by theirs.
LISTS = {
    "array_write_": ("write_to_array", ("", "X", "I"), ("Out",)), "array_read": ("read_from_array", ("X", "I"), ("Out",)),
    "array_length": ("lod_array_length", ("X",), ("Out",)), "array_to_tensor": ("tensor_array_to_tensor", ("X",), ("Out", "OutIndex")),
}
# Attributes whose name is another in Paddle 2; those that are spelled alike but for case and underscores need none.
ALIKE = {
    "axis": ("dim", "axes"), "dtype": ("outdtype",), "dataformat": ("datalayout",), "perm": ("axis",), "y": ("factor",),
    "mode": ("dropoutimplementation",), "kernelsize": ("ksize",), "numclasses": ("depth",), "padvalue": ("value",), "epsilon": ("eps",),
    "negativeslope": ("alpha",), "lambda": ("threshold",),
    "threshold": ("lambda", "iouthreshold"), "transposex": ("transx",), "transposey": ("transy",),
    "k": ("num",), "padding": ("paddings",), "pivot": ("pivots",),
}  # fmt: skip


def plain(name: str) -> str:
    """A name without case and underscores."""
    return name.replace("_", "").lower()
