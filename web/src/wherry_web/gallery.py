"""Saved models in a folder: one folder each, with a card and the weights.

    models/
      digits/
        model.json        what it is: architecture, labels, shape of an input, size and digest of the weights
        weights.pdparams
        program.pdmodel, program.pdiparams

The server answers from the program, pages build the network from the weights. Both are read by readers that run nothing, and only
architectures that are listed here are built: a folder from elsewhere can hold wrong numbers, but no code.
"""
from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

import wherry as paddle
from wherry_web.client.networks import ARCHITECTURES, network, restore

log = logging.getLogger(__name__)
PROGRAM = "program"  # the names of its files begin so
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class BrokenModel(ValueError):
    """A folder of the gallery that holds no model that could be used; the text says why."""


@dataclass(frozen=True)
class SavedModel:
    """One model of the gallery, loaded when it is first used."""

    name: str
    folder: Path
    card: dict[str, Any]

    @property
    def weights(self) -> Path:
        return self.folder / self.card["weights"]

    def content(self) -> bytes:
        """The weights, as they were when the card was written.

        Raises:
            BrokenModel: the file is not what the card says, or is a link to somewhere else.
        """
        try:
            if self.weights.is_symlink():
                raise BrokenModel(f"{self.weights}: a link. Got a link to another file, expected the file. Save the model again.")
            if self.weights.stat().st_size != self.card["bytes"]:  # before it is read: the card says how much to expect
                raise BrokenModel(
                    f"{self.weights}: the weights changed after they were saved. Got {self.weights.stat().st_size} bytes, expected "
                    f"{self.card['bytes']}. Save the model again."
                )
            content = self.weights.read_bytes()
        except OSError as error:
            raise BrokenModel(f"{self.weights}: {error.strerror}. Save the model again.") from error
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.card["sha256"]:
            raise BrokenModel(
                f"{self.weights}: the weights changed after they were saved. Got sha256 {digest}, expected "
                f"{self.card['sha256']}. Save the model again."
            )
        return content

    def load(self) -> paddle.nn.Layer:
        """Load the program; where there is none, build the network and read its weights.

        Raises:
            BrokenModel: a file is not what the card says, or does not fit the architecture.
        """
        if "program_sha256" in self.card:
            return self.program()
        content = self.content()
        net = network(self.card["architecture"], len(self.card["labels"]))
        try:
            restore(net, content)
        except ValueError as error:
            raise BrokenModel(f"{self.weights}: {error}") from error
        net.eval()
        return net


    def program(self) -> paddle.nn.Layer:
        """The network as a saved program.

        Raises:
            BrokenModel: a file is not what the card says.
        """
        prefix = self.folder / PROGRAM
        try:
            if digest_of(prefix) != self.card["program_sha256"]:
                raise BrokenModel(f"{prefix}: the program changed after it was saved. Got another sha256 than the card's. Save the model again.")
            net = paddle.jit.load(str(prefix))
        except (OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, BrokenModel):
                raise
            raise BrokenModel(f"{prefix}: {error}") from error
        net.eval()
        return net


