"""Asks real Paddle 3.3.1 what the operators that we write are in its programs, and prints the table `wherry_paddle_files/operators3.tsv`.

    python3.11 -m venv paddle3 && paddle3/bin/pip install paddlepaddle==3.3.1 setuptools
    paddle3/bin/python tools/paddle3_operators.py FOLDER > packages/paddle-files/src/wherry_paddle_files/operators3.tsv

FOLDER holds programs that we wrote (`.pdmodel`), for example those of `tests/parity/saved_worker.py`. Each distinct operator is put into a program of
its own, which `paddle.pir.translate_to_pir` translates. A row says how the operation is called:

- inputs: the slot of the operator; `[X]` a list; `shape:ints` and `axis:int32` an attribute that became a tensor (`full_int_array`, `full`); `-` none
- attributes: `name:kind=attribute`; after `=` JSON where the operator has no such attribute; `|` and JSON where it may have none
- outputs: slots; `-` for what the operator does not have
"""
from __future__ import annotations

import glob
import json
import os
import sys
import tempfile
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first
from pathlib import Path
from typing import Any

import paddle

core = paddle.base.core
TABLE = Path(__file__).parent.parent / "packages/paddle-files/src/wherry_paddle_files/operators.tsv"
# Attributes whose names differ by more than case and underscores; as in wherry_paddle_files/pir.py, the other way round.
ALIKE = {
    "axis": ("dim", "axes"), "dtype": ("outdtype",), "dataformat": ("datalayout",), "perm": ("axis",), "y": ("factor",),
    "mode": ("dropoutimplementation",), "kernelsize": ("ksize",), "padvalue": ("value",), "negativeslope": ("alpha",), "lambda": ("threshold",),
    "threshold": ("lambda",), "padding": ("paddings",), "transposex": ("transx",), "transposey": ("transy",), "pivot": ("pivots",),
}
# What `translate_to_pir` dies of, as it is in files that Paddle 3 saves itself.
SAVED = """\
histogram	histogram	X -	bins:i64=bins min:f32=min max:f32=max density:bool=false	Out
nms	nms	Boxes	threshold:f32=iou_threshold	KeepBoxesIdxs
pad	pad	X pad_value:float32	paddings:array.i32=paddings	Out
repeat_interleave	repeat_interleave	X	repeats:i32=Repeats axis:i32=dim output_size:i64=-1	Out
round	round	X	decimals:i32=0	Out
softplus	softplus	X	beta:f64=beta threshold:f64=threshold	Out
thresholded_relu	thresholded_relu	X	threshold:f32=threshold value:f32=0.0	Out
"""
# Where the order of attributes says nothing.
LATE = {"unpool": ["output_size"]}
BY_RULE = {
    "feed", "fetch", "conditional_block", "while", "select_input", "fill_constant", "assign_value", "rnn", "tril_triu", "shape", "range", "assign",
}  # fmt: skip
DROPPED = {"with_quant_attr"}


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def alone(op: Any, block: Any, path: str) -> list[dict[str, Any]]:
    """The operations of a program of one operator."""
    program = core.ProgramDesc()
    inner = program.block(0)
    for name, kind in (("feed", core.VarDesc.VarType.FEED_MINIBATCH), ("fetch", core.VarDesc.VarType.FETCH_LIST)):
        held = inner.var(name.encode())
        held.set_type(kind)
        held.set_persistable(True)
    declared: list[str] = []

    def declare(name: str) -> None:
        known, new = block.find_var_recursive(name.encode()), inner.var(name.encode())
        new.set_type(known.type())
        new.set_dtype(known.dtype())
        new.set_shape(known.shape())
        declared.append(name)

    for slot in op.input_names():
        for name in op.input(slot):
            if name not in declared:
                declare(name)
                feed = inner.append_op()
                feed.set_type("feed")
                feed.set_input("X", ["feed"])
                feed.set_output("Out", [name])
                feed._set_attr("col", len(declared) - 1)
    inner.append_op().copy_from(op)
    for slot in op.output_names():
        for name in op.output(slot):
            if name not in declared and name != "@EMPTY@":
                declare(name)
    program.flush()
    core.serialize_pir_program(paddle.pir.translate_to_pir(program), path, True, False, True)
    with open(path) as file:
        found: list[dict[str, Any]] = json.load(file)["program"]["regions"][0]["blocks"][0]["ops"]
    return found


def value_of(attr: dict[str, Any]) -> Any:
    return [value_of(each) for each in attr["D"]] if attr["#"] == "0.a_array" else attr.get("D")


def kind_of(attr: dict[str, Any]) -> str:
    kind: str = attr["#"].rpartition("_")[2]
    return kind if kind != "array" else f"array.{attr['D'][0]['#'].rpartition('_')[2] if attr['D'] else '?'}"


