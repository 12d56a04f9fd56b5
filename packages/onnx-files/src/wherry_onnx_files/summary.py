"""What an ONNX model holds, without running it."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from wherry_onnx_files import proto
from wherry_onnx_files.column import READS
from wherry_onnx_files.elements import NAMES
from wherry_onnx_files.errors import OnnxFileError, plain
from wherry_onnx_files.models import Port, read_model
from wherry_tensor.protobuf import ModelFileError

__all__ = ["summary"]


def summary(source: Any) -> dict[str, Any]:
    """What a model says: the keys are those of `wherry_paddle_files.summary.summary`; open sizes have names or are None.

    Args:
        source: as for `read_model`.

    Raises:
        OnnxFileError: the file is damaged, or no ONNX model.
    """
    model = read_model(source)
    graph = model.proto.graph
    assert graph is not None
    own = {(f.domain, f.name) for f in model.proto.functions}
    types: Counter[tuple[str, str]] = Counter()
    try:
        types.update(("" if node.domain == "ai.onnx" else node.domain, node.op_type) for node in _nodes(graph.nodes))
    except RecursionError as error:
        raise OnnxFileError("onnx: graphs lie in each other too deep. Expected a few levels. Export the model again.") from error
    except ModelFileError as error:
        raise OnnxFileError(f"onnx: {plain(error)}") from error
    opsets = ", ".join(f"{opset.domain or 'ai.onnx'} {opset.version}" for opset in model.proto.opsets)
    made_by = " ".join(filter(None, (model.proto.producer_name, model.proto.producer_version)))
    return {
        "format": f"ONNX model, opset {opsets}" + (f", written by {made_by}" if made_by else ""),
        "inputs": [_port(port) for port in model.inputs],
        "outputs": [_port(port) for port in model.outputs],
        "operators": {_shown(*key): count for key, count in types.most_common()},
        "unsupported": sorted(_shown(*key) for key in types if key not in READS and key not in own),
        "parameters": [{"name": x.name, "dtype": NAMES.get(x.data_type), "shape": list(x.dims)} for x in graph.initializers],
    }


def _nodes(nodes: list[proto.Node]) -> Iterator[proto.Node]:
    for node in nodes:
        yield node
        for attr in node.attributes:
            if attr.g is not None:
                yield from _nodes(proto.graph_of(attr.g).nodes)


def _shown(domain: str, name: str) -> str:
    return f"{domain}.{name}" if domain else name


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "dtype": port.form.format(port.type) if port.type else None, "shape": port.shape}
