"""Predictions on the server: `/api/...`.

Networks and programs are asked in the same way: inputs as nested numbers or base64, alone or by name, checked against what the model
takes before anything is computed.
"""
from __future__ import annotations

import base64
import binascii
import itertools
import math
import time
from typing import Any, NoReturn

import jsonschema
import numpy as np
from flask import Blueprint, Response, abort, current_app, jsonify, request, url_for
from werkzeug.exceptions import ServiceUnavailable

from wherry_web import openapi
from wherry_web.gallery import BrokenModel, Bundle, Gallery, Model, SavedModel
from wherry_web.isolated import Busy
from wherry_web.programs import Refused

api = Blueprint("api", __name__, url_prefix="/api")
_request_schema = jsonschema.Draft202012Validator(openapi.PREDICTION_REQUEST)


@api.get("/health")
def health() -> Response:
    return jsonify(status="ok", version=current_app.config["WHERRY_VERSION"])


@api.get("/openapi.json")
def describe() -> Response:
    return jsonify(openapi.description(current_app.config["WHERRY_VERSION"]))


@api.get("/models")
def list_models() -> Response:
    return jsonify(models=[card(model) for model in gallery().models()], bundles=[bundle_card(bundle) for bundle in gallery().bundles()])


@api.get("/models/<name>")
def get_model(name: str) -> Response:
    return jsonify(card(found(name)))


@api.post("/models/<name>/predict")
def predict(name: str) -> Response:
    model = found(name)
    if not request.is_json:
        abort(415, "Got a body that is not application/json. Send JSON with that content type.")
    try:
        values = request.get_json()
    except RecursionError:
        abort(400, "Got JSON that is nested too deeply. Nest the values as the model's input_shape says.")
    problem = jsonschema.exceptions.best_match(_request_schema.iter_errors(outline(values)))
    if problem is not None:
        where = "".join(f"[{part!r}]" for part in problem.absolute_path)
        abort(400, f"request{where}: {shortened(problem.message)}. See /api/openapi.json.")
    arrays = arrays_of(values, model)
    started = time.perf_counter()
    try:
        outputs = gallery().answer(model, arrays)
    except Refused as error:
        abort(422, f"The model does not answer this: {shortened(str(error), 500)}")
    except Busy:
        raise ServiceUnavailable("All processes for uploaded models are at work. Ask again in a second.", retry_after=1) from None
    except (BrokenModel, ValueError) as error:  # the request has been checked: what is wrong is the model
        broken(name, error)
    milliseconds = (time.perf_counter() - started) * 1e3
    answer: dict[str, Any] = {"model": name}
    if len(outputs) == 1:
        answer["outputs"] = nested(outputs[0])
    else:
        names = [one["name"] for one in model.card["outputs"]]
        answer["outputs"] = {one: nested(array) for one, array in zip(names, outputs, strict=True)}
    if model.labels:
        answer["top"] = top(outputs[0], model.labels, values.get("top", 3))
        if answer["top"] is None:
            broken(name, BrokenModel(f"{name}: its labels do not fit. Got {len(model.labels)} for outputs of {list(outputs[0].shape)}."))
    return jsonify(**answer, milliseconds=milliseconds)


def gallery() -> Gallery:
    models: Gallery = current_app.extensions["gallery"]
    return models


def found(name: str) -> Model:
    try:
        model = gallery().find(name)
    except BrokenModel as error:
        broken(name, error)
    if model is None:
        saved = ", ".join(model.name for model in gallery().models())
        abort(404, f"Got {shortened(repr(name))}, expected one of: {saved or 'none is saved'}.")
    return model


def broken(name: str, error: Exception) -> NoReturn:
    current_app.logger.error("%s", error)
    abort(500, f"The model {name!r} is saved wrongly; the server's log says how. Save it again.")


