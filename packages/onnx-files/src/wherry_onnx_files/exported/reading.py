"""A program of `torch.export` as one of ours: its nodes are read one by one, by the rules of `aten`."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import wherry_onnx_files.exported.functions  # noqa: F401  the less common rules
from wherry_autograd import no_grad
from wherry_nn import Parameter, unique_name
from wherry_onnx_files.errors import ExportedFileError, UnreadableAten
from wherry_onnx_files.exported.archive import DTYPES, Archive
from wherry_onnx_files.exported.aten import READS, VIEWS
from wherry_program.program.capture import Capture
from wherry_program.program.ir import Program
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor
from wherry_tensor.dtype import as_dtype
from wherry_tensor.sizes import user_line
from wherry_tensor.suggestions import did_you_mean

__all__ = ["read_exported", "summary"]

_ATEN = "torch.ops.aten."
_WHOLE: dict[str, Callable[..., Any]] = {  # what Python computes of sizes
    "_operator.add": lambda a, b: a + b, "_operator.sub": lambda a, b: a - b, "_operator.mul": lambda a, b: a * b,
    "_operator.floordiv": lambda a, b: a // b, "_operator.mod": lambda a, b: a % b, "_operator.neg": lambda a: -a,
}  # fmt: skip
# What only checks sizes: the program of the file was made for those that pass.
_CHECKS = {"torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_tensor_metadata.default"}


def read_exported(source: Any) -> Program:
    """The program of a `.pt2`, with its parameters; those are trained as PyTorch trained them.

    Args:
        source: a path, bytes, or a file that is open for reading bytes.

    Raises:
        ExportedFileError: the file is damaged, or its nodes do not fit together. A FileFormatError.
        UnreadableAten: no rule reads an operator. A NotImplementedError, too.
        OSError: there is no such file.
    """
    archive = Archive(source)
    described = archive.program()
    try:
        return _Reader(archive, described).program
    except ExportedFileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise ExportedFileError(f"pt2: the program is damaged: {type(error).__name__}: {error}. Save it again.") from error


def summary(source: Any) -> dict[str, Any]:
    """What a `.pt2` says: the keys are those of `wherry_paddle_files.summary.summary`; open sizes are None.

    Raises:
        ExportedFileError: the file is damaged.
    """
    archive = Archive(source)
    described = archive.program()
    try:
        graph, weights = described["graph_module"]["graph"], archive.tensors("weights")
        types = Counter(_name_of(node["target"]) for node in graph["nodes"])
        values = graph["tensor_values"]
        given = [spec["user_input"]["arg"] for spec in described["graph_module"]["signature"]["input_specs"] if "user_input" in spec]
        return {
            "format": f"PyTorch program (torch.export), written by PyTorch {described.get('torch_version', 'of an unknown version')}",
            "inputs": [_port(values, arg) for arg in given], "outputs": [_port(values, arg) for arg in graph["outputs"]],
            "operators": dict(types.most_common()),
            "unsupported": sorted(name for name in types if not _is_read(name)),
            "parameters": [{"name": name, "dtype": x.dtype.name, "shape": list(x.shape)} for name, x in weights.items()],
        }
    except ExportedFileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ExportedFileError(f"pt2: the program is damaged: {type(error).__name__}: {error}. Save it again.") from error


def _port(values: dict[str, Any], arg: dict[str, Any]) -> dict[str, Any]:
    name = next(iter(arg.values()))["name"]
    meta = values[name]
    return {"name": name, "dtype": DTYPES.get(meta["dtype"]), "shape": [size.get("as_int") for size in meta["sizes"]]}


def _is_read(name: str) -> bool:
    return name.partition(".")[0] in READS or name in _WHOLE or _ATEN + name in _CHECKS


def _name_of(target: str) -> str:
    return target.removeprefix(_ATEN)


class _Reader:
    """Reads one program.

    Attributes:
        values: tensors, lists of them and sizes, by the names of the file.
    """

    def __init__(self, archive: Archive, described: dict[str, Any]) -> None:
        module = described["graph_module"]
        self.graph, signature = module["graph"], module["signature"]
        self.values: dict[str, Any] = {}
        self.program = Program()
        weights, constants = archive.tensors("weights"), archive.tensors("constants")
        for spec in signature["input_specs"]:
            self.input(spec, weights, constants)
        self.sharing: dict[str, set[str]] = {}  # names whose tensors may share memory
        self.last_read = {name: at for at, node in enumerate(self.graph["nodes"]) for each in node["inputs"] for name in _names_in(each["arg"])}
        self.last_read.update((name, len(self.graph["nodes"])) for arg in self.graph["outputs"] for name in _names_in(arg))
        with unique_name.guard("exported_"), Capture(self.program.blocks[0]) as recording, no_grad():
            recording.line = user_line()
            for at, node in enumerate(self.graph["nodes"]):
                self.node(node, at)
            results = [arg for spec in signature["output_specs"] for arg in self.result(spec)]
            for x in results:
                y = recording.variable_of(x)
                if y.made_by is None or any(y is z for z in self.program.fetches):
                    y = recording.variable_of(ops.copy(y))
                self.program.fetches.append(y)

    def input(self, spec: dict[str, Any], weights: dict[str, Tensor], constants: dict[str, Tensor]) -> None:
        [(kind, each)] = spec.items()
        if kind == "user_input":
            [(form, arg)] = each["arg"].items()
            if form != "as_tensor":
                raise ExportedFileError(f"pt2: an input of the program is {form}. Expected tensors. Export the model with tensors as arguments.")
            meta = self.graph["tensor_values"][arg["name"]]
            sizes = [size.get("as_int", -1) for size in meta["sizes"]]
            if len(sizes) > _core.MAX_RANK or not all(type(n) is int and -1 <= n < 1 << 48 for n in sizes):
                raise ExportedFileError(f"pt2: the input {arg['name']!r} has sizes {sizes[:20]}. Expected sizes of 0 or more.")
            dtype = as_dtype(DTYPES[meta["dtype"]], "load")
            self.values[arg["name"]] = self.program.feed(sizes, dtype, arg["name"])
            return
        names = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}
        if kind not in names:
            raise ExportedFileError(f"pt2: an input of the program is a {kind}. Expected tensors, parameters and buffers.")
        name = each[names[kind]]
        value = weights[name] if name in weights else constants[name]
        if kind == "parameter":
            value = Parameter(value, name=name)
        else:
            value.name, value.persistable, value.stop_gradient = name, True, True
        self.values[each["arg"]["name"]] = value

    def result(self, spec: dict[str, Any]) -> list[Tensor]:
        if "user_output" in spec:
            found = self.value(spec["user_output"]["arg"])
            if not isinstance(found, Tensor):
                raise ExportedFileError(f"pt2: a result of the program is {type(found).__name__}. Expected a tensor. Give tensors alone.")
            return [found]
        if "buffer_mutation" in spec:  # as training does: a prediction changes nothing
            return []
        raise ExportedFileError(f"pt2: a result of the program is a {next(iter(spec), None)}. Expected tensors. Export the model for inference.")

    def value(self, arg: dict[str, Any]) -> Any:
        """An argument of a node."""
        [(form, held)] = arg.items()
        if form in ("as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"):
            return self.values[held["name"]] if "name" in held else self.size(held)
        if form == "as_tensors":
            return [self.values[each["name"]] for each in held]
        if form == "as_optional_tensors":
            return [None if "as_none" in each else self.values[each["as_tensor"]["name"]] for each in held]
        if form == "as_sym_ints":
            return [self.size(each) for each in held]
        if form == "as_none":
            return None
        if form == "as_scalar_type":
            return as_dtype(DTYPES[held], "load")
        if form in ("as_int", "as_float", "as_bool", "as_string", "as_ints", "as_floats", "as_bools", "as_strings"):
            return held
        return _Other(form)

    def size(self, held: dict[str, Any]) -> Any:
        return held["as_int"] if "as_int" in held else self.values[held["as_name"]]

    def node(self, node: dict[str, Any], at: int) -> None:
        target = node["target"]
        if target in _CHECKS:
            return
        given = {each["name"]: self.value(each["arg"]) for each in node["inputs"]}
        given = {name: value for name, value in given.items() if not isinstance(value, _Other)}  # devices, layouts: results lie where they lie
        rule = self.rule(target)
        try:
            found = rule(*given.values()) if target in _WHOLE else rule(**given)
        except ExportedFileError:
            raise
        except Exception as error:  # any: what a damaged file asks of a function is not foreseen
            raise ExportedFileError(f"pt2: the node {node.get('name')!r} ({_name_of(target)}) cannot be read: {error}") from error
        outputs = node["outputs"]
        results = [found] if len(outputs) == 1 else found
        for out, value in zip(outputs, results, strict=True):
            self.bind(out, value)
        base = _name_of(target).partition(".")[0]
        if base in VIEWS:
            group = {name for arg in (*(each["arg"] for each in node["inputs"][:1]), *outputs) for name in _names_in(arg)}
            group = group.union(*(self.sharing[name] for name in group if name in self.sharing))
            self.sharing.update(dict.fromkeys(group, group))
        elif base.endswith("_") and not base.endswith("__"):
            self.written(node, at)

    def written(self, node: dict[str, Any], at: int) -> None:
        """A node has written in place: from now on its result is what it was given. Views of that are not seen to have changed."""
        [name] = _names_in(node["inputs"][0]["arg"])
        [made] = _names_in(node["outputs"][0])
        old = self.values[name]
        same = [other for other, value in self.values.items() if value is old]
        stale = [other for other in self.sharing.get(name, ()) if other not in same and self.last_read.get(other, -1) > at]
        if stale:
            raise UnreadableAten(
                f"pt2: the node {made!r} writes in place what {stale[0]!r} shares, which is read later. Got {_name_of(node['target'])}, expected a "
                f"program without such writes. Export program.run_decompositions({{}})."
            )
        self.values.update(dict.fromkeys(same, self.values[made]))
        group = self.sharing.get(name, {name}) | {made}
        self.sharing.update(dict.fromkeys(group, group))

    def bind(self, out: dict[str, Any], value: Any) -> None:
        [(form, held)] = out.items()
        if form == "as_tensors":
            for each, part in zip(held, value, strict=True):
                self.values[each["name"]] = part
        elif form == "as_tensor":
            self.values[held["name"]] = value
        elif form in ("as_sym_int", "as_sym_bool", "as_sym_float"):
            self.values[held.get("as_name", held.get("name"))] = value
        elif form != "as_none":
            raise ExportedFileError(f"pt2: a node gives {form}. Expected tensors and sizes.")

    def rule(self, target: str) -> Callable[..., Any]:
        if target in _WHOLE:
            return _WHOLE[target]
        base = _name_of(target).partition(".")[0]
        found = READS.get(base) if target.startswith(_ATEN) else None
        if found is None:
            raise UnreadableAten(
                f"pt2: the program has an operator that is not read. Got {target!r}, expected one of {len(READS)} of ATen that are known."
                f"{did_you_mean(base, READS)} Add a rule for it with @reads to wherry_onnx_files/exported/aten.py, or export ONNX."
            )
        return found


def _names_in(arg: dict[str, Any]) -> list[str]:
    """The tensors that an argument or an output names."""
    [(form, held)] = arg.items()
    if form == "as_optional_tensors":
        return [each["as_tensor"]["name"] for each in held if "as_tensor" in each]
    return [each["name"] for each in (held if form == "as_tensors" else [held])] if form in ("as_tensor", "as_tensors") else []


class _Other:
    """An argument without meaning here: a device, a layout, a memory format."""

    def __init__(self, form: str) -> None:
        self.form = form
