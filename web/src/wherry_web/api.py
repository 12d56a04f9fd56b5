"""Predictions on the server: `/api/...`."""
from __future__ import annotations

import base64
import binascii
import math
import struct
import time
from typing import Any, NoReturn

import jsonschema
from flask import Blueprint, Response, abort, current_app, jsonify, request, url_for

import wherry as paddle
from wherry_web import openapi
from wherry_web.gallery import BrokenModel, Gallery, SavedModel

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
    return jsonify(models=[card(model) for model in gallery().models()])


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
    # The shape is known from the first values of each axis, and the rest is looked at only if it fits.
    shape = shape_of(values["inputs"]) if "inputs" in values else values["shape"]
    batch = batch_size(shape, model.card["input_shape"])
    images = paddle.reshape(tensor(numbers_of(values, shape)), [batch, *model.card["input_shape"]])
    if "base64" in values and not paddle.isfinite(images).all():
        abort(400, "base64: a value is not a finite float32, but NaN or infinite. Scale the values.")
    try:
        network = gallery().network(model)
        started = time.perf_counter()
        with paddle.no_grad():
            logits = network(images)
            probabilities = paddle.nn.functional.softmax(logits).tolist()
        milliseconds = (time.perf_counter() - started) * 1e3
    except ValueError as error:  # the request has been checked: what is wrong is the model
        broken(name, error)
    labels = model.card["labels"]
    return jsonify(
        model=name,
        outputs=logits.tolist(),
        top=[top(row, labels, values.get("top", 3)) for row in probabilities],
        milliseconds=milliseconds,
    )


def gallery() -> Gallery:
    models: Gallery = current_app.extensions["gallery"]
    return models


def found(name: str) -> SavedModel:
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


def card(model: SavedModel) -> dict[str, Any]:
    known = {key: value for key, value in model.card.items() if key != "weights"}
    return {"name": model.name, **known, "weights_url": url_for("files.weights", name=model.name, digest=model.card["sha256"][:16])}


def outline(value: Any, depth: int = 2) -> Any:
    """What the schema has to see of a request: the beginnings of its lists and texts.

    The schema's program looks at every value, and holds up all others meanwhile: a minute for 4 MB of them. Nothing that it
    forbids can hide in what is left out: lists with more than 8 items are either too long or looked at by `flatten`.
    """
    if isinstance(value, str):
        return value[:100]
    if isinstance(value, list):
        return [outline(item, depth - 1) for item in value[: 9 if depth > 0 else 0]]
    if isinstance(value, dict):
        keys = [key for key in value if key not in KEYS][:1] + [key for key in KEYS if key in value]
        return {key[:100]: outline(value[key], depth - 1) for key in (keys if depth > 0 else ())}
    return value


KEYS = tuple(openapi.PREDICTION_REQUEST["properties"])


def numbers_of(values: dict[str, Any], shape: list[int]) -> bytes:
    """The examples as float32 in row-major order."""
    if "inputs" in values:
        flat: list[float] = []
        flatten(values["inputs"], shape, flat)
        if not all(math.isfinite(number) and abs(number) <= 3.4e38 for number in flat):
            abort(400, "inputs: a value is not a finite float32. Scale the values.")
        return struct.pack(f"<{len(flat)}f", *flat)
    try:
        content = base64.b64decode(values["base64"], validate=True)
    except (binascii.Error, ValueError) as error:
        abort(400, f"base64: {error}. Encode float32 values as base64.")
    if len(content) != 4 * math.prod(shape):
        abort(400, f"base64: got {len(content)} bytes, expected {4 * math.prod(shape)} for {shape} of float32. Mend the shape.")
    return content


def shape_of(nested: Any) -> list[int]:
    shape: list[int] = []
    while isinstance(nested, list):
        shape.append(len(nested))
        if not nested or len(shape) > 8:
            break
        nested = nested[0]
    return shape


def flatten(nested: Any, shape: list[int], flat: list[float]) -> None:
    if not shape:
        if isinstance(nested, bool) or not isinstance(nested, (int, float)):
            abort(400, f"inputs: got {shortened(repr(nested))}, expected numbers nested to one shape.")
        try:
            flat.append(float(nested))
        except OverflowError:
            abort(400, "inputs: a value is not a finite float32. Scale the values.")
        return
    if not isinstance(nested, list) or len(nested) != shape[0]:
        got = f"a list of {len(nested)}" if isinstance(nested, list) else shortened(repr(nested))
        abort(400, f"inputs: rows differ. Got {got}, expected a list of {shape[0]}. Give every row the same length.")
    if len(shape) == 1 and set(map(type, nested)) == {float}:  # nearly all
        flat += nested
        return
    for row in nested:
        flatten(row, shape[1:], flat)


def batch_size(shape: list[int], wanted: list[int]) -> int:
    if shape == wanted:
        return 1
    if shape[1:] != wanted or shape[0] == 0:
        abort(400, f"Got inputs of shape {shape}, expected {wanted} or a batch of them, [N, {str(wanted)[1:]}.")
    limit = current_app.config["WHERRY"].max_batch
    if shape[0] > limit:
        abort(413, f"Got a batch of {shape[0]}, expected at most {limit}. Send it in pieces.")
    return shape[0]


def tensor(content: bytes) -> paddle.Tensor:
    return paddle.to_tensor(memoryview(bytearray(content)).cast("f"))


def top(row: list[float], labels: list[str], count: int) -> list[dict[str, Any]]:
    best = sorted(range(len(row)), key=lambda i: -row[i])[:count]
    return [{"label": labels[i], "probability": row[i]} for i in best]


def shortened(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."