def card(model: Model) -> dict[str, Any]:
    if isinstance(model, SavedModel):
        known = {key: value for key, value in model.card.items() if key != "weights"}
        return {
            "name": model.name, "kind": model.kind, **known, "inputs": model.inputs,
            "weights_url": url_for("files.weights", name=model.name, digest=model.digest[:16]),
        }
    files = {f"{part}_url": url_for("files.program", name=model.name, digest=model.digest[:16], part=part) for part in model.parts}
    return {"name": model.name, "kind": model.kind, "uploaded": model.uploaded, **model.card, **files}


def bundle_card(bundle: Bundle) -> dict[str, Any]:
    known: dict[str, Any] = {key: bundle.card[key] for key in ("title", "precision") if key in bundle.card}
    return {"name": bundle.name, **known, "url": url_for("files.bundle_page", name=bundle.name)}


def outline(values: Any) -> Any:
    """What the schema has to see of a request: the beginnings of its lists and texts.

    The schema's program looks at every value, and holds up all others meanwhile: a minute for 4 MB of them. Nothing that it
    forbids can hide in what is left out: lists with more than 8 items are either too long or looked at by `flatten`.
    """
    if not isinstance(values, dict):
        return beginning(values, 2)
    seen = {key: beginning(values[key], 1) for key in chosen(values, KEYS)}
    if isinstance(values.get("inputs"), dict):
        named = itertools.islice(values["inputs"].items(), LARGEST_NUMBER_OF_INPUTS + 1)
        seen["inputs"] = {
            key[:100]: {part: beginning(value[part], 1) for part in chosen(value, RAW_KEYS)} if isinstance(value, dict) else beginning(value, 1)
            for key, value in named
        }
    return seen


def beginning(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value[:100]
    if isinstance(value, list):
        return [beginning(item, depth - 1) for item in value[: 9 if depth > 0 else 0]]
    return {} if isinstance(value, dict) else value


def chosen(values: dict[str, Any], known: tuple[str, ...]) -> list[str]:
    """The keys that are known, and one that is not."""
    return [key for key in values if key not in known][:1] + [key for key in known if key in values]


KEYS = tuple(openapi.PREDICTION_REQUEST["properties"])
RAW_KEYS = ("base64", "shape")
LARGEST_NUMBER_OF_INPUTS = 64


def arrays_of(values: dict[str, Any], model: Model) -> list[np.ndarray]:
    """The inputs of a request, in the order of the model's."""
    given = values.get("inputs", values)
    if given is values or not isinstance(given, dict):
        if len(model.inputs) != 1:
            names = shortened(repr([one["name"] for one in model.inputs]))
            abort(400, f"inputs: the model takes {len(model.inputs)}. Got one, expected {names} by name.")
        return [array_of(given, model.inputs[0])]
    wanted = {one["name"]: one for one in model.inputs}
    if given.keys() != wanted.keys():
        abort(400, f"inputs: got {shortened(repr(sorted(given)))}, expected {shortened(repr(sorted(wanted)))}. Name every input of the model.")
    return [array_of(given[name], one) for name, one in wanted.items()]


def array_of(given: Any, wanted: dict[str, Any]) -> np.ndarray:
    """An input: nested numbers, or {"base64": ..., "shape": ...}."""
    # The shape is known from the first values of each axis, and the rest is looked at only if it fits.
    raw = isinstance(given, dict)
    shape = given["shape"] if raw else shape_of(given)
    batch = with_batch(shape, wanted["shape"])
    dtype = np.dtype(wanted["dtype"])
    if raw:
        array = decoded(given["base64"], shape, dtype)
    else:
        flat: list[Any] = []
        flatten(given, shape, flat)
        array = converted(flat, dtype)
    if dtype.kind == "f" and not np.isfinite(array).all():
        abort(400, f"{'base64' if raw else 'inputs'}: a value is not a finite {dtype.name}, but NaN or infinite. Scale the values.")
    return array.reshape(batch)


def decoded(text: str, shape: list[int], dtype: np.dtype[Any]) -> np.ndarray:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        abort(400, f"base64: {error}. Encode {dtype.name} values as base64.")
    size = math.prod(shape) * dtype.itemsize
    if len(content) != size:
        abort(400, f"base64: got {len(content)} bytes, expected {size} for {shape} of {dtype.name}. Mend the shape.")
    if dtype.kind == "b":  # any other byte is not a bool, and kernels need not know
        return np.frombuffer(content, "uint8") != 0
    return np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype)


