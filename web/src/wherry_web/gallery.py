"""Models in a folder: networks with a card, programs, and pages that were exported.

    models/
      digits/                    a network (`save_model`)
        model.json               what it is: architecture, labels, shape of an input, size and digest of the weights
        weights.pdparams
        program.pdmodel, program.pdiparams
      lenet.pdmodel, lenet.pdiparams, lenet.json      a program, of Wherry or Paddle; the card is optional: title and labels
      lenet-page/                what `wherry.export.web` wrote: manifest.json, index.html, ...
    uploads/
      net/                       a program that came over the network (uploads.py)
        model.json, program.pdmodel, program.pdiparams

The server answers from the programs, pages build the network from the weights. Both are read by readers that run nothing, and only
architectures that are listed here are built: a model from elsewhere can hold wrong numbers, but no code. Uploaded programs are run in
processes of their own. Exported pages bring scripts; they come from the operator's folder alone.
"""
from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np

import wherry as paddle
from wherry_web.client.networks import ARCHITECTURES, network, restore
from wherry_web.isolated import Pool
from wherry_web.programs import DTYPES, MODEL, PARAMS, Loaded, Refused, described, files_of

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

    kind = "network"

    @property
    def digest(self) -> str:
        digest: str = self.card["sha256"]
        return digest

    @property
    def labels(self) -> list[str]:
        labels: list[str] = self.card["labels"]
        return labels

    @property
    def inputs(self) -> list[dict[str, Any]]:
        return [{"name": "image", "dtype": "float32", "shape": [-1, *self.card["input_shape"]]}]

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
        OSError: there is no program.
    """
    digest = hashlib.sha256()
    for path in files_of(prefix):
        if path.is_symlink():
            raise BrokenModel(f"{path}: a link. Got a link to another file, expected the file. Save the model again.")
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True)
class SavedProgram:
    """A program of the gallery: `.pdmodel` with `.pdiparams`."""

    name: str
    prefix: Path
    card: dict[str, Any]
    uploaded: bool = False
    kind = "program"

    @property
    def digest(self) -> str:
        digest: str = self.card["sha256"]
        return digest

    @property
    def labels(self) -> list[str] | None:
        return self.card.get("labels")

    @property
    def inputs(self) -> list[dict[str, Any]]:
        inputs: list[dict[str, Any]] = self.card["inputs"]
        return inputs

    @property
    def parts(self) -> dict[str, str]:
        """Suffix of each file that there is, by the name of its address."""
        there = {path.suffix for path in files_of(self.prefix)}
        return {part: suffix for part, suffix in (("program", MODEL), ("params", PARAMS)) if suffix in there}


@dataclass(frozen=True)
class Bundle:
    """A page that `wherry.export.web` wrote."""

    name: str
    folder: Path
    card: dict[str, Any]


Model = SavedModel | SavedProgram


class Gallery:
    """The models of a folder. Looks again at each request, so new ones appear without a restart.

    Args:
        folder: the operator's; None: there is none.
        uploads: of programs that came over the network; None: there are none.
        pool: where those run.
    """

    def __init__(self, folder: Path | None, uploads: Path | None = None, pool: Pool | None = None) -> None:
        self.folder, self.uploads, self._pool = folder, uploads, pool
        self._loaded: dict[tuple[str, str], Any] = {}
        self._known: dict[Path, tuple[Any, dict[str, Any] | BrokenModel]] = {}  # a program's path -> (state of its files, its card)
        self._lock = threading.Lock()

    def models(self) -> list[Model]:
        """All that can be asked, by name. What cannot be used is left out; the log says why."""
        found: dict[str, Model] = {}
        programs = self._programs()
        folders = [folder for folder in (self.folder, self.uploads) if folder]
        for name in {*programs, *(path.parent.name for folder in folders for path in folder.glob("*/model.json"))}:
            try:
                model = self._one(name, programs)
            except BrokenModel as error:
                log.warning("%s", error)
                continue
            if model is not None:
                found[name] = model
        return [found[name] for name in sorted(found)]

    def _programs(self) -> dict[str, Path]:
        """The programs of the operator's folder by their names in addresses; of two that share one, the first file."""
        paths = sorted(self.folder.glob(f"*{MODEL}"), reverse=True) if self.folder else []
        return {name_for(path): path for path in paths}

    def find(self, name: str) -> Model | None:
        """The model of this name; None when there is none. A network comes before a program, both before what was uploaded.

        Raises:
            BrokenModel: its card or program is broken.
        """
        return self._one(name, self._programs())

    def _one(self, name: str, programs: dict[str, Path]) -> Model | None:
        if not NAME.fullmatch(name):
            return None
        if self.folder is not None:
            path = self.folder / name / "model.json"
            if path.is_file():
                return SavedModel(name, path.parent, checked(read_card(path), path))
            if name in programs:
                return SavedProgram(name, programs[name].with_suffix(""), self._card_of(programs[name]))
        if self.uploads is not None:
            path = self.uploads / name / "model.json"
            if path.is_file():
                return SavedProgram(name, path.parent / PROGRAM, checked(read_card(path), path, _program_card), uploaded=True)
        return None

    def _card_of(self, path: Path) -> dict[str, Any]:
        """The card of a program: what lies beside it says, and what the program says itself; read anew when a file has changed."""
        prefix, beside = path.with_suffix(""), path.with_suffix(".json")
        paths = [*files_of(prefix), *([beside] if beside.is_file() else [])]
        try:
            state = [(one.name, (stat := one.stat()).st_mtime_ns, stat.st_size) for one in paths]
            if self._known.get(path, (None,))[0] != state:
                try:
                    card: dict[str, Any] | BrokenModel = self._described(prefix, beside if beside in paths else None)
                except BrokenModel as error:
                    card = error
                self._known[path] = state, card
        except OSError as error:
            raise BrokenModel(f"{path}: {error.strerror}. Save the program again.") from error
        found = self._known[path][1]
        if isinstance(found, BrokenModel):
            raise found
        return found

    @staticmethod
    def _described(prefix: Path, beside: Path | None) -> dict[str, Any]:
        said = checked(read_card(beside), beside, _beside) if beside else {}
        try:
            return {
                "title": prefix.name, **said, **described(prefix.with_name(prefix.name + MODEL)),
                "sha256": digest_of(prefix), "bytes": sum(one.stat().st_size for one in files_of(prefix)),
            }
        except Refused as error:
            raise BrokenModel(f"{prefix}{MODEL}: {error}") from error

    def bundles(self) -> list[Bundle]:
        """The exported pages of the operator's folder, by name."""
        found = []
        for path in sorted(self.folder.glob("*/manifest.json")) if self.folder else []:
            try:
                bundle = self.bundle(path.parent.name)
            except BrokenModel as error:
                log.warning("%s", error)
                continue
            if bundle is not None:
                found.append(bundle)
        return found

    def bundle(self, name: str) -> Bundle | None:
        """The exported page of this name; None when there is none.

        Raises:
            BrokenModel: its manifest is broken.
        """
        if self.folder is None or not NAME.fullmatch(name) or not (self.folder / name / "manifest.json").is_file():
            return None
        path = self.folder / name / "manifest.json"
        return Bundle(name, path.parent, checked(read_card(path), path, _manifest))

    def measured(self, bundle: Bundle) -> dict[str, Any] | None:
        """What was measured of an exported page when it was made (`NAME.measured.json` beside it); None where nothing says it.

        Raises:
            BrokenModel: the file is not a JSON object.
        """
        path = bundle.folder.with_name(f"{bundle.name}.measured.json")
        return read_card(path) if path.is_file() else None

    def network(self, model: SavedModel) -> paddle.nn.Layer:
        """The network of a model, loaded once for each version of its weights."""
        layer: paddle.nn.Layer = self._once(model, model.load)
        return layer

    def answer(self, model: Model, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """What a model says to these inputs.

        Raises:
            BrokenModel: it cannot be loaded.
            Refused: it does not compute with these inputs, or not within the bounds.
            Busy: too many uploaded programs are asked at once.
        """
        if isinstance(model, SavedModel):
            with paddle.no_grad():
                return [self.network(model)(paddle.to_tensor(arrays[0])).numpy()]
        if model.uploaded:
            assert self._pool is not None
            return self._pool.answer((model.name, model.digest), model.prefix, arrays)
        program: Loaded = self._once(model, lambda: loaded(model.prefix))
        return program.answer(arrays)

    def close(self) -> None:
        """End the processes of uploaded programs; they start again when one is asked."""
        if self._pool is not None:
            self._pool.close()

    def _once(self, model: Model, load: Callable[[], Any]) -> Any:
        key = (model.name, model.digest)
        with self._lock:
            if key not in self._loaded:
                self._loaded = {k: v for k, v in self._loaded.items() if k[0] != model.name}
                self._loaded[key] = load()
            return self._loaded[key]


def loaded(prefix: Path) -> Loaded:
    try:
        return Loaded(prefix)
    except (Refused, OSError) as error:
        raise BrokenModel(f"{prefix}: {error}") from error


def name_for(path: Path) -> str:
    """The name of a file as it stands in addresses."""
    return re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")[:64]


def read_card(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BrokenModel(f"{path}: not a card: {error}. Save the model again.") from error


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
        # An exported page of the gallery in which the same weights answer without Python.
        "page": {"type": "string", "pattern": NAME.pattern + r"\Z"},
    },
}
VALUE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "dtype", "shape"],
    "properties": {
        "name": {"type": "string"}, "dtype": {"enum": list(DTYPES)}, "shape": {"type": "array", "items": {"type": "integer", "minimum": -1}},
    },
}
BESIDE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"title": {"type": "string", "maxLength": 200}, "labels": {**CARD["properties"]["labels"], "maxItems": 10_000}},
}
PROGRAM_CARD: dict[str, Any] = {
    "type": "object",
    "required": ["title", "inputs", "outputs", "sha256", "bytes"],
    "properties": {
        **BESIDE["properties"],
        "inputs": {"type": "array", "items": VALUE, "minItems": 1}, "outputs": {"type": "array", "items": VALUE, "minItems": 1},
        "sha256": CARD["properties"]["sha256"], "bytes": CARD["properties"]["bytes"],
    },
}
MANIFEST: dict[str, Any] = {
    "type": "object",
    "required": ["wherry", "title"],
    "properties": {"wherry": {"type": "string"}, "title": {"type": "string"}, "precision": {"type": "string"}},
}
_card, _beside, _program_card, _manifest = map(jsonschema.Draft202012Validator, (CARD, BESIDE, PROGRAM_CARD, MANIFEST))


def checked(card: Any, path: Path, schema: jsonschema.Draft202012Validator = _card) -> dict[str, Any]:
    """The card, if it has everything in the right form."""
    problem = jsonschema.exceptions.best_match(schema.iter_errors(card))
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
    _write_card(place, card)
    return SavedModel(name, place, card)


def link_page(model: SavedModel, page: str) -> SavedModel:
    """Say in the card of a model in which exported page of the gallery its weights answer without Python: pages use that where they can.

    Args:
        model: as `save_model` returns it; saving it again removes the link.
        page: the name of the folder that `wherry.export.web` wrote beside the model.

    Raises:
        ValueError: the name is not allowed.
    """
    if not NAME.fullmatch(page):
        raise ValueError(f"link_page: got the name {page!r}, expected lower-case letters, digits, '-' and '_'. Choose another.")
    card = {**model.card, "page": page}
    _write_card(model.folder, card)
    return SavedModel(model.name, model.folder, card)


def _write_card(place: Path, card: dict[str, Any]) -> None:
    """The card comes last and in one piece: a model is there once its card is."""
    unfinished = place / "model.json.new"
    unfinished.write_text(json.dumps(card, indent=2) + "\n")
    os.replace(unfinished, place / "model.json")