def row_of(op: Any, operations: list[dict[str, Any]], orders: dict[str, list[str]], outputs: dict[str, list[str]]) -> list[Any]:
    """The columns of a row; None where the operator becomes more than one operation."""
    slots = {slot: op.input(slot) for slot in op.input_names()}
    attrs = [name for name in op.attr_names() if not name.startswith("op_") and name not in DROPPED]
    made = {out["%"]: operation for operation in operations for out in operation["O"]}
    helpers = ("1.feed", "1.full", "1.full_int_array", "0.combine", "0.split", "1.fetch")
    [main] = [operation for operation in operations if operation["#"] not in helpers]
    attributes = []
    for each in main["A"]:
        want = plain(each["N"])
        source = next((a for w in (want, *ALIKE.get(want, ())) for a in attrs if plain(a) == w), None)
        attributes.append((each["N"], kind_of(each["AT"]), source, json.dumps(value_of(each["AT"]))))
    taken = {source for _, _, source, _ in attributes}
    late = LATE.get(op.type()) or [name for name in orders.get(op.type(), ()) if name in attrs and name not in taken]
    late = [*late, *(name for name in attrs if name not in taken and name not in late)]

    def slot_of(value: int) -> str:
        name = made[value]["A"][0]["AT"]["D"]
        return next(slot for slot, names in slots.items() if name in names)

    inputs = []
    for each in main["I"]:
        maker = made.get(each["%"])
        kind = maker["#"] if maker else None
        if maker is None:
            inputs.append("-")
        elif kind == "1.feed":
            inputs.append(slot_of(each["%"]))
        elif kind == "0.combine":
            inputs.append(f"[{slot_of(maker['I'][0]['%'])}]")
        elif kind == "1.full_int_array":
            inputs.append(f"{late.pop(0)}:ints")
        else:
            inputs.append(f"{late.pop(0)}:{value_of(next(a['AT'] for a in maker['A'] if a['N'] == 'dtype'))}")
    known = [slot for slot in outputs.get(op.type(), op.output_names()) if slot != "XShape"]
    known += ["-"] * (len(main["O"]) - len(known))
    told = [f"[{slot}]" if out["TT"]["#"] == "0.t_vec" else slot for slot, out in zip(known, main["O"])]
    return [main["#"].partition(".")[2], inputs, attributes, told]


def merged(rows: list[list[Any]]) -> list[str]:
    """One row of those of an operator: inputs that one has not, attributes that one does not say."""
    name, inputs, attributes, outputs = max(rows, key=lambda row: sum(x != "-" for x in row[1]))
    told = []
    usual = "i32" if any(kind == "array.i32" for _, kind, _, _ in attributes) else "i64"
    for at, (attr, kind, source, value) in enumerate(attributes):
        others = [row[2][at] for row in rows if len(row[2]) > at]
        source = source or next((other[2] for other in others if other[2]), None)
        kind = next((other[1] for other in others if "?" not in other[1]), kind.replace("?", usual))
        absent = next((other[3] for other in others if other[2] is None), None)
        told.append(f"{attr}:{kind}={source or value}" + (f"|{absent}" if source and absent is not None else ""))
    return [name, " ".join(inputs), " ".join(text.replace(" ", "") for text in told), " ".join(outputs)]


def main() -> None:
    orders: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    for line in TABLE.read_text().splitlines()[1:]:
        kind, _, type_, _, _, outs, *order = line.split("\t")
        if kind == "new" or type_ not in outputs:
            orders.setdefault(type_, order[0].split() if order else [])
            outputs[type_] = outs.split() if kind == "new" or type_ not in outputs else outputs[type_]
    found: dict[str, list[list[Any]]] = {}
    seen: set[Any] = set()
    paddle.enable_static()
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(sys.argv[1], "**", "*.pdmodel"), recursive=True)):
            program = core.ProgramDesc(Path(path).read_bytes())
            for block in map(program.block, range(program.num_blocks())):
                for op in map(block.op, range(block.op_size())):
                    by_hand = BY_RULE | {line.partition("\t")[0] for line in SAVED.splitlines()}
                    empty = tuple(slot for slot in sorted(op.input_names()) if not op.input(slot))
                    key = (op.type(), empty, tuple(sorted(op.attr_names())), tuple(slot for slot in sorted(op.output_names()) if op.output(slot)))
                    if op.type() in by_hand or key in seen:
                        continue
                    seen.add(key)
                    try:
                        found.setdefault(op.type(), []).append(row_of(op, alone(op, block, f"{folder}/one.json"), orders, outputs))
                    except Exception as error:
                        print(op.type(), empty, type(error).__name__, str(error)[-200:].replace("\n", " "), file=sys.stderr)
    rows = [[type_, *merged(each)] for type_, each in found.items() if each]
    print("operator\toperation\tinputs\tattributes\toutputs")
    print("\n".join(sorted(["\t".join(row) for row in rows] + SAVED.splitlines())))


if __name__ == "__main__":
    main()