def converted(flat: list[Any], dtype: np.dtype[Any]) -> np.ndarray:
    """Numbers that were checked to be numbers, as an array; what does not fit the type is refused."""
    try:
        if dtype.kind in "iub":
            whole = [int(x) for x in flat]
            low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            wrong = next((x for x, n in zip(flat, whole) if n != x or not low <= n <= high), None)
            if wrong is None:
                return np.array(whole, dtype)
            abort(400, f"inputs: got {shortened(repr(wrong))}, expected whole numbers of {dtype.name}, from {low} to {high}.")
        with np.errstate(over="ignore"):
            return np.array(flat, "float64").astype(dtype)
    except (OverflowError, ValueError):
        abort(400, f"inputs: a value is not a finite {dtype.name}. Scale the values.")


def shape_of(nested: Any) -> list[int]:
    shape: list[int] = []
    while isinstance(nested, list):
        shape.append(len(nested))
        if not nested or len(shape) > 8:
            break
        nested = nested[0]
    return shape


def flatten(nested: Any, shape: list[int], flat: list[Any]) -> None:
    if not shape:
        if isinstance(nested, bool) or not isinstance(nested, (int, float)):
            abort(400, f"inputs: got {shortened(repr(nested))}, expected numbers nested to one shape.")
        flat.append(nested)
        return
    if not isinstance(nested, list) or len(nested) != shape[0]:
        got = f"a list of {len(nested)}" if isinstance(nested, list) else shortened(repr(nested))
        abort(400, f"inputs: rows differ. Got {got}, expected a list of {shape[0]}. Give every row the same length.")
    if len(shape) == 1 and set(map(type, nested)) <= {float, int}:  # nearly all
        flat += nested
        return
    for row in nested:
        flatten(row, shape[1:], flat)


def with_batch(shape: list[int], wanted: list[int]) -> list[int]:
    """The shape as the model takes it: of a batch, also where one example was sent alone."""
    if len(shape) == len(wanted) - 1 and wanted[0] == -1:
        shape = [1, *shape]
        alone = True
    else:
        alone = False
    if len(shape) != len(wanted) or any(n != m and (m != -1 or n < 1) for n, m in zip(shape, wanted)):
        got = shape[1:] if alone else shape
        if wanted[:1] == [-1] and -1 not in wanted[1:]:
            abort(400, f"Got inputs of shape {got}, expected {wanted[1:]} or a batch of them, [N, {str(wanted[1:])[1:]}.")
        abort(400, f"Got inputs of shape {got}, expected {wanted} (-1: any).")
    limit = current_app.config["WHERRY"].max_batch
    if wanted[:1] == [-1] and shape[0] > limit:
        abort(413, f"Got a batch of {shape[0]}, expected at most {limit}. Send it in pieces.")
    return shape


def nested(array: np.ndarray) -> Any:
    """Nested lists for JSON, which has no NaN and no infinity: null stands for them."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        listed = array.astype(object)
        listed[~np.isfinite(array)] = None
        return listed.tolist()
    return array.tolist()


def top(outputs: np.ndarray, labels: list[str], count: int) -> list[list[dict[str, Any]]] | None:
    """The labels with the highest probabilities of each row; None where the last axis is not that of the labels."""
    if outputs.ndim == 0 or outputs.shape[-1] != len(labels):
        return None
    rows = outputs.reshape(-1, len(labels)).astype("float64")
    with np.errstate(invalid="ignore"):
        powers = np.exp(rows - rows.max(axis=1, keepdims=True))
        shares = np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))
    return [
        [{"label": labels[i], "probability": float(row[i])} for i in sorted(range(len(labels)), key=lambda i: -row[i])[:count]] for row in shares
    ]


def shortened(text: str, length: int = 200) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