def digest_of(prefix: Path) -> str:
    """sha256 over both files of a program.

    Raises:
        BrokenModel: one is a link to somewhere else.
        OSError: one is not there.
    """
    digest = hashlib.sha256()
    for suffix in (".pdmodel", ".pdiparams"):
        path = prefix.with_name(prefix.name + suffix)
        if path.is_symlink():
            raise BrokenModel(f"{path}: a link. Got a link to another file, expected the file. Save the model again.")
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Gallery:
    """The models of a folder. Looks again at each request, so new ones appear without a restart."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._loaded: dict[tuple[str, str], paddle.nn.Layer] = {}
        self._lock = threading.Lock()

    def models(self) -> list[SavedModel]:
        """All that can be used, by name. The others are left out; the log says why."""
        found = []
        for path in sorted(self.folder.glob("*/model.json")) if self.folder else []:
            try:
                model = self.find(path.parent.name)
            except BrokenModel as error:
                log.warning("%s", error)
                continue
            if model is not None:
                found.append(model)
        return found

    def find(self, name: str) -> SavedModel | None:
        """The model of this name; None when there is none.

        Raises:
            BrokenModel: its card is broken.
        """
        if self.folder is None or not NAME.fullmatch(name):
            return None
        path = self.folder / name / "model.json"
        if not path.is_file():
            return None
        try:
            card = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise BrokenModel(f"{path}: not a card: {error}. Save the model again.") from error
        return SavedModel(name, path.parent, checked(card, path))

    def network(self, model: SavedModel) -> paddle.nn.Layer:
        """The network of a model, loaded once for each version of its weights."""
        key = (model.name, model.card["sha256"])
        with self._lock:
            if key not in self._loaded:
                self._loaded = {k: v for k, v in self._loaded.items() if k[0] != model.name}
                self._loaded[key] = model.load()
            return self._loaded[key]


CARD: dict[str, Any] = {
    "type": "object",
    "required": ["title", "architecture", "labels", "input_shape", "weights", "sha256", "bytes"],
    "properties": {
        "title": {"type": "string"},
        "architecture": {"enum": list(ARCHITECTURES)},
        "labels": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1000},
        "input_shape": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1, "maxItems": 7},
        # A file beside the card.
        "weights": {"type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\Z"},
        "sha256": {"type": "string", "pattern": r"^[0-9a-f]{64}\Z"},
        "bytes": {"type": "integer", "minimum": 0},
        "program_sha256": {"type": "string", "pattern": r"^[0-9a-f]{64}\Z"},
        "accuracy": {"type": "number"},
    },
}
_card = jsonschema.Draft202012Validator(CARD)


def checked(card: Any, path: Path) -> dict[str, Any]:
    """The card, if it has everything in the right form."""
    problem = jsonschema.exceptions.best_match(_card.iter_errors(card))
    if problem is not None:
        where = "".join(f"[{part!r}]" for part in problem.absolute_path)
        raise BrokenModel(f"{path}: the card{where} is wrong: {problem.message[:300]}. Save the model again.")
    known: dict[str, Any] = card
    return known


def save_model(
    folder: Path | str,
    name: str,
    network: paddle.nn.Layer,
    *,
    title: str,
    architecture: str,
    labels: list[str],
    input_shape: list[int],
    **facts: Any,
) -> SavedModel:
    """Put a trained network into a gallery.

    Args:
        folder: of the gallery; made if needed.
        name: of the model, lower-case letters, digits, `-` and `_`: it becomes part of addresses.
        network: its `state_dict` is saved as `.pdparams`, what it computes as a program.
        title: for people.
        architecture: a key of `ARCHITECTURES`.
        labels: of the classes, in the order of the outputs.
        input_shape: of one example, without the batch.
        facts: more for the card, such as `accuracy=0.98`.

    Raises:
        ValueError: the name or the architecture is not allowed.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"save_model: got the name {name!r}, expected lower-case letters, digits, '-' and '_'. Choose another.")
    if architecture not in ARCHITECTURES:
        raise ValueError(f"save_model: got the architecture {architecture!r}, expected one of {', '.join(ARCHITECTURES)}.")
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    weights = place / "weights.pdparams"
    paddle.save(network.state_dict(), str(weights))
    program = place / PROGRAM
    was_training = network.training
    network.eval()
    paddle.jit.save(network, str(program), input_spec=[paddle.static.InputSpec([None, *input_shape], "float32", "image")])
    if was_training:
        network.train()
    content = weights.read_bytes()
    card = {
        "title": title, "architecture": architecture, "labels": labels, "input_shape": input_shape, **facts,
        "weights": weights.name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content),
        "program_sha256": digest_of(program),
    }
    # The card comes last and in one piece: a model is there once its card is.
    unfinished = place / "model.json.new"
    unfinished.write_text(json.dumps(card, indent=2) + "\n")
    os.replace(unfinished, place / "model.json")
    return SavedModel(name, place, card)
