"""The description of the prediction API: what is answered and what requests are checked against."""
from __future__ import annotations

from typing import Any

BASE64 = {"type": "string", "minLength": 4, "description": "Little-endian values of the input's type, row by row."}
SHAPE = {
    "type": "array", "minItems": 1, "maxItems": 8, "items": {"type": "integer", "minimum": 1},
    "description": "Shape of the values in base64, with or without a batch size before it.",
}
RAW: dict[str, Any] = {
    "type": "object", "required": ["base64", "shape"], "additionalProperties": False, "properties": {"base64": BASE64, "shape": SHAPE},
}
PREDICTION_REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "Examples to predict: nested lists, or raw little-endian values in base64 with their shape; by name where a model takes several.",
    "additionalProperties": False,
    "properties": {
        "inputs": {
            "description": "One example or a batch of them, nested as the model's inputs say; an object has one for each input by its name.",
            "anyOf": [
                {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "number"}, {"type": "array"}]}},
                {
                    "type": "object", "minProperties": 1, "maxProperties": 64,
                    "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "array"}, RAW]},
                },
            ],
        },
        "base64": BASE64,
        "shape": SHAPE,
        "top": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many labels to name; 3 if left out."},
    },
    "oneOf": [{"required": ["inputs"]}, {"required": ["base64", "shape"]}],
}

VALUE = {
    "type": "object",
    "required": ["name", "dtype", "shape"],
    "properties": {
        "name": {"type": "string"}, "dtype": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer"}, "description": "-1: any size."},
    },
}
MODEL = {
    "type": "object",
    "description": "A network, which pages can build from its weights, or a program: what a `.pdmodel` says.",
    "required": ["name", "kind", "title", "inputs", "sha256", "bytes"],
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["network", "program"]},
        "title": {"type": "string"},
        "inputs": {"type": "array", "items": VALUE},
        "outputs": {"type": "array", "items": VALUE, "description": "Of a program."},
        "labels": {"type": "array", "items": {"type": "string"}, "description": "Names along the last axis of the first output."},
        "uploaded": {"type": "boolean"},
        "architecture": {"type": "string"},
        "input_shape": {"type": "array", "items": {"type": "integer"}},
        "accuracy": {"type": "number"},
        "page": {"type": "string", "description": "The exported page in which the same weights answer in the browser."},
        "weights_url": {"type": "string"},
        "program_url": {"type": "string"},
        "params_url": {"type": "string"},
        "sha256": {"type": "string"},
        "bytes": {"type": "integer"},
    },
}
BUNDLE = {
    "type": "object",
    "description": "A page that was exported with wherry.export.web; it answers in the browser.",
    "required": ["name", "title", "url"],
    "properties": {"name": {"type": "string"}, "title": {"type": "string"}, "precision": {"type": "string"}, "url": {"type": "string"}},
}

PREDICTION = {
    "type": "object",
    "required": ["model", "outputs", "milliseconds"],
    "properties": {
        "model": {"type": "string"},
        "outputs": {
            "description": "Nested lists, such as logits `[N, classes]`; of several outputs an object by name. null stands for NaN and infinity.",
        },
        "top": {
            "type": "array",
            "description": "Where the model has labels: for each row the labels of the highest probabilities, highest first.",
            "items": {"type": "array", "items": {
                "type": "object", "required": ["label", "probability"],
                "properties": {"label": {"type": "string"}, "probability": {"type": "number"}},
            }},
        },
        "milliseconds": {"type": "number", "description": "Time of the forward pass."},
    },
}

UPLOAD: dict[str, Any] = {
    "type": "object",
    "required": ["model"],
    "additionalProperties": False,
    "properties": {
        "model": {"type": "string", "format": "binary", "description": "The `.pdmodel`."},
        "params": {"type": "string", "format": "binary", "description": "Its `.pdiparams`; left out where a program has no parameters."},
        "name": {"type": "string", "description": "Becomes part of addresses; default: from the file's name."},
        "title": {"type": "string", "maxLength": 200},
        "labels": {"type": "string", "description": "Names of the classes, one on each line."},
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
                    "type": "object", "required": ["models", "bundles"],
                    "properties": {
                        "models": {"type": "array", "items": of("Model")}, "bundles": {"type": "array", "items": of("Bundle")},
                    },
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
                    "400": answer("The request is not JSON or does not fit the model.", of("Error")),
                    "404": missing,
                    "413": answer("The request or the batch is too large.", of("Error")),
                    "415": answer("The request is not application/json.", of("Error")),
                    "422": answer("The model does not compute with these inputs, or not within the server's bounds.", of("Error")),
                    "500": answer("The model is saved wrongly.", of("Error")),
                    "503": answer("Too many uploaded models are asked at once.", of("Error")),
                },
            }},
            "/api/uploads": {"post": {
                "operationId": "upload", "summary": "Add a program to the gallery, where the operator allows it",
                "description": "Only from pages of this server, or with its token (Authorization: Bearer ...) from programs.",
                "parameters": [{
                    "name": "X-Wherry-Upload", "in": "header", "required": True, "schema": {"const": "1"},
                    "description": "Forms of other sites cannot send it.",
                }],
                "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": UPLOAD}}},
                "responses": {
                    "201": {
                        **answer("It was checked and can be asked.", of("Model")),
                        "headers": {"Location": {"schema": {"type": "string"}, "description": "The model's address."}},
                    },
                    "400": answer("A field is missing or wrong.", of("Error")),
                    "401": answer("The server's token is missing or wrong.", of("Error")),
                    "403": answer("The request comes from another site.", of("Error")),
                    "404": answer("Uploads are off.", of("Error")),
                    "409": answer("There is a model of this name.", of("Error")),
                    "413": answer("The files are too large.", of("Error")),
                    "415": answer("The request is not multipart/form-data.", of("Error")),
                    "422": answer("The files are not a model that runs here.", of("Error")),
                    "503": answer("Too many uploads are checked at once.", of("Error")),
                    "507": answer("The folder for uploads is full.", of("Error")),
                },
            }},
        },
        "components": {"schemas": {
            "Model": MODEL, "Bundle": BUNDLE, "PredictionRequest": PREDICTION_REQUEST, "Prediction": PREDICTION, "Error": ERROR,
        }},
    }
