"""The description of the prediction API: what is answered and what requests are checked against."""
from __future__ import annotations

from typing import Any

PREDICTION_REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "Examples to predict: nested lists, or raw little-endian float32 in base64 with their shape.",
    "additionalProperties": False,
    "properties": {
        "inputs": {
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [{"type": "number"}, {"type": "array"}]},
            "description": "One example or a batch of them, nested as the model's input_shape says.",
        },
        "base64": {"type": "string", "minLength": 4, "description": "Little-endian float32 values, row by row."},
        "shape": {
            "type": "array", "minItems": 1, "maxItems": 8, "items": {"type": "integer", "minimum": 1},
            "description": "Shape of the values in base64: input_shape, or a batch size before it.",
        },
        "top": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many labels to name; 3 if left out."},
    },
    "oneOf": [{"required": ["inputs"]}, {"required": ["base64", "shape"]}],
}

MODEL = {
    "type": "object",
    "required": ["name", "title", "architecture", "labels", "input_shape", "weights_url", "sha256", "bytes"],
    "properties": {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "architecture": {"type": "string"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "input_shape": {"type": "array", "items": {"type": "integer"}},
        "accuracy": {"type": "number"},
        "weights_url": {"type": "string"},
        "sha256": {"type": "string"},
        "bytes": {"type": "integer"},
    },
}

PREDICTION = {
    "type": "object",
    "required": ["model", "outputs", "top", "milliseconds"],
    "properties": {
        "model": {"type": "string"},
        "outputs": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "description": "Logits, `[N, classes]`."},
        "top": {
            "type": "array",
            "description": "For each example the labels of the highest probabilities, highest first.",
            "items": {"type": "array", "items": {
                "type": "object", "required": ["label", "probability"],
                "properties": {"label": {"type": "string"}, "probability": {"type": "number"}},
            }},
        },
        "milliseconds": {"type": "number", "description": "Time of the forward pass."},
    },
}

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {
        "type": "object", "required": ["status", "title", "detail"],
        "properties": {"status": {"type": "integer"}, "title": {"type": "string"}, "detail": {"type": "string"}},
    }},
}


def answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def of(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def description(version: str) -> dict[str, Any]:
    """The OpenAPI document."""
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    missing = answer("There is no such model.", of("Error"))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Wherry predictions", "version": version,
            "description": "The models of the gallery, run on the server, to compare with the answers of a browser.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/api/health": {"get": {
                "operationId": "health", "summary": "Whether the server answers",
                "responses": {"200": answer("It does.", {
                    "type": "object", "required": ["status", "version"],
                    "properties": {"status": {"const": "ok"}, "version": {"type": "string"}},
                })},
            }},
            "/api/models": {"get": {
                "operationId": "listModels", "summary": "The models of the gallery",
                "responses": {"200": answer("Their cards.", {
                    "type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": of("Model")}},
                })},
            }},
            "/api/models/{name}": {"get": {
                "operationId": "getModel", "summary": "One model", "parameters": [name],
                "responses": {"200": answer("Its card.", of("Model")), "404": missing},
            }},
            "/api/models/{name}/predict": {"post": {
                "operationId": "predict", "summary": "Run a model", "parameters": [name],
                "requestBody": {"required": True, "content": {"application/json": {"schema": of("PredictionRequest")}}},
                "responses": {
                    "200": answer("Its outputs.", of("Prediction")),
                    "400": answer("The request is no JSON or does not fit the model.", of("Error")),
                    "404": missing,
                    "413": answer("The request or the batch is too large.", of("Error")),
                    "415": answer("The request is not application/json.", of("Error")),
                    "500": answer("The model is saved wrongly.", of("Error")),
                },
            }},
        },
        "components": {"schemas": {
            "Model": MODEL, "PredictionRequest": PREDICTION_REQUEST, "Prediction": PREDICTION, "Error": ERROR,
        }},
    }
