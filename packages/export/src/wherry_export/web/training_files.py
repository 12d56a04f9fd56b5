"""The additional files of a bundle that trains: the training program, Pyodide's core, our wheels."""
from __future__ import annotations

import gzip
import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wherry_export.web.program import Description
from wherry_export.web.training import digest_of
from wherry_export.web.wheels import SNAPSHOT, core_files, modules, version, zipped
from wherry_graph.jit import load
from wherry_tensor._core import Tensor

__all__ = ["check_training", "training_files"]


def check_training(saved: Mapping[str, bytes], examples: Sequence[Tensor]) -> None:
    """Take the gradient of a saved model's first output.

    Args:
        saved: its files by suffix.
        examples: an input for each feed.

    Raises:
        ValueError: it has no parameters that learn, or its batch is not open.
        FileNotFoundError: its parameters were not saved beside it.
    """
    if ".pdiparams" not in saved:
        raise FileNotFoundError("web: a bundle that trains has the parameters of the model. Got no .pdiparams beside the .pdmodel, expected one.")
    with tempfile.TemporaryDirectory() as folder:
        for suffix, content in saved.items():
            Path(f"{folder}/model{suffix}").write_bytes(content)
        net = load(f"{folder}/model")
    for x in net.program().feeds:
        if not x.sizes or x.sizes[0] >= 0:
            raise ValueError(
                f"web: the first axis of each input of a model that trains is the examples. Got '{x.name}' of shape {list(x.sizes)}, expected -1 "
                f"first. Leave it open: InputSpec([None, ...])."
            )
    if not [x for x in net.parameters() if not x.stop_gradient]:
        raise ValueError("web: the model has nothing that learns. Got no parameter with stop_gradient=False, expected one. Leave engine='train' out.")
    net.train()
    answer = net(*examples)
    first = answer[0] if isinstance(answer, (list, tuple)) else answer
    if not first.dtype.is_floating or first.stop_gradient:
        raise ValueError(
            f"web: the first output of the model has no gradient with respect to its parameters. Got {first.dtype.name}, expected scores. Export the "
            f"model without its argmax, say."
        )
    first.sum().backward()


def training_files(
    description: Description, precision: str, saved: Mapping[str, bytes], wheels: Path, pyodide: Path,
) -> dict[str, bytes]:
    """The files by name. The memory of a started Pyodide is packed: not every file server compresses, and it is a seventh then.

    Its name does not end with .gz, which some servers take for an encoding that they have to tell browsers of.
    """
    facts = {"kernels": description.rows, "digest": digest_of(description), "precision": precision}
    ours = modules(sorted(wheels.glob("wherry*.whl")))
    return {
        **{f"model{suffix}": content for suffix, content in saved.items()}, "facts.json": json.dumps(facts).encode(),
        "wherry.zip": zipped(ours, zipfile.ZIP_DEFLATED),  # not every file server compresses
        **{f"pyodide-{version(pyodide)}/{name}": content for name, content in _core(pyodide)},
    }


def _core(pyodide: Path) -> Iterator[tuple[str, bytes]]:
    for name in core_files(pyodide):
        content = (pyodide / name).read_bytes()
        yield (f"{name}.packed", gzip.compress(content, 9, mtime=0)) if name == SNAPSHOT else (name, content)
