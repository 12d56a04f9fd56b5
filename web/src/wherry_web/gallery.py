"""Saved models in a folder: one folder each, with a card and the weights.

    models/
      digits/
        model.json        what it is: architecture, labels, shape of an input, size and digest of the weights
        weights.pdparams

Weights are read by the restricted reader of `wherry.load`, and only architectures that are listed here are
built: a folder from elsewhere can hold wrong numbers, but no code.
"""
from __future__ import annotations

import hashlib
import io
import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wherry as paddle

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def lenet(card: dict[str, Any]) -> paddle.nn.Layer:
    return paddle.vision.models.LeNet(num_classes=len(card["labels"]))


def mlp(card: dict[str, Any]) -> paddle.nn.Layer:
    from wherry_web.client.networks import MLP

    return MLP(num_classes=len(card["labels"]))


ARCHITECTURES: dict[str, Callable[[dict[str, Any]], paddle.nn.Layer]] = {"LeNet": lenet, "MLP": mlp}


@dataclass(frozen=True)
class SavedModel:
    """One model of the gallery, loaded when it is first used."""

    name: str
    folder: Path
    card: dict[str, Any]

    @property
    def weights(self) -> Path:
        return self.folder / self.card["weights"]

    def load(self) -> paddle.nn.Layer:
        """Build the network and read its weights.

        Raises:
            ValueError: the file is not what the card says, or does not fit the architecture.
        """
        content = self.weights.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.card["sha256"]:
            raise ValueError(
                f"{self.weights}: the weights changed after they were saved. Got sha256 {digest}, expected "
                f"{self.card['sha256']}. Save the model again."
            )
        network = ARCHITECTURES[self.card["architecture"]](self.card)
        network.set_state_dict(paddle.load(io.BytesIO(content)))
        network.eval()
        return network


class Gallery:
    """The models of a folder. Looks again at each request, so new ones appear without a restart."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._loaded: dict[tuple[str, str], paddle.nn.Layer] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        if self.folder is None:
            return []
        return sorted(path.parent.name for path in self.folder.glob("*/model.json") if NAME.fullmatch(path.parent.name))

    def find(self, name: str) -> SavedModel | None:
        """The model of this name; None when there is none.

        Raises:
            ValueError: its card is broken.
        """
        if self.folder is None or not NAME.fullmatch(name):
            return None
        path = self.folder / name / "model.json"
        if not path.is_file():
            return None
        return SavedModel(name, path.parent, checked(json.loads(path.read_text()), path))

    def network(self, model: SavedModel) -> paddle.nn.Layer:
        """The network of a model, loaded once for each version of its weights."""
        key = (model.name, model.card["sha256"])
        with self._lock:
            if key not in self._loaded:
                self._loaded = {k: v for k, v in self._loaded.items() if k[0] != model.name}
                self._loaded[key] = model.load()
            return self._loaded[key]


def checked(card: Any, path: Path) -> dict[str, Any]:
    """The card, if it has everything in the right form."""
    wanted = {"title": str, "architecture": str, "labels": list, "input_shape": list, "weights": str, "sha256": str, "bytes": int}
    if not isinstance(card, dict):
        raise ValueError(f"{path}: not a card. Got {type(card).__name__}, expected an object with {', '.join(wanted)}.")
    for key, kind in wanted.items():
        if not isinstance(card.get(key), kind):
            raise ValueError(f"{path}: {key!r} is wrong. Got {card.get(key)!r}, expected {kind.__name__}. Save the model again.")
    if card["architecture"] not in ARCHITECTURES:
        raise ValueError(
            f"{path}: unknown architecture. Got {card['architecture']!r}, expected one of {', '.join(ARCHITECTURES)}."
        )
    if Path(card["weights"]).name != card["weights"]:
        raise ValueError(f"{path}: weights lie elsewhere. Got {card['weights']!r}, expected a file beside the card.")
    return card


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
        network: its `state_dict` is saved as `.pdparams`.
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
    content = weights.read_bytes()
    card = {
        "title": title, "architecture": architecture, "labels": labels, "input_shape": input_shape, **facts,
        "weights": weights.name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content),
    }
    # The card comes last and in one piece: a model is there once its card is.
    unfinished = place / "model.json.new"
    unfinished.write_text(json.dumps(card, indent=2) + "\n")
    os.replace(unfinished, place / "model.json")
    return SavedModel(name, place, card)
